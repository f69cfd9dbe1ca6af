"""A PDF as blocks with page and box, its attached files as children."""

from collections.abc import Callable, Sequence

from msgspec.structs import replace

from upwell.parse.failures import corrupt
from upwell.parse.limits import Limits
from upwell.parse.outline import Outline
from upwell.parse.pdf.continuing import run_on
from upwell.parse.pdf.file import PdfFile
from upwell.parse.pdf.furniture import page_furniture, repeated_pictures
from upwell.parse.pdf.headings import mark_headings, sound_title
from upwell.parse.pdf.items import page_items
from upwell.parse.pdf.kinds import Item, code_text, is_bullet, read_as, without_bullet
from upwell.parse.pdf.lists import nest
from upwell.parse.pdf.page import Page, read_pages
from upwell.parse.pdf.tables.across import joined_tables
from upwell.records import Kind, ParsedDocument, ParseStatus

PARSER = "pdf/2"
MOSTLY = 0.5
NEEDS_OCR = "the text needs OCR (extra upwell[ocr])"
ParseChild = Callable[[bytes, str, str | None], ParsedDocument]


def parse_pdf(data: bytes, limits: Limits, parse_child: ParseChild) -> ParsedDocument:
    """Blocks in reading order. Pages that are only pictures end as `needs_ocr`. Raises Unparsable."""
    with PdfFile(data, limits) as file:
        attached = file.attached(limits)
        pages = list(read_pages(file, limits))
        bookmarks, named = file.bookmarks(), file.metadata_title()
        if file.count and not pages:
            raise corrupt("no page of the PDF can be read")
        if not file.whole and not any(page.pieces for page in pages):
            raise corrupt("the PDF ends before its end, and no text is left in it")
        unread = tuple(file.unread)
    children = tuple(replace(parse_child(content, name, None), name=name) for name, content in attached)
    pictured = [page.number for page in pages if is_picture(page)]
    pages = [replace(page, pieces=()) if is_picture(page) else page for page in pages]
    parsed = ParsedDocument(status=ParseStatus.OK, pages=len(pages) + len(unread), parser=PARSER, children=children)
    if not any(page.pieces for page in pages) and not children:
        scanned = bool(pictured)
        status = ParseStatus.NEEDS_OCR if scanned else ParseStatus.EMPTY
        return replace(
            parsed, status=status, reason=f"its pages are pictures: {NEEDS_OCR}" if scanned else "no text in it"
        )
    furniture = page_furniture(pages)
    reading = read_as([p for page in pages for i, p in enumerate(page.pieces) if i not in furniture[page.number]])
    logos = repeated_pictures(pages)
    items = [item for page in pages for item in page_items(page, furniture[page.number], logos, reading)]
    mark_headings(items, reading, bookmarks, named)
    items = nest(run_on(joined_tables(items), reading.vocabulary))
    outline = Outline(limits.characters)
    _emit(items, pages, furniture, outline)
    return replace(
        parsed,
        blocks=tuple(outline.blocks),
        title=_title(outline, named),
        reason=_missing(pictured, unread),
    )


def is_picture(page: Page) -> bool:
    """Whether a page has to be looked at to be read: no text but a picture, or letters of no known meaning."""
    if page.characters < 3:
        return bool(page.pictures)
    return page.unknown > MOSTLY * sum(len(piece.text.replace(" ", "")) for piece in page.pieces)


def _missing(pictured: Sequence[int], unread: Sequence[int]) -> str | None:
    """What of a document that was read is not in its blocks, in a line."""
    notes = []
    if pictured:
        notes.append(f"pages that are pictures: {_listed(pictured)}; {NEEDS_OCR}")
    if unread:
        notes.append(f"pages that cannot be read: {_listed(unread)}")
    return "; ".join(notes) or None


def _listed(numbers: Sequence[int]) -> str:
    shown = ", ".join(str(n) for n in numbers[:20])
    return shown + (f" and {len(numbers) - 20} more" if len(numbers) > 20 else "")


def _title(outline: Outline, named: str) -> str | None:
    """The document's own title, else its first heading of the highest level, else what its properties say."""
    for block in outline.blocks:
        if block.kind is Kind.TITLE:
            return block.text
    return next((b.text for b in outline.blocks if b.kind is Kind.HEADING and b.level == 1), None) or sound_title(named)


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
            outline.add(Kind.PAGE_FURNITURE, piece.text, page=page.number, bbox=box, left_out="page_furniture")


def _add(item: Item, page: Page, outline: Outline) -> None:
    """One block; its box on the page as it shows."""
    box, text, links = page.on_paper(item.bbox), item.text, page.links_in(item.bbox)
    if item.table is not None:
        outline.table(item.table, page=page.number, bbox=box, links=links)
    elif item.kind is Kind.TITLE:
        outline.title(text, page=page.number, bbox=box)
    elif item.kind is Kind.HEADING:
        outline.heading(text, item.level or 1, page=page.number, bbox=box)
    else:
        if item.kind is Kind.CODE and item.paragraph is not None:
            text = code_text(item.paragraph)
        elif item.kind is Kind.LIST_ITEM and item.paragraph is not None and is_bullet(item.paragraph):
            text = without_bullet(text)
        outline.add(item.kind, text, level=item.level, page=page.number, bbox=box, links=links)
