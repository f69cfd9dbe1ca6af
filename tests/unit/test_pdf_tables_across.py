"""Tables that go on over pages: one table, its header once, on the page where it began."""

import io
from typing import Any

from reportlab.lib.pagesizes import A4
from reportlab.platypus import PageBreak, Paragraph, SimpleDocTemplate, Spacer, Table

from table_pages import PROSE
from upwell.parse.limits import DEFAULT_LIMITS
from upwell.parse.pdf.document import parse_pdf
from upwell.records import Block, Kind, ParsedDocument, ParseStatus

GRID = [("GRID", (0, 0), (-1, -1), 0.5, "black")]
HEAD = ["Station", "Trains", "Late"]


def parsed_of(*flow: object, margin: int = 72, head: tuple[str, str] | None = None) -> ParsedDocument:
    out = io.BytesIO()

    def draw_head(canvas: Any, _document: object) -> None:
        if head is not None:
            canvas.drawString(72, 800, head[0])
            canvas.drawRightString(520, 800, head[1])

    document = SimpleDocTemplate(out, pagesize=A4, topMargin=margin, bottomMargin=margin)
    document.build(list(flow), onFirstPage=draw_head, onLaterPages=draw_head)
    return parse_pdf(out.getvalue(), DEFAULT_LIMITS, lambda _data, _name, _type: ParsedDocument(status=ParseStatus.OK))


def tables_in(*flow: object, margin: int = 72) -> list[Block]:
    return [block for block in parsed_of(*flow, margin=margin).blocks if block.kind is Kind.TABLE]


def body(rows: int, start: int = 0) -> list[list[str]]:
    return [
        [f"Halt {chr(65 + i % 26)}{chr(97 + i // 26)}", str(i * 7 + 3), f"{i}.5%"] for i in range(start, start + rows)
    ]


def column(block: Block, at: int) -> list[str]:
    assert block.table is not None
    return [cell.text for cell in sorted(block.table.cells, key=lambda c: c.row) if cell.col == at]


def test_a_table_over_three_pages_is_one_with_its_header_once() -> None:
    """The header that each page repeats is dropped from the middle."""
    (table,) = tables_in(Paragraph("Table 1: Trains", PROSE), Table([HEAD, *body(100)], repeatRows=1, style=GRID))
    assert table.page == 1
    assert column(table, 0) == ["Station", *(row[0] for row in body(100))]
    assert [cell.row for cell in table.table.cells if cell.header] == [0, 0, 0]


def test_a_table_without_a_repeated_header_goes_on_where_figures_do() -> None:
    """Its first row on the second page is no header."""
    (table,) = tables_in(Table([HEAD, *body(60)], style=GRID))
    assert len(column(table, 0)) == 61
    assert {cell.row for cell in table.table.cells if cell.header} == {0}


def test_tables_with_words_between_stay_two() -> None:
    """Prose after the first table ends it, though the columns are the same."""
    first, second = Table([HEAD, *body(5)], style=GRID), Table([HEAD, *body(5, 5)], style=GRID)
    between = Paragraph("The table of the following year is on the next page.", PROSE)
    assert len(tables_in(first, between, PageBreak(), second)) == 2


def test_a_table_with_its_own_header_on_the_next_page_stays_one_of_two() -> None:
    """Other words stand where the first table has figures."""
    other = Table(
        [["Country", "Capital", "River"], ["Austria", "Vienna", "Danube"], ["France", "Paris", "Seine"]], style=GRID
    )
    assert len(tables_in(Table([HEAD, *body(5)], style=GRID), PageBreak(), other)) == 2


def test_a_caption_that_says_continued_does_not_part_a_table() -> None:
    """It stands between the parts, and is still a caption."""
    first, second = Table([HEAD, *body(6)], style=GRID), Table([HEAD, *body(6, 6)], style=GRID)
    caption = Paragraph("Table 4 (continued)", PROSE)
    (table,) = tables_in(Spacer(1, 300), first, PageBreak(), caption, second)
    assert column(table, 0) == ["Station", *(row[0] for row in body(12))]


def test_rows_in_the_margins_are_no_running_heads() -> None:
    """Figures look alike on each page once their digits are put aside, and stand where a running head would."""
    (table,) = tables_in(Table([HEAD, *body(150)], repeatRows=1, style=GRID), margin=30)
    assert column(table, 0) == ["Station", *(row[0] for row in body(150))]


def test_a_running_head_above_a_table_is_no_row() -> None:
    """Two words at both ends of a line, further away than the rows are from each other."""
    parsed = parsed_of(Table([HEAD, *body(90)], repeatRows=1, colWidths=120), head=("Timetable", "Northern line"))
    (table,) = (block for block in parsed.blocks if block.kind is Kind.TABLE)
    assert column(table, 0) == ["Station", *(row[0] for row in body(90))]
    assert sum(block.kind is Kind.PAGE_FURNITURE for block in parsed.blocks) == 2 * (parsed.pages or 0)
