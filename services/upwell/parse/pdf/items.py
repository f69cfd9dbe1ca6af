"""A page's things in reading order: paragraphs, tables and figures, captions beside what they are of."""

import msgspec
from msgspec.structs import replace

from upwell.parse.pdf.captions import bind, drawn_figures, is_caption
from upwell.parse.pdf.contents import with_page_numbers
from upwell.parse.pdf.frame import BBox
from upwell.parse.pdf.kinds import Item, Reading, plain_kind
from upwell.parse.pdf.layout import Look
from upwell.parse.pdf.lines import right_to_left
from upwell.parse.pdf.order import Region, column, reading_order, regions, rows_of
from upwell.parse.pdf.page import Page, Piece
from upwell.parse.pdf.paragraphs import Paragraph, joined, paragraphs
from upwell.parse.pdf.tables import FoundTable, find_tables
from upwell.records import Kind

COVERS = 0.85


class _Figure(msgspec.Struct):
    bbox: BBox
    text: str = ""


Thing = Region | FoundTable | _Figure


def page_items(
    page: Page, furniture: frozenset[int], repeated: frozenset[BBox], reading: Reading, look: Look | None = None
) -> list[Item]:
    """All of a page but its furniture. `repeated` pictures (a logo on each page) are no figures."""
    body = replace(page, pieces=tuple(p for i, p in enumerate(page.pieces) if i not in furniture))
    tables = find_tables(body, look)
    taken = frozenset().union(*(table.pieces for table in tables))
    pieces = [p for i, p in enumerate(body.pieces) if i not in taken]
    figures = [_Figure(bbox=box) for box in page.pictures if box not in repeated and not _covers(page, box)]
    figures, pieces = _with_drawn(page, figures, pieces, [table.bbox for table in tables])
    upright = with_page_numbers([p for p in pieces if p.upright])
    texts = regions(upright)
    things: list[Thing] = [*texts, *tables, *figures]
    things.extend(Region(pieces=[p], bbox=p.bbox) for p in pieces if not p.upright)
    page_left = _runs_left(upright)
    leftwards = [
        _runs_left(thing.pieces) if isinstance(thing, Region) and not page_left else page_left for thing in things
    ]
    order = reading_order([thing.bbox for thing in things], leftwards)
    items: list[Item] = []
    for position in order:
        thing = things[position]
        within = column(thing, texts) if isinstance(thing, Region) else (0.0, page.width)
        items.extend(_items_of(thing, page, within, reading))
    return bind(items)


def _items_of(thing: Thing, page: Page, within: tuple[float, float], reading: Reading) -> list[Item]:
    if isinstance(thing, FoundTable):
        return [Item(kind=Kind.TABLE, page=page.number, bbox=thing.bbox, table=thing.table)]
    if isinstance(thing, _Figure):
        return [Item(kind=Kind.FIGURE, page=page.number, bbox=thing.bbox, text=thing.text)]
    parts = rows_of(thing.pieces) if thing.by_row else [thing.pieces]
    found = [paragraph for part in parts for paragraph in paragraphs(part, page.number, within, code=reading.code)]
    return [_item(paragraph, page, reading) for paragraph in found]


def _item(paragraph: Paragraph, page: Page, reading: Reading) -> Item:
    text = joined([piece.text for piece in paragraph.pieces], reading.vocabulary)
    kind = Kind.CAPTION if is_caption(text) else plain_kind(paragraph, text, page, reading)
    return Item(
        kind=kind, page=page.number, bbox=paragraph.bbox, text=text, paragraph=paragraph, confidence=_sure(paragraph)
    )


def _sure(paragraph: Paragraph) -> float | None:
    """How sure OCR is of a paragraph's letters, on average; None where they were written as text."""
    read = [(piece.confidence, len(piece.text)) for piece in paragraph.pieces if piece.confidence is not None]
    if not read:
        return None
    return round(sum(sure * length for sure, length in read) / max(1, sum(length for _, length in read)), 3)


def _covers(page: Page, box: BBox) -> bool:
    """Whether a picture lies under the whole page, as paper does."""
    share = (box[2] - box[0]) * (box[3] - box[1]) / max(1.0, page.width * page.height)
    return share > COVERS and bool(page.pieces)


def _with_drawn(
    page: Page, figures: list[_Figure], pieces: list[Piece], tables: list[BBox]
) -> tuple[list[_Figure], list[Piece]]:
    """Diagrams that are drawn rather than pictures, where a caption says so; their labels are theirs."""
    found = drawn_figures(page, pieces, [*tables, *(figure.bbox for figure in figures)])
    figures = list(figures)
    for box, inside in found:
        ordered = sorted((pieces[i] for i in inside), key=lambda p: (p.bbox[1], p.bbox[0]))
        figures.append(_Figure(bbox=box, text="\n".join(p.text for p in ordered)))
    gone = frozenset(i for _, inside in found for i in inside)
    return figures, [p for i, p in enumerate(pieces) if i not in gone]


def _runs_left(pieces: list[Piece]) -> bool:
    """Whether most lines are of a script that runs from right to left."""
    letters = sum(len(p.text) for p in pieces)
    left = sum(sum(right_to_left(c) for c in p.text) for p in pieces)
    return left > 0.4 * letters
