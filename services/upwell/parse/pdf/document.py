"""A PDF as blocks with page and box, its attached files as children."""

from collections.abc import Callable

from msgspec.structs import replace

from upwell.parse.limits import Limits
from upwell.parse.outline import Outline
from upwell.parse.pdf.file import PdfFile
from upwell.parse.pdf.frame import BBox
from upwell.parse.pdf.furniture import page_furniture
from upwell.parse.pdf.order import reading_order
from upwell.parse.pdf.page import Page, Piece, read_pages
from upwell.parse.pdf.paragraphs import Sizes, add_paragraph, measure_sizes, paragraphs
from upwell.parse.pdf.tables import FoundTable, find_tables
from upwell.records import Kind, ParsedDocument, ParseStatus, Record

PARSER = "pdf/2"
ParseChild = Callable[[bytes, str, str | None], ParsedDocument]


class Picture(Record, frozen=True, kw_only=True):
    bbox: BBox


def parse_pdf(data: bytes, limits: Limits, parse_child: ParseChild) -> ParsedDocument:
    """Blocks in reading order. Pages that are only pictures end as `needs_ocr`. Raises Unparsable."""
    with PdfFile(data, limits) as file:
        attached = file.attached(limits)
        pages = list(read_pages(file, limits))
    if not any(page.pieces for page in pages):
        scanned = any(page.pictures for page in pages)
        return ParsedDocument(
            status=ParseStatus.NEEDS_OCR if scanned else ParseStatus.EMPTY,
            reason="its pages are pictures: the text needs OCR (extra upwell[ocr])" if scanned else "no text in it",
            pages=len(pages),
            parser=PARSER,
        )
    outline = Outline(limits.characters)
    furniture = page_furniture(pages)
    sizes = measure_sizes([piece for page in pages for piece in page.pieces])
    for page in pages:
        _add_page(page, furniture[page.number], sizes, outline)
    title = next((b.text for b in outline.blocks if b.kind is Kind.TITLE), None)
    return ParsedDocument(
        status=ParseStatus.OK,
        blocks=tuple(outline.blocks),
        title=title or next((b.text for b in outline.blocks if b.kind is Kind.HEADING and b.level == 1), None),
        pages=len(pages),
        parser=PARSER,
        children=tuple(replace(parse_child(content, name, None), name=name) for name, content in attached),
    )


def _add_page(page: Page, furniture: frozenset[int], sizes: Sizes, outline: Outline) -> None:
    body = replace(page, pieces=tuple(p for i, p in enumerate(page.pieces) if i not in furniture))
    tables = find_tables(body)
    taken = frozenset().union(*(table.pieces for table in tables))
    things: list[Piece | FoundTable | Picture] = [p for i, p in enumerate(body.pieces) if i not in taken]
    things.extend(tables)
    things.extend(Picture(bbox=box) for box in page.pictures)
    run: list[Piece] = []
    for thing in [*reading_order(things), None]:
        if isinstance(thing, Piece):
            run.append(thing)
            continue
        for paragraph in paragraphs(run, page.number):
            add_paragraph(paragraph, sizes, page, outline)
        run = []
        if isinstance(thing, FoundTable):
            outline.table(thing.table, page=page.number, bbox=thing.bbox)
        elif thing is not None:
            outline.add(Kind.FIGURE, "", page=page.number, bbox=thing.bbox)
    _add_furniture(page, furniture, outline)


def _add_furniture(page: Page, furniture: frozenset[int], outline: Outline) -> None:
    for i in sorted(furniture):
        piece = page.pieces[i]
        outline.add(Kind.PAGE_FURNITURE, piece.text, page=page.number, bbox=piece.bbox, left_out="page_furniture")
