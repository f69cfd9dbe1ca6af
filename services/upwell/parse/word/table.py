"""A table of WordprocessingML as a grid: spans across and down, header rows, cells before and after a row."""

from collections.abc import Callable, Iterator
from typing import Any

from msgspec.structs import replace

from upwell.parse.failures import too_large
from upwell.parse.office.package import local
from upwell.parse.word.styles import switch, value
from upwell.records import Cell, Table

WRAPPERS = frozenset({"sdt", "sdtContent", "customXml", "ins", "moveTo", "smartTag"})
MOST_CELLS = 500_000
MOST_SPAN = 100


def word_table(element: Any, words: Callable[[Any], str], nesting: int) -> Table:
    """The grid; `words` gives a cell's text. Without rows marked as header the first row is it."""
    rows = list(_within(element, "tr", nesting))
    headers = next((i for i, row in enumerate(rows) if not switch(row.find("{*}trPr"), "tblHeader")), len(rows))
    headers = headers or (1 if len(rows) > 1 else 0)
    cells: list[Cell] = []
    above: dict[int, int] = {}
    cols = 0
    for r, row in enumerate(rows):
        col = _count(row.find("{*}trPr"), "gridBefore", least=0)
        for tc in _within(row, "tc", nesting):
            properties = tc.find("{*}tcPr")
            span = _count(properties, "gridSpan", least=1)
            merge = None if properties is None else properties.find("{*}vMerge")
            text = " ".join(words(tc).split())
            if merge is not None and value(properties, "vMerge") != "restart" and col in above:
                over = cells[above[col]]
                joined = f"{over.text} {text}".strip()
                cells[above[col]] = replace(over, row_span=r - over.row + 1, text=joined)
            else:
                above[col] = len(cells)
                cells.append(Cell(row=r, col=col, text=text, col_span=span, header=r < headers))
            col += span
        cols = max(cols, col)
        if len(cells) > MOST_CELLS:
            raise too_large(f"a table of over {MOST_CELLS} cells")
    return Table(rows=len(rows), cols=cols, cells=tuple(cells))


def _within(parent: Any, name: str, left: int) -> Iterator[Any]:
    if left < 0:
        raise too_large("nested too deeply")
    for child in parent:
        tag = local(child)
        if tag == name:
            yield child
        elif tag in WRAPPERS:
            yield from _within(child, name, left - 1)


def _count(properties: Any, name: str, *, least: int) -> int:
    text = value(properties, name) or ""
    return max(least, min(int(text), MOST_SPAN)) if text.isdecimal() and len(text) < 6 else least


def only_cell(element: Any, nesting: int) -> Any:
    """The cell of a table that has but one, which is a box and no table; None for others."""
    found = None
    for row in _within(element, "tr", nesting):
        for cell in _within(row, "tc", nesting):
            if found is not None:
                return None
            found = cell
    return found
