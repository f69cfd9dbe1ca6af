"""Rows of RTF as one table: columns are the right edges that its rows name, cells span the edges between."""

from bisect import bisect_right
from typing import NamedTuple

from msgspec.structs import replace

from upwell.records import Cell, Table

SAME_EDGE_TWIPS = 40  # two points: hands and programs place the same edge a little apart


class CellEdge(NamedTuple):
    """A cell as its row defines it: right edge in twips, and how it is merged (`first`, `more` or None)."""

    right: int
    across: str | None = None
    down: str | None = None

    def merged(self, way: str, which: str) -> "CellEdge":
        return self._replace(across=which) if way == "across" else self._replace(down=which)


class Row(NamedTuple):
    """The words of a row's cells, its edges, and whether it repeats as a header on each page."""

    cells: tuple[str, ...]
    edges: tuple[CellEdge, ...]
    header: bool


def rtf_table(rows: list[Row]) -> Table:
    """The grid of `rows`; without a marked header the first row is it."""
    columns = _columns(rows)
    header_rows = next((i for i, row in enumerate(rows) if not row.header), len(rows)) or 1
    cells: list[Cell] = []
    above: dict[int, int] = {}
    for r, row in enumerate(rows):
        at = 0
        for c, text in enumerate(row.cells):
            edge = row.edges[c] if c < len(row.edges) else None
            col = at
            at = max(at + 1, bisect_right(columns, edge.right)) if edge else at + 1
            if edge and edge.across == "more" and cells and cells[-1].row == r:
                cells[-1] = _wider(cells[-1], at, text)
            elif edge and edge.down == "more" and col in above:
                over = cells[above[col]]
                cells[above[col]] = replace(_wider(over, at, text), row_span=r - over.row + 1)
            else:
                above[col] = len(cells)
                cells.append(Cell(row=r, col=col, text=text, col_span=at - col, header=r < header_rows))
    cols = max((cell.col + cell.col_span for cell in cells), default=0)
    return Table(rows=len(rows), cols=cols, cells=tuple(cells))


def _columns(rows: list[Row]) -> list[int]:
    columns: list[int] = []
    for right in sorted({edge.right for row in rows for edge in row.edges}):
        if not columns or right - columns[-1] > SAME_EDGE_TWIPS:
            columns.append(right)
    return columns


def _wider(cell: Cell, end: int, text: str) -> Cell:
    return replace(cell, col_span=max(cell.col_span, end - cell.col), text=" ".join(t for t in (cell.text, text) if t))
