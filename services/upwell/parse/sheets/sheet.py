"""A sheet's cells as tables: what blank rows and columns part is apart, and each finds its own header rows."""

from collections.abc import Iterator

from msgspec.structs import replace

from upwell.records import Cell, Record, Table

MOST_HEADER_ROWS = 3
MOST_AREA = 300_000  # merged areas past this are not followed: a file of a few bytes can claim any


class SheetCell(Record, frozen=True, kw_only=True):
    """A cell as it is displayed. `number`: its value is a number or a date; `strong`: set in bold."""

    text: str
    number: bool = False
    strong: bool = False
    row_span: int = 1
    col_span: int = 1


Grid = dict[tuple[int, int], SheetCell]


def sheet_tables(grid: Grid) -> list[Table]:
    """The tables of a sheet in reading order. A cell alone is a table of one cell: its caller says it as a line."""
    grid = _bounded(grid)
    regions = sorted(_regions(grid), key=lambda box: (box[0], box[1]))
    return [_table(grid, cells) for _, _, cells in regions]


def _bounded(grid: Grid) -> Grid:
    """The cells with no more merged area than a sheet may claim."""
    left, bounded = MOST_AREA, dict(grid)
    for at, cell in grid.items():
        area = cell.row_span * cell.col_span
        if area > 1:
            if area > left:
                bounded[at] = replace(cell, row_span=1, col_span=1)
            else:
                left -= area
    return bounded


def _regions(grid: Grid) -> Iterator[tuple[int, int, list[tuple[int, int]]]]:
    """Groups of filled cells that touch, sides or corners; linear in the area filled."""
    owner: dict[tuple[int, int], tuple[int, int]] = {}
    for (row, col), cell in grid.items():
        for r in range(row, row + cell.row_span):
            for c in range(col, col + cell.col_span):
                owner[r, c] = (row, col)
    seen: set[tuple[int, int]] = set()
    for start in sorted(grid):
        if start in seen:
            continue
        seen.add(start)
        waiting, members = [start], []
        while waiting:
            at = waiting.pop()
            members.append(at)
            for near in _around(at, grid[at]):
                other = owner.get(near)
                if other is not None and other not in seen:
                    seen.add(other)
                    waiting.append(other)
        yield min(r for r, _ in members), min(c for _, c in members), sorted(members)


def _around(at: tuple[int, int], cell: SheetCell) -> Iterator[tuple[int, int]]:
    (row, col), bottom, right = at, at[0] + cell.row_span, at[1] + cell.col_span
    for c in range(col - 1, right + 1):
        yield row - 1, c
        yield bottom, c
    for r in range(row, bottom):
        yield r, col - 1
        yield r, right


def _table(grid: Grid, members: list[tuple[int, int]]) -> Table:
    top, left = min(r for r, _ in members), min(c for _, c in members)
    rows = max(r + grid[r, c].row_span for r, c in members) - top
    cols = max(c + grid[r, c].col_span for r, c in members) - left
    headers = header_rows({(r - top, c - left): grid[r, c] for r, c in members}, rows, cols)
    cells = tuple(
        Cell(
            row=r - top,
            col=c - left,
            text=grid[r, c].text,
            row_span=grid[r, c].row_span,
            col_span=grid[r, c].col_span,
            header=r - top < headers,
        )
        for r, c in members
    )
    return Table(rows=rows, cols=cols, cells=cells)


def header_rows(grid: Grid, rows: int, cols: int) -> int:
    """How many rows at the top name the columns: words over values, bold over plain, merged over single.

    A table of one row or column has none; one without any sign has one when its first row is words alone.
    """
    if rows < 2 or cols < 2:
        return 0
    by_row: list[list[SheetCell]] = [[] for _ in range(rows)]
    for (row, _), cell in grid.items():
        by_row[row].append(cell)
    count = 0
    while count < min(MOST_HEADER_ROWS, rows - 1) and _names(by_row[count], first=count == 0):
        spans = [cell.row_span for cell in by_row[count]]
        grouped = any(cell.col_span > 1 for cell in by_row[count]) or max(spans, default=1) > 1
        count += 1
        if not grouped:
            strong = all(cell.strong for cell in by_row[count - 1]) and all(c.strong for c in by_row[count])
            if not (strong and by_row[count]):
                break
    return count


def _names(cells: list[SheetCell], *, first: bool) -> bool:
    if not cells or any(cell.number for cell in cells if not _is_year(cell.text)):
        return False
    return first or all(not cell.number for cell in cells)


def _is_year(text: str) -> bool:
    return len(text) == 4 and text.isdecimal() and "1800" <= text <= "2199"
