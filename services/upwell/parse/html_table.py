"""HTML tables as grids: row and column spans placed as browsers place them."""

from collections.abc import Callable, Iterator
from typing import Any

from upwell.records import Cell, Table

MOST_SPAN = 1000
MOST_CELLS = 200_000
LAYOUT_ROLES = frozenset({"presentation", "none"})


def is_data_table(element: Any) -> bool:
    """Whether a table holds data: not declared as layout, and more than one cell, or header cells."""
    if (element.get("role") or "").lower() in LAYOUT_ROLES:
        return False
    rows = [cells for cells in (_cells(row) for row in _rows(element)) if cells]
    if any(cell.tag == "th" for row in rows for cell in row):
        return True
    if len(rows) < 2 or max(map(len, rows)) < 2:
        return False
    nested = sum(next(cell.iter("table", "h1", "h2", "form"), None) is not None for row in rows for cell in row)
    return nested * 3 <= sum(map(len, rows))


def table_of(element: Any, words_of: Callable[[Any], str]) -> Table:
    """The table's grid; spans are cut at the table's end."""
    taken: set[tuple[int, int]] = set()
    cells: list[Cell] = []
    rows = list(_rows(element))
    cols = 0
    for r, row in enumerate(rows):
        c = 0
        in_head = row.getparent().tag == "thead"
        for cell in _cells(row):
            while (r, c) in taken:
                c += 1
            row_span = min(_span(cell, "rowspan") or len(rows) - r, len(rows) - r)
            col_span = min(_span(cell, "colspan") or 1, MOST_SPAN)
            if len(taken) + row_span * col_span <= MOST_CELLS:
                taken.update((r + i, c + k) for i in range(row_span) for k in range(col_span))
            header = in_head or cell.tag == "th"
            cells.append(Cell(row=r, col=c, text=words_of(cell), row_span=row_span, col_span=col_span, header=header))
            c += col_span
            cols = max(cols, c)
    return Table(rows=len(rows), cols=cols, cells=tuple(cells))


def _rows(element: Any) -> Iterator[Any]:
    for child in element:
        if child.tag == "tr":
            yield child
        elif child.tag in {"thead", "tbody", "tfoot"}:
            yield from (row for row in child if row.tag == "tr")


def _cells(row: Any) -> list[Any]:
    return [cell for cell in row if cell.tag in {"td", "th"}]


def _span(cell: Any, name: str) -> int:
    try:
        return max(0, min(int(cell.get(name) or 1), MOST_SPAN))
    except ValueError:
        return 1
