"""HTML tables as grids: row and column spans placed as browsers place them; and which tables are but layout."""

from collections.abc import Callable, Iterator
from typing import Any

from upwell.records import Cell, Table

MOST_SPAN = 1000
MOST_CELLS = 200_000
MOST_NESTED = 200
LAYOUT_ROLES = frozenset({"presentation", "none"})
CODE_TABLES = frozenset({"highlighttable", "rouge-table", "syntaxhighlighter"})
LONG_CELL = 600
BOLD = frozenset({"b", "strong"})


def is_data_table(element: Any) -> bool:
    """Whether a table holds data: not declared as layout, with cells side by side, and no page inside one."""
    if (element.get("role") or "").lower() in LAYOUT_ROLES:
        return False
    if CODE_TABLES.intersection((element.get("class") or "").split()):
        return False
    rows = [cells for cells in map(_cells, _rows(element)) if cells]
    widest = max(map(len, rows), default=0)
    if any(cell.tag == "th" for row in rows for cell in row) or element.find("caption") is not None:
        return len(rows) > 1 or widest > 1
    if len(rows) < 2 or widest < 2:
        return False
    cells = [cell for row in rows for cell in row]
    if any(next(cell.iter("h1", "form", "article"), None) is not None for cell in cells):
        return False
    holding = sum(next(cell.iter("table", "h2", "h3"), None) is not None for cell in cells)
    return holding * 3 <= len(cells) and not _has_a_page(cells)


def _has_a_page(cells: list[Any]) -> bool:
    """Whether one cell has most of the words, in paragraphs: a column of the page, not a value."""
    lengths = [sum(map(len, cell.itertext())) for cell in cells]
    longest = max(range(len(cells)), key=lengths.__getitem__)
    if lengths[longest] < LONG_CELL or lengths[longest] * 2 < sum(lengths):
        return False
    return len(cells[longest].findall(".//p")) + len(cells[longest].findall(".//li")) > 1


def nested_tables(element: Any) -> list[Any]:
    """The data tables directly inside the cells of this one: read as tables of their own."""
    found: list[Any] = []
    stack = list(reversed(element))
    while stack and len(found) < MOST_NESTED:
        child = stack.pop()
        if child.tag == "table" and is_data_table(child):
            found.append(child)
        else:
            stack.extend(reversed(child))
    return found


def table_of(element: Any, words_of: Callable[[Any], str]) -> Table:
    """The table's grid; spans are cut at the table's end. The header is the head's rows, or those above of `th` alone,
    or a first row that alone is bold.
    """
    taken: set[tuple[int, int]] = set()
    cells: list[Cell] = []
    rows = list(_rows(element))
    head = _header_rows(rows)
    cols = 0
    for r, row in enumerate(rows):
        c = 0
        for cell in _cells(row):
            while (r, c) in taken:
                c += 1
            row_span = min(_span(cell, "rowspan") or len(rows) - r, len(rows) - r)
            col_span = min(_span(cell, "colspan") or 1, MOST_SPAN)
            if len(taken) + row_span * col_span <= MOST_CELLS:
                taken.update((r + i, c + k) for i in range(row_span) for k in range(col_span))
            header = r < head or cell.tag == "th"
            cells.append(Cell(row=r, col=c, text=words_of(cell), row_span=row_span, col_span=col_span, header=header))
            c += col_span
            cols = max(cols, c)
    return Table(rows=len(rows), cols=cols, cells=tuple(cells))


def _header_rows(rows: list[Any]) -> int:
    count = 0
    for row in rows:
        cells = _cells(row)
        if row.getparent().tag != "thead" and not (cells and all(cell.tag == "th" for cell in cells)):
            break
        count += 1
    if count or len(rows) < 2 or any(cell.tag == "th" for cell in _cells(rows[0])):
        return count
    return 1 if _is_bold(rows[0]) and not _is_bold(rows[1]) else 0


def _is_bold(row: Any) -> bool:
    cells = [cell for cell in _cells(row) if "".join(cell.itertext()).strip()]
    return bool(cells) and all(_only_child(cell) in BOLD for cell in cells)


def _only_child(cell: Any) -> str:
    """The tag around all the words of a cell, through paragraphs."""
    while len(cell) == 1 and not (cell.text or "").strip() and not (cell[0].tail or "").strip():
        cell = cell[0]
        if cell.tag in BOLD:
            break
    return str(cell.tag)


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
