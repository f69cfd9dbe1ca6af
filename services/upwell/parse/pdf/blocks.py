"""Pages as blocks: furniture, items in reading order, headings, joins, each block with page and box."""

from collections.abc import Sequence
from itertools import zip_longest

from upwell.parse.outline import Outline
from upwell.parse.pdf.contents import is_entry
from upwell.parse.pdf.continuing import run_on
from upwell.parse.pdf.file import Bookmark
from upwell.parse.pdf.furniture import page_furniture, repeated_pictures
from upwell.parse.pdf.headings import mark_headings, sound_title
from upwell.parse.pdf.items import page_items
from upwell.parse.pdf.kinds import Item, code_text, is_bullet, read_as, without_bullet
from upwell.parse.pdf.layout import Look
from upwell.parse.pdf.lists import nest
from upwell.parse.pdf.page import Page
from upwell.parse.pdf.tables.across import joined_tables
from upwell.parse.pdf.tables.margins import without_rows
from upwell.records import Kind


def add_pages(
    pages: Sequence[Page], bookmarks: Sequence[Bookmark], named: str, outline: Outline, look: Look | None = None
) -> str | None:
    """Add the blocks of all pages to the outline; returns the title. `named` is that of the file's properties.

    `look` is asked what a page looks like where its words leave a doubt.
    """
    furniture = without_rows(pages, page_furniture(pages))
    reading = read_as([p for page in pages for i, p in enumerate(page.pieces) if i not in furniture[page.number]])
    logos = repeated_pictures(pages)
    items = [item for page in pages for item in page_items(page, furniture[page.number], logos, reading, look)]
    mark_headings(items, reading, bookmarks, named)
    items = nest(run_on(joined_tables(items), reading.vocabulary))
    _emit(items, pages, furniture, outline)
    return _title(outline, named)


def _title(outline: Outline, named: str) -> str | None:
    """The document's own title, else its first heading of the highest level, else what its properties say.

    What heads a table of contents is none.
    """
    for block in outline.blocks:
        if block.kind is Kind.TITLE:
            return block.text
    headings = (
        block.text
        for block, after in zip_longest(outline.blocks, outline.blocks[1:])
        if block.kind is Kind.HEADING and block.level == 1 and not (after is not None and is_entry(after.text))
    )
    return next(headings, None) or sound_title(named)


def _emit(items: Sequence[Item], pages: Sequence[Page], furniture: dict[int, frozenset[int]], outline: Outline) -> None:
    by_page: dict[int, list[Item]] = {}
    for item in items:
        by_page.setdefault(item.page, []).append(item)
    for page in pages:
        for item in by_page.get(page.number, ()):
            _add(item, page, outline)
        for i in sorted(furniture[page.number]):
            piece = page.pieces[i]
            box = page.on_paper(piece.bbox)
            outline.add(
                Kind.PAGE_FURNITURE,
                piece.text,
                page=page.number,
                bbox=box,
                left_out="page_furniture",
                confidence=piece.confidence,
            )


def _add(item: Item, page: Page, outline: Outline) -> None:
    """One block; its box on the page as it shows."""
    box, text, links = page.on_paper(item.bbox), item.text, page.links_in(item.bbox)
    if item.table is not None:
        outline.table(item.table, page=page.number, bbox=box, links=links)
    elif item.kind is Kind.TITLE:
        outline.title(text, page=page.number, bbox=box, confidence=item.confidence)
    elif item.kind is Kind.HEADING:
        outline.heading(text, item.level or 1, page=page.number, bbox=box, confidence=item.confidence)
    else:
        if item.kind is Kind.CODE and item.paragraph is not None:
            text = code_text(item.paragraph)
        elif item.kind is Kind.LIST_ITEM and item.paragraph is not None and is_bullet(item.paragraph):
            text = without_bullet(text)
        outline.add(
            item.kind, text, level=item.level, page=page.number, bbox=box, links=links, confidence=item.confidence
        )
