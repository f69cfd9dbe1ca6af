"""Workbooks: sheets, tables with their own header rows, what is shown, what is hidden, and limits."""

import datetime as dt
import io
import time

import openpyxl
import pytest
from openpyxl.chart import BarChart, Reference
from openpyxl.comments import Comment

from office_files import zipped
from upwell.parse.limits import DEFAULT_LIMITS, Limits
from upwell.parse.policy import ParsePolicy
from upwell.parse.route import parse
from upwell.parse.sheets import book as excel_book
from upwell.parse.sheets.sheet import SheetCell, header_rows, sheet_tables
from upwell.records import Kind, ParseStatus


def saved(book):
    file = io.BytesIO()
    book.save(file)
    return file.getvalue()


def read(book, policy=None, limits=DEFAULT_LIMITS):
    return parse(saved(book), "a.xlsx", None, limits, policy or ParsePolicy())


def said(parsed):
    return [(b.left_out or b.kind.value, b.text) for b in parsed.blocks]


def book_of(*rows, title="One"):
    book = openpyxl.Workbook()
    book.active.title = title
    for row in rows:
        book.active.append(row)
    return book


def test_values_are_said_as_they_are_shown():
    """Formats of numbers and dates, truth, errors, and a formula's last value, which a file without one lacks."""
    book = book_of(["what", "value"], ["share", 0.256], ["day", dt.date(2024, 3, 5)], ["so", True], ["f", "=1+1"])
    book.active["B2"].number_format = "0.0%"
    assert read(book).blocks[1].text == "what | value\nshare | 25.6%\nday | 2024-03-05\nso | TRUE\nf"


def test_tables_apart_have_their_own_headers():
    """Blank rows and columns part tables; a cell alone is a line."""
    book = book_of(["a", "b", None, "k", "v"], [1, 2, None, "x", 9], [], ["alone"])
    parsed = read(book)
    assert said(parsed) == [
        ("heading", "One"),
        ("table", "a | b\n1 | 2"),
        ("table", "k | v\nx | 9"),
        ("paragraph", "alone"),
    ]
    assert all(c.header == (c.row == 0) for b in parsed.blocks if b.table for c in b.table.cells)


def test_merged_cells_span_and_a_title_over_the_names_is_a_header_too():
    """Two header rows where the first groups the second."""
    book = book_of(["Sales", None], ["North", "South"], [1, 2])
    book.active.merge_cells("A1:B1")
    table = read(book).blocks[1].table
    assert table.cells[0].col_span == 2
    assert [c.header for c in table.cells] == [True, True, True, False, False]


def test_hidden_parts_and_comments_are_left_out_with_the_reason():
    """Rows, columns, sheets; a comment is read where the policy says so."""
    book = book_of(["a", "off", "b"], [1, "gone", 2], ["row", "x", "y"])
    book.active.column_dimensions["B"].hidden = True
    book.active.row_dimensions[3].hidden = True
    book.active["A1"].comment = Comment("why", "me")
    other = book.create_sheet("Two")
    other["A1"] = "unseen"
    other.sheet_state = "hidden"
    parsed = read(book)
    hidden = {b.text for b in parsed.blocks if b.left_out == "hidden"}
    assert hidden == {"off\ngone\nrow | x | y", "Two", "unseen"}
    assert [b.text for b in parsed.blocks if b.left_out == "comment"] == ["A1: why"]
    assert any(b.kind is Kind.PARAGRAPH and b.text == "A1: why" for b in read(book, ParsePolicy(comments=True)).blocks)


def test_charts_and_chart_sheets_are_figures():
    """By their titles; a chart sheet has a heading like any sheet."""
    book = book_of(["a", "b"], [1, 2])
    for place in (book.active, book.create_chartsheet("Chart")):
        chart = BarChart()
        chart.title = "Ducks by year"
        chart.add_data(Reference(book.active, min_col=2, min_row=1, max_row=2))
        place.add_chart(chart)
    parsed = read(book)
    assert [b.text for b in parsed.blocks if b.kind is Kind.FIGURE] == ["Ducks by year"] * 2
    assert ("heading", "Chart") in said(parsed)


def test_header_rows_by_their_signs():
    """Words over numbers; years are names; all words have one; a column alone has none; numbers have none."""
    grid = lambda rows: {  # noqa: E731
        (r, c): SheetCell(text=str(v), number=not isinstance(v, str))
        for r, row in enumerate(rows)
        for c, v in enumerate(row)
    }
    assert header_rows(grid([["a", "b"], [1, 2]]), 2, 2) == 1
    assert header_rows(grid([["x", 2019, 2020], ["y", 1, 2]]), 2, 3) == 1
    assert header_rows(grid([["a"], ["b"]]), 2, 1) == 0
    assert header_rows(grid([[5, 6], [7, 8]]), 2, 2) == 0


def test_spans_of_any_size_cost_little():
    """Merged areas can claim a sheet each; what is merged is bounded by the area, not by the claim."""
    grid = {(r, 0): SheetCell(text="x", row_span=20_000, col_span=20_000) for r in range(50)}
    start = time.process_time()
    (table,) = sheet_tables(grid)
    assert time.process_time() - start < 2
    assert (table.rows, table.cols) == (50, 1)


@pytest.mark.parametrize("limits", [Limits(characters=1000), Limits(unpacked_bytes=50_000, unpacked_floor_bytes=1)])
def test_a_big_workbook_ends_in_its_limits(limits):
    """By its characters, and by what it unpacks to before anything is read."""
    assert read(book_of(*[[f"word {i}", i] for i in range(5000)]), limits=limits).status is ParseStatus.TOO_LARGE


def test_a_workbook_of_too_many_cells_is_too_large(monkeypatch):
    """The count is of the workbook, over all its sheets."""
    monkeypatch.setattr(excel_book, "MOST_CELLS", 100)
    assert read(book_of(*[[i, i] for i in range(60)])).status is ParseStatus.TOO_LARGE


@pytest.mark.parametrize(
    ("parts", "status"),
    [
        ({"xl/workbook.xml": "<workbook"}, ParseStatus.CORRUPT),
        ({"xl/x": ""}, ParseStatus.CORRUPT),
        ({"xl/workbook.xml": "<workbook/>"}, ParseStatus.EMPTY),
    ],
)
def test_what_is_broken_says_so(parts, status):
    """Not well-formed, without a workbook, without sheets."""
    assert parse(zipped({"[Content_Types].xml": "<Types/>", **parts}), "a.xlsx", None, DEFAULT_LIMITS).status is status
