"""The second parser, where the extra `formats` is installed: unstructured's elements as our blocks.

Its import alone takes seconds and asks a server whether it may start, so it is told not to first, and it is only
imported where another reading is in doubt (see `arbitrate`). Its model of sentences comes from a package alone.
"""

import importlib
import importlib.util
import io
import logging
import os
from functools import cache
from typing import Any

from upwell.parse import media
from upwell.parse.archive.bounds import check_zip
from upwell.parse.failures import corrupt, too_large
from upwell.parse.html.table import table_of
from upwell.parse.limits import Limits
from upwell.parse.outline import Outline
from upwell.records import Kind, ParsedDocument, ParseStatus

PARSER = "unstructured/1"
PARTITIONERS = {
    media.DOCX: "docx", media.PPTX: "pptx", media.HTML: "html", media.MARKDOWN: "md", media.PLAIN: "text",
    media.EML: "email", media.MSG: "msg",
}  # fmt: skip
"""Not workbooks: it walks each cell of what a sheet says of its size, a million rows where a few hold something."""
ZIPPED = frozenset({media.DOCX, media.PPTX})
QUIET = {"DO_NOT_TRACK": "true", "SCARF_NO_ANALYTICS": "true", "UNSTRUCTURED_DISABLE_NOTICE": "1"}
KINDS = {
    "ListItem": Kind.LIST_ITEM,
    "CodeSnippet": Kind.CODE,
    "Formula": Kind.FORMULA,
    "FigureCaption": Kind.CAPTION,
    "Image": Kind.FIGURE,
    "Header": Kind.PAGE_FURNITURE,
    "Footer": Kind.PAGE_FURNITURE,
    "PageNumber": Kind.PAGE_FURNITURE,
}


@cache
def installed() -> bool:
    """Whether the extra is there, without importing it."""
    return importlib.util.find_spec("unstructured") is not None


def parse_unstructured(data: bytes, media_type: str, limits: Limits) -> ParsedDocument:
    """Blocks by unstructured. Raises Unparsable for whatever its parts raise."""
    if media_type in ZIPPED:
        check_zip(data, limits)
    try:
        elements = _partitioner(PARTITIONERS[media_type])(file=io.BytesIO(data), languages=[""])
    except MemoryError:
        raise
    except RecursionError as e:
        raise too_large("nested too deeply") from e
    except (Exception, SystemExit) as e:  # the edge to a parser of hostile files; its loader of models exits
        raise corrupt(f"unstructured cannot read it: {' '.join(str(e).split())[:200]}") from e
    outline = Outline(limits.characters)
    for element in elements:
        _say(element, outline)
    title = next((b.text for b in outline.blocks if b.kind is Kind.HEADING), None)
    return ParsedDocument(status=ParseStatus.OK, blocks=tuple(outline.blocks), title=title, parser=PARSER)


@cache
def _partitioner(name: str) -> Any:
    os.environ.update(QUIET)
    logging.getLogger("unstructured").setLevel(logging.CRITICAL)
    tokenize = importlib.import_module("unstructured.nlp.tokenize")
    tokenize._get_nlp = cache(_blank_model)  # type: ignore[attr-defined]  # noqa: SLF001 - it has no setting
    module = importlib.import_module(f"unstructured.partition.{name}")
    return getattr(module, f"partition_{name}")


def _blank_model() -> Any:
    """Sentences by their marks alone. A trained model would be downloaded, tells prose from titles where we have other
    means, and takes half a gigabyte for a paragraph of 80 KB."""
    spacy = importlib.import_module("spacy")
    model = spacy.blank("en")
    model.add_pipe("sentencizer")
    return model


def _say(element: Any, outline: Outline) -> None:
    kind, text = type(element).__name__, str(element.text or "")
    depth = element.metadata.category_depth or 0
    page = element.metadata.page_number
    if kind == "Title":
        outline.heading(text, min(depth, 8) + 1, page=page)
    elif kind == "Table" and element.metadata.text_as_html:
        _table(element.metadata.text_as_html, text, outline, page)
    elif kind != "PageBreak":
        links = tuple(str(url) for url in element.metadata.link_urls or () if url)
        level = depth + 1 if kind == "ListItem" else None
        outline.add(KINDS.get(kind, Kind.PARAGRAPH), text, level=level, page=page, links=links)


def _table(markup: str, text: str, outline: Outline, page: int | None) -> None:
    from lxml import html  # type: ignore[import-untyped]  # noqa: PLC0415 - C libraries load only for a table

    root = html.fragment_fromstring(markup, create_parent=True)
    table = root.find(".//table")
    if table is None:
        outline.add(Kind.PARAGRAPH, text, page=page)
    else:
        outline.table(table_of(table, lambda cell: " ".join(" ".join(cell.itertext()).split())), page=page)
