"""A table of an OpenDocument text as a grid: header rows, spans, repeated rows and cells."""

from collections.abc import Callable, Iterator
from typing import Any

from msgspec.structs import replace

from upwell.parse.failures import too_large
from upwell.parse.limits import Limits
from upwell.parse.office.package import attribute, local
from upwell.records import Cell, Table

MOST_REPEATS = 100
MOST_CELLS = 500_000


def odf_table(element: Any, words: Callable[[Any], str], limits: Limits) -> Table:
    """The grid; without rows marked as header the first row is it."""
    rows = list(_rows(element, header=False, left=limits.nesting))
    marked = any(header for _, header in rows)
    cells: list[Cell] = []
    row = cols = 0
    for tr, marked_row in rows:
        header = marked_row if marked else row == 0 and len(rows) > 1
        col = 0
        for td in tr:
            tag = local(td)
            if tag not in {"table-cell", "covered-table-cell"}:
                continue
            repeats = min(number(td, "number-columns-repeated"), MOST_REPEATS)
            if tag == "table-cell":
                cell = _cell(td, " ".join(words(td).split()), row=row, header=header)
                cells.extend(replace(cell, col=at) for at in range(col, col + repeats))
            col += repeats
        if len(cells) > MOST_CELLS:
            raise too_large(f"a table of over {MOST_CELLS} cells")
        cols = max(cols, col)
        row += 1
    return Table(rows=row, cols=cols, cells=tuple(cells))


def _cell(td: Any, text: str, *, row: int, header: bool) -> Cell:
    return Cell(
        row=row,
        col=0,
        text=text,
        row_span=min(number(td, "number-rows-spanned"), MOST_REPEATS),
        col_span=min(number(td, "number-columns-spanned"), MOST_REPEATS),
        header=header,
    )


def _rows(element: Any, *, header: bool, left: int) -> Iterator[tuple[Any, bool]]:
    if left < 0:
        raise too_large("nested too deeply")
    for child in element:
        tag = local(child)
        if tag == "table-row":
            yield child, header
        elif tag in {"table-header-rows", "table-rows", "table-row-group"}:
            yield from _rows(child, header=header or tag == "table-header-rows", left=left - 1)


def number(element: Any, name: str) -> int:
    """A count in an attribute, at least 1, and 1 for what is no number."""
    text = attribute(element, name) or ""
    return max(1, min(int(text), 1_100_000)) if text.isdecimal() and len(text) < 10 else 1
