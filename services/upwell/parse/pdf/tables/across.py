"""Tables that go on over a page or a column, whole again."""

from collections.abc import Sequence

from msgspec.structs import replace

from upwell.parse.pdf.kinds import Item
from upwell.parse.pdf.tables.likely import CONTINUED, numeric_columns
from upwell.parse.pdf.tables.words import is_number
from upwell.records import Cell, Kind, Table

STEPPED_OVER = frozenset({Kind.FOOTNOTE, Kind.PAGE_FURNITURE})
SAME_WIDTH_SHARE = 0.04
SAME_WIDTH_POINTS = 6.0
REPEATED_WIDTH_SHARE = 0.25
MOSTLY = 0.5
MOST_CELLS = 200_000


def joined_tables(items: Sequence[Item]) -> list[Item]:
    """Each table with what continues it at the top of the next page or column; it keeps its first page and box.

    It goes on where nothing but notes, or a caption that says so, stands between, and the columns are the same. A
    header that is repeated stands once.
    """
    done: list[Item] = []
    ends: dict[int, Item] = {}
    for item in items:
        at = _before(done) if item.kind is Kind.TABLE else None
        if at is None or item.table is None:
            done.append(item)
            continue
        start = done[at]
        last = ends.get(id(start), start)
        if not _elsewhere(last, item) or (whole := _joined(start, last, item)) is None:
            done.append(item)
            continue
        start.table = whole
        ends[id(start)] = item
    return done


def _before(done: Sequence[Item]) -> int | None:
    """Where the table stands that might go on here."""
    for at in range(len(done) - 1, -1, -1):
        item = done[at]
        if item.kind is Kind.TABLE:
            return at
        if item.kind not in STEPPED_OVER and not CONTINUED.search(item.text[:300]):
            return None
    return None


def _elsewhere(last: Item, item: Item) -> bool:
    """Whether it stands on the next page, or in the next column."""
    if item.page == last.page:
        return item.bbox[0] >= last.bbox[2] - 1 and item.bbox[1] < last.bbox[1]
    return item.page == last.page + 1


def _joined(start: Item, last: Item, item: Item) -> Table | None:
    first, second = start.table, item.table
    if first is None or second is None or first.cols != second.cols or len(first.cells) > MOST_CELLS:
        return None
    header = _header(first)
    repeated = bool(header) and _header(second)[: len(header)] == header
    width, other = last.bbox[2] - last.bbox[0], item.bbox[2] - item.bbox[0]
    share = REPEATED_WIDTH_SHARE if repeated else SAME_WIDTH_SHARE
    if abs(width - other) > max(SAME_WIDTH_POINTS, share * max(width, other)):
        return None
    if not repeated and not _goes_on(first, second):
        return None
    return _appended(first, second, len(header) if repeated else 0)


def _header(table: Table) -> list[dict[int, str]]:
    """The texts of the header's rows."""
    rows = max((c.row + 1 for c in table.cells if c.header), default=0)
    return [{c.col: " ".join(c.text.split()) for c in table.cells if c.row == r and c.text} for r in range(rows)]


def _goes_on(first: Table, second: Table) -> bool:
    """Whether the second's first row is one of the body: figures where the first has them."""
    top = {c.col: c.text for c in second.cells if c.row == 0 and c.text}
    numeric = numeric_columns(first)
    if not numeric:
        return bool(top)
    return sum(is_number(top.get(k, "-")) for k in numeric) > MOSTLY * len(numeric)


def _appended(first: Table, second: Table, skip: int) -> Table:
    rest = [c for c in second.cells if c.row >= skip]
    cells = list(first.cells)
    if _cut(first, rest, skip):
        tops = {c.col: c.text for c in rest if c.row == skip}
        cells = [
            replace(c, text=f"{c.text} {tops[c.col]}") if c.row == first.rows - 1 and tops.get(c.col) else c
            for c in cells
        ]
        rest = [c for c in rest if c.row > skip]
        skip += 1
    shift = first.rows - skip
    moved = [replace(c, row=c.row + shift, header=False) for c in rest]
    return Table(rows=shift + second.rows, cols=first.cols, cells=(*cells, *moved))


def _cut(first: Table, rest: Sequence[Cell], row: int) -> bool:
    """Whether the page's end went through a row: words without a first cell that go on in small letters."""
    top = [c for c in rest if c.row == row and c.text]
    last = {c.col for c in first.cells if c.row + c.row_span == first.rows and c.row_span == 1 and c.text}
    return bool(top) and all(c.col > 0 and c.row_span == 1 and c.col in last and c.text[0].islower() for c in top)
