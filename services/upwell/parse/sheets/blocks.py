"""A sheet of a workbook as blocks: its name as a heading, its tables, and what is hidden left out with the reason."""

from dataclasses import dataclass, field
from itertools import groupby

from upwell.parse.outline import Outline
from upwell.parse.sheets.sheet import Grid, SheetCell, sheet_tables
from upwell.records import Kind


@dataclass
class Sheet:
    """The cells of a sheet that are shown, and those of rows and columns that are hidden."""

    cells: Grid = field(default_factory=dict)
    hidden: Grid = field(default_factory=dict)


def say_sheet(
    outline: Outline, name: str, page: int, sheet: Sheet, *, hidden: bool, links: tuple[str, ...] = ()
) -> None:
    """Give a sheet to the outline; one that is hidden is furniture whole. `links` go with its first table."""
    if hidden:
        outline.add(Kind.PAGE_FURNITURE, name, page=page, left_out="hidden")
        _say_hidden(outline, {**sheet.cells, **sheet.hidden}, page)
        return
    outline.heading(name, 1, page=page)
    for table in sheet_tables(sheet.cells):
        if len(table.cells) == 1:
            outline.add(Kind.PARAGRAPH, " ".join(table.cells[0].text.split()), page=page)
        else:
            outline.table(table, page=page, links=links)
            links = ()
    _say_hidden(outline, sheet.hidden, page)


def _say_hidden(outline: Outline, cells: Grid, page: int) -> None:
    rows = groupby(sorted(cells.items(), key=_place), key=lambda item: item[0][0])
    lines = [" | ".join(cell.text for _, cell in row) for _, row in rows]
    if lines:
        outline.add(Kind.PAGE_FURNITURE, "\n".join(lines), page=page, left_out="hidden")


def _place(item: tuple[tuple[int, int], SheetCell]) -> tuple[int, int]:
    return item[0]
