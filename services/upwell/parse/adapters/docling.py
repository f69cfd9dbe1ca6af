"""Office files and the rarer markups through docling, whose imports take seconds: only when such a document comes."""

import io
import logging
import re
from collections.abc import Iterator
from functools import cache
from types import MappingProxyType
from typing import Any

from upwell.parse import media
from upwell.parse.archive.bounds import check_zip
from upwell.parse.failures import corrupt, too_large
from upwell.parse.limits import Limits
from upwell.parse.outline import Outline
from upwell.records import Cell, Kind, ParsedDocument, ParseStatus, Table

PARSER = "docling/3"
EXTENSIONS = MappingProxyType(
    {
        media.DOCX: "docx",
        media.PPTX: "pptx",
        media.XLSX: "xlsx",
        media.JATS: "nxml",
        media.LATEX: "tex",
        media.EPUB: "epub",
    }
)
ZIPPED = frozenset({media.DOCX, media.PPTX, media.XLSX, media.EPUB})
KINDS = MappingProxyType(
    {
        "list_item": Kind.LIST_ITEM,
        "code": Kind.CODE,
        "formula": Kind.FORMULA,
        "footnote": Kind.FOOTNOTE,
        "caption": Kind.CAPTION,
        "page_header": Kind.PAGE_FURNITURE,
        "page_footer": Kind.PAGE_FURNITURE,
        "checkbox_selected": Kind.LIST_ITEM,
        "checkbox_unselected": Kind.LIST_ITEM,
    }
)
CAPTION = re.compile(r"(?:figure|fig\.|table|listing|abbildung|tabelle)\s+\d+", re.IGNORECASE)


@cache
def _converter() -> Any:
    logging.getLogger("docling").setLevel(logging.CRITICAL)
    from docling.document_converter import DocumentConverter  # noqa: PLC0415 - seconds, and few documents need it

    return DocumentConverter()


def parse_docling(data: bytes, media_type: str, limits: Limits) -> ParsedDocument:
    """Blocks of a document that docling reads without models. Raises Unparsable."""
    if media_type in ZIPPED:
        check_zip(data, limits)
    converted = _convert(data, media_type, limits)
    outline = Outline(limits.characters)
    walker = _Walker(converted, outline)
    walker.walk()
    return ParsedDocument(
        status=ParseStatus.OK,
        blocks=tuple(outline.blocks),
        title=walker.title,
        pages=len(converted.pages) or None,
        parser=PARSER,
    )


def _convert(data: bytes, media_type: str, limits: Limits) -> Any:
    from docling.datamodel.base_models import ConversionStatus, DocumentStream  # noqa: PLC0415 - as above
    from docling.exceptions import ConversionError  # noqa: PLC0415

    stream = DocumentStream(name=f"document.{EXTENSIONS[media_type]}", stream=io.BytesIO(data))
    try:
        result = _converter().convert(stream, raises_on_error=False, max_file_size=limits.file_bytes)
    except MemoryError:
        raise
    except RecursionError as e:
        raise too_large("nested too deeply") from e
    except ConversionError as e:
        raise corrupt(_one_line(e)) from e
    except Exception as e:  # the edge to a parser of hostile files, which raises whatever its own parts raise
        raise corrupt(_one_line(e)) from e
    if result.status not in {ConversionStatus.SUCCESS, ConversionStatus.PARTIAL_SUCCESS}:
        raise corrupt(_one_line(result.errors[0].error_message if result.errors else "it cannot be read"))
    return result.document


def _one_line(error: object) -> str:
    return f"docling cannot read it: {' '.join(str(error).split())[:200]}"


class _Walker:
    """Docling's items in reading order, as our blocks."""

    def __init__(self, document: Any, outline: Outline) -> None:
        self.document, self.outline = document, outline
        self.title: str | None = None
        self.depth: list[int] = []
        self.captions: set[str] = set()
        self.seen_inline: set[str] = set()
        self.inline_links: list[str] = []
        self.after_figure = False

    def walk(self) -> None:
        for item, level in self._items():
            self.step(item, level)

    def _items(self) -> Iterator[tuple[Any, int]]:
        from docling_core.types.doc.common.content_layer import ContentLayer  # noqa: PLC0415 - as above

        layers = set(ContentLayer)
        yield from self.document.iterate_items(with_groups=True, traverse_pictures=True, included_content_layers=layers)

    def step(self, item: Any, level: int) -> None:
        if self._is_inside_inline(item):
            return
        while self.depth and self.depth[-1] >= level:
            self.depth.pop()
        label = str(getattr(item.label, "value", item.label))
        kind = type(item).__name__
        if kind == "ListGroup":
            self.depth.append(level)
        elif kind == "InlineGroup":
            self._add(Kind.LIST_ITEM if self._in_list(item) else Kind.PARAGRAPH, item, self._inline(item))
        elif label == "sheet":
            self._sheet(item)
        elif kind in {"TitleItem", "SectionHeaderItem"}:
            self._heading(item, kind)
        elif kind == "TableItem":
            self._table(item)
        elif kind == "PictureItem":
            self._picture(item)
        elif hasattr(item, "text"):
            self._text(item, label)

    def _sheet(self, item: Any) -> None:
        if self._layer(item) == "invisible":
            self.outline.add(Kind.PAGE_FURNITURE, item.name, left_out="hidden")
        else:
            self.outline.heading(item.name, 1)

    def _heading(self, item: Any, kind: str) -> None:
        if self._left_out(item):
            self._text(item, "text")
            return
        page, bbox = self._place(item)
        if kind == "SectionHeaderItem":
            self.outline.heading(item.text, item.level, page=page, bbox=bbox)
        elif self.title is None and not self.document.pages:
            self.outline.title(item.text)
        else:
            self.outline.heading(item.text, 1, page=page, bbox=bbox)
        self.title = self.title or " ".join(item.text.split()) or None

    def _text(self, item: Any, label: str) -> None:
        kind = KINDS.get(label, Kind.PARAGRAPH)
        if kind is Kind.PARAGRAPH and self.after_figure and CAPTION.match(item.text.strip()):
            kind = Kind.CAPTION
        text = item.text or (self._inline(item) if kind is Kind.LIST_ITEM else "")
        if text.strip():
            self.after_figure = False
        self._add(kind, item, text)

    def _add(self, kind: Kind, item: Any, text: str) -> None:
        left_out = self._left_out(item)
        page, bbox = self._place(item)
        links, self.inline_links = [*_link(item), *self.inline_links], []
        self.outline.add(
            Kind.PAGE_FURNITURE if left_out and kind is not Kind.FOOTNOTE else kind,
            text,
            level=max(len(self.depth), 1) if kind is Kind.LIST_ITEM else None,
            page=page,
            bbox=bbox,
            links=tuple(links),
            language=_code_language(item),
            left_out=left_out if kind is not Kind.FOOTNOTE else None,
        )

    def _table(self, item: Any) -> None:
        page, bbox = self._place(item)
        table = _table(item, self.document)
        left_out = self._left_out(item)
        if left_out:
            text = "\n".join(cell.text for cell in table.cells)
            self.outline.add(Kind.PAGE_FURNITURE, text, page=page, bbox=bbox, left_out=left_out)
            return
        self.outline.table(table, page=page, bbox=bbox)
        self.after_figure = True

    def _picture(self, item: Any) -> None:
        page, bbox = self._place(item)
        alt = str(getattr(getattr(item, "meta", None), "description", None) or "")
        self.outline.add(Kind.FIGURE, alt if len(alt) < 1000 else "", page=page, bbox=bbox)
        self.after_figure = True

    def _inline(self, item: Any) -> str:
        """The words of an inline group, its parts marked as read."""
        parts: list[str] = []
        for reference in item.children:
            child = reference.resolve(self.document)
            if type(child).__name__ in {"ListGroup", "TableItem", "PictureItem"}:
                continue
            self.seen_inline.add(child.self_ref)
            self.inline_links.extend(_link(child))
            text = getattr(child, "text", "") or (self._inline(child) if child.children else "")
            if parts and text and not parts[-1][-1].isspace() and not text[0].isspace() and text[0] not in ".,;:!?)":
                parts.append(" ")
            if text:
                parts.append(text)
        return "".join(parts)

    def _is_inside_inline(self, item: Any) -> bool:
        return item.self_ref in self.seen_inline

    def _in_list(self, item: Any) -> bool:
        parent = item.parent.resolve(self.document) if item.parent else None
        return type(parent).__name__ in {"ListGroup", "ListItem"}

    def _layer(self, item: Any) -> str:
        return str(getattr(item.content_layer, "value", item.content_layer))

    def _left_out(self, item: Any) -> str | None:
        layer = self._layer(item)
        return {"furniture": "page_furniture", "background": "page_furniture", "invisible": "hidden"}.get(layer)

    def _place(self, item: Any) -> tuple[int | None, tuple[float, float, float, float] | None]:
        prov = getattr(item, "prov", None)
        if not prov:
            return None, None
        page = self.document.pages.get(prov[0].page_no)
        if page is None or page.size is None or prov[0].bbox is None:
            return prov[0].page_no, None
        box = prov[0].bbox.to_top_left_origin(page.size.height)
        return prov[0].page_no, (box.l, box.t, box.r, box.b)


def _link(item: Any) -> list[str]:
    link = str(getattr(item, "hyperlink", None) or "")
    return [link] if link else []


def _code_language(item: Any) -> str | None:
    language = getattr(getattr(item, "code_language", None), "value", None)
    return language.lower() if isinstance(language, str) and language.lower() != "unknown" else None


def _cell_text(cell: Any, document: Any) -> str:
    # A rich cell's words are items of their own, which only this method gathers.
    gather = getattr(cell, "_get_text", None)
    return str((gather(doc=document) if gather else cell.text) or "")


def _table(item: Any, document: Any) -> Table:
    cells = tuple(
        Cell(
            row=cell.start_row_offset_idx,
            col=cell.start_col_offset_idx,
            text=" ".join(_cell_text(cell, document).split()),
            row_span=max(1, cell.row_span),
            col_span=max(1, cell.col_span),
            header=bool(cell.column_header),
        )
        for cell in item.data.table_cells
    )
    return Table(rows=item.data.num_rows, cols=item.data.num_cols, cells=cells)
