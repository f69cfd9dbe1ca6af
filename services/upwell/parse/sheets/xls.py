"""Workbooks in the binary format of Excel 97 to 2003 (BIFF), through xlrd: the same sheets as of the newer format."""

import io
from typing import Any

from upwell.parse.failures import corrupt, encrypted, too_large
from upwell.parse.limits import Limits
from upwell.parse.outline import Outline
from upwell.parse.sheets.blocks import Sheet, say_sheet
from upwell.parse.sheets.book import MOST_CELLS
from upwell.parse.sheets.number_format import plain, shown
from upwell.parse.sheets.sheet import SheetCell
from upwell.records import ParsedDocument, ParseStatus

PARSER = "xls/2"
TEXT, NUMBER, DATE, BOOLEAN, ERROR = 1, 2, 3, 4, 5
ERRORS = {0: "#NULL!", 7: "#DIV/0!", 15: "#VALUE!", 23: "#REF!", 29: "#NAME?", 36: "#NUM!", 42: "#N/A"}
MOST_SPAN = 20_000


def parse_xls(data: bytes, limits: Limits) -> ParsedDocument:
    """A workbook; hidden sheets, rows and columns are left out with the reason. Raises Unparsable."""
    book = _opened(data)
    outline = Outline(limits.characters)
    left = MOST_CELLS
    for number, sheet in enumerate(book.sheets(), 1):
        left -= sheet.nrows * min(sheet.ncols, 256)
        if left < 0:
            raise too_large(f"a workbook of over {MOST_CELLS} cells")
        say_sheet(outline, sheet.name, number, _sheet(book, sheet), hidden=bool(sheet.visibility))
    return ParsedDocument(
        status=ParseStatus.OK, blocks=tuple(outline.blocks), pages=book.nsheets or None, parser=PARSER
    )


def _opened(data: bytes) -> Any:
    import xlrd  # type: ignore[import-untyped]  # noqa: PLC0415 - few documents need it

    try:
        return xlrd.open_workbook(file_contents=data, formatting_info=True, logfile=io.StringIO())
    except xlrd.XLRDError as e:
        if "encrypted" in str(e).lower():
            raise encrypted("the workbook is encrypted; its password is not known") from e
        raise corrupt(f"the workbook cannot be read: {' '.join(str(e).split())[:200]}") from e
    except (MemoryError, RecursionError):
        raise
    except Exception as e:  # the edge to a parser of hostile files, which raises whatever its own parts raise
        raise corrupt(f"the workbook cannot be read ({type(e).__name__})") from e


def _sheet(book: Any, sheet: Any) -> Sheet:
    read = Sheet()
    spans = {
        (top, left): (bottom - top, right - left)
        for top, bottom, left, right in sheet.merged_cells
        if 0 < bottom - top <= MOST_SPAN and 0 < right - left <= MOST_SPAN
    }
    shut = {col for col, info in sheet.colinfo_map.items() if info.hidden}
    for row in range(sheet.nrows):
        hidden = row in sheet.rowinfo_map and bool(sheet.rowinfo_map[row].hidden)
        for col in range(sheet.row_len(row)):
            cell = sheet.cell(row, col)
            code, strong = _look(book, cell)
            text = " ".join(_text(book, cell, code).split())
            if text:
                down, across = spans.get((row, col), (1, 1))
                (read.hidden if hidden or col in shut else read.cells)[row, col] = SheetCell(
                    text=text, number=cell.ctype in {NUMBER, DATE}, strong=strong, row_span=down, col_span=across
                )
    return read


def _look(book: Any, cell: Any) -> tuple[str, bool]:
    """A cell's format of numbers, and whether its font is bold."""
    try:
        xf = book.xf_list[cell.xf_index]
        return str(book.format_map[xf.format_key].format_str), bool(book.font_list[xf.font_index].bold)
    except (IndexError, KeyError, TypeError, AttributeError):
        return "", False


def _text(book: Any, cell: Any, code: str) -> str:
    if cell.ctype in {NUMBER, DATE}:
        try:
            value = float(cell.value)
            return shown(value, code, since_1904=bool(book.datemode)) if code else plain(value)
        except (ValueError, OverflowError, TypeError):
            return str(cell.value)
    if cell.ctype == BOOLEAN:
        return "TRUE" if cell.value else "FALSE"
    if cell.ctype == ERROR:
        return ERRORS.get(cell.value, "#ERROR")
    return str(cell.value) if cell.ctype == TEXT else ""
