"""PDFs built from what is to stand on their pages, and the tables that are read from them."""

import io
from collections.abc import Sequence

from reportlab.lib.pagesizes import A4
from reportlab.platypus import BaseDocTemplate, Frame, PageTemplate, SimpleDocTemplate

from table_pages import Grid
from upwell.parse.limits import DEFAULT_LIMITS
from upwell.parse.pdf.file import PdfFile
from upwell.parse.pdf.page import Page, read_pages
from upwell.parse.pdf.tables import FoundTable, find_tables


def pages_of(data: bytes) -> list[Page]:
    with PdfFile(data, DEFAULT_LIMITS) as file:
        return list(read_pages(file, DEFAULT_LIMITS))


def tables_of(data: bytes) -> list[FoundTable]:
    return [table for page in pages_of(data) for table in find_tables(page)]


def grid_of(found: FoundTable) -> Grid:
    return {
        (r, c): cell.text
        for cell in found.table.cells
        for r in range(cell.row, cell.row + cell.row_span)
        for c in range(cell.col, cell.col + cell.col_span)
    }


def built(*flow: object, columns: int = 1, frames: Sequence[Frame] = ()) -> bytes:
    out = io.BytesIO()
    if columns == 1 and not frames:
        SimpleDocTemplate(out, pagesize=A4).build(list(flow))
    else:
        frames = frames or [Frame(50, 60, 240, 720), Frame(310, 60, 240, 720)]
        BaseDocTemplate(out, pagesize=A4, pageTemplates=[PageTemplate(frames=list(frames))]).build(list(flow))
    return out.getvalue()
