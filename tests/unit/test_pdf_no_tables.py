"""What stands in columns and is no table: prose, lists, contents, forms, addresses, formulas, charts."""

import random

import pytest
from reportlab.graphics.charts.linecharts import HorizontalLineChart
from reportlab.graphics.shapes import Drawing
from reportlab.lib.styles import ParagraphStyle
from reportlab.platypus import Frame, HRFlowable, Paragraph, Table

from pdfs import Drawn, texts
from table_pages import CELL, NAMES, PROSE, prose, sentence
from table_reading import built, tables_of
from upwell.records import Kind

HANGING = ParagraphStyle("hanging", parent=PROSE, leftIndent=20, firstLineIndent=-20)


def rng() -> random.Random:
    return random.Random(5)


def test_prose_in_three_columns_is_no_table() -> None:
    """Lines of a narrow column are hardly longer than a cell; they go on in small letters."""
    source = rng()
    frames = [Frame(50 + 167 * k, 60, 152, 720) for k in range(3)]
    assert tables_of(built(*(prose(source) for _ in range(30)), frames=frames)) == []


@pytest.mark.parametrize("columns", [1, 2])
def test_references_are_no_table(columns: int) -> None:
    """Numbers in brackets, and what they stand for beside them."""
    source = rng()
    entries = [Paragraph(f"[{i}]&nbsp;&nbsp;&nbsp;&nbsp;{sentence(source, 22)}", HANGING) for i in range(1, 35)]
    assert tables_of(built(*entries, columns=columns)) == []


@pytest.mark.parametrize("nested", [False, True])
def test_a_list_with_bare_numbers_is_no_table(nested: bool) -> None:
    """Numbers that count one column of words, in which a list with marks of its own may stand."""
    pdf = Drawn()
    for i, words in enumerate(("First take the cover off", "Then look at the valve", "Last close it")):
        pdf.line(f"{i + 1}", 60, 100 + 13 * i, 12)
        pdf.line(words, 80, 100 + 13 * i)
    for mark in "ab" if nested else "":
        pdf.line("4" if mark == "a" else "", 60, 139, 12)
        pdf.line(mark, 80, 139 if mark == "a" else 152, 12)
        pdf.line(f"nested {mark}", 100, 139 if mark == "a" else 152)
    pdf.line("Next part", 60, 180, 14, "Helvetica-Bold")
    pdf.line("More words follow here.", 60, 200)
    parsed = pdf.read()
    assert not texts(parsed, Kind.TABLE)
    assert texts(parsed, Kind.LIST_ITEM)[:2] == ["1 First take the cover off", "2 Then look at the valve"]
    assert texts(parsed, Kind.HEADING) + texts(parsed, Kind.TITLE) == ["Next part"]


def test_numbers_below_a_name_are_a_table() -> None:
    """A column that says what its numbers are, and one of figures beside it."""
    for rows in ([["Rank", "Name"], ["1", "Ann"], ["2", "Bob"], ["3", "Cyn"]], [["1", "70"], ["2", "65"], ["3", "61"]]):
        assert len(tables_of(built(Table(rows, colWidths=[90, 200])))) == 1


def test_a_heading_in_larger_letters_ends_a_table() -> None:
    """What stands below it in columns is no part of the table above."""
    pdf = Drawn()
    for i, row in enumerate((("Oak", "12", "40"), ("Ash", "9", "41"), ("Elm", "8", "39"))):
        for k, words in enumerate(row):
            pdf.line(words, 60 + 80 * k, 100 + 13 * i)
    pdf.line("Key facts", 60, 152, 14, "Helvetica-Bold")
    for i, row in enumerate((("Name:", "Ida Lund"), ("Post:", "Head of purchasing"), ("Town:", "Graz"))):
        for k, words in enumerate(row):
            pdf.line(words, 60 + 80 * k, 170 + 13 * i)
    (found,) = tables_of(pdf.data())
    assert (found.table.rows, found.table.cols) == (3, 3)


@pytest.mark.parametrize("pages", [("iii", "iv", "vii", "1", "4", "9"), ("2", "4", "7", "12", "19", "23")])
def test_contents_without_leaders_are_no_table(pages: tuple[str, ...]) -> None:
    """Pages that rise, some in Roman numerals."""
    source = rng()
    assert tables_of(built(Table([[sentence(source, 4), page] for page in pages], colWidths=[300, 40]))) == []


def test_two_addresses_are_no_table() -> None:
    """Two columns of words without a figure."""
    rows = [["Acme Ltd", "Ada Example"], ["Long Road", "Short Road"], ["Riga", "Oslo"], ["Latvia", "Norway"]]
    assert tables_of(built(Table(rows, colWidths=[250, 200]))) == []


BLOCKS = [
    ["Bill to:", "Order", "of the third of March"],
    ["Acme Ltd", "Until", "the end of March"],
    ["Long Road", "Carrier", "by rail"],
]


def test_an_address_with_its_name_beside_other_words_is_no_table() -> None:
    """A letter's head: what stands above on the right, far off, belongs to it no more."""
    assert tables_of(built(Table(BLOCKS, colWidths=[200, 80, 150]))) == []
    named = [["Name:", "Post:", "Town:"], *BLOCKS[1:], ["Ann", "Head", "Graz"]]
    assert len(tables_of(built(Table(named, colWidths=[200, 80, 150])))) == 1


def test_words_well_above_a_tables_last_column_are_not_its_header() -> None:
    """The gap below them is wider than those between its rows."""
    pdf = Drawn()
    pdf.lines(["Rope Works 4", "Velden"], 260, 70)
    for i, row in enumerate((("Oak", "12", "40 pieces"), ("Ash", "9", "41 pieces"), ("Elm", "8", "39 pieces"))):
        for k, words in enumerate(row):
            pdf.line(words, 60 + 100 * k, 110 + 13 * i)
    (found,) = tables_of(pdf.data())
    assert found.table.rows == 3


def test_numbered_equations_are_no_table() -> None:
    """Numbers in round brackets at the right."""
    rows = [["x = a + b", "(1)"], ["y = c - d", "(2)"], ["z = e / f", "(3)"], ["w = g", "(4)"]]
    assert tables_of(built(Table(rows, colWidths=[300, 40]))) == []


def test_a_dialogue_is_no_table() -> None:
    """Names with a colon, words beside them."""
    source = rng()
    rows = [[f"{name}:", Paragraph(sentence(source, 12), CELL)] for name in ("Ann", "Bob", "Ann", "Bob")]
    assert tables_of(built(Table(rows, colWidths=[60, 380]))) == []


def test_a_chart_with_a_grid_is_no_table() -> None:
    """Its lines cross like rules; its labels are outside."""
    source = rng()
    chart = HorizontalLineChart()
    chart.x, chart.y, chart.height, chart.width = 50, 50, 125, 300
    chart.data = [(13, 5, 20, 22, 37, 45, 19, 4)]
    chart.categoryAxis.categoryNames = NAMES[:8]
    chart.valueAxis.visibleGrid = chart.categoryAxis.visibleGrid = 1
    drawing = Drawing(400, 200)
    drawing.add(chart)
    assert tables_of(built(prose(source), drawing, prose(source))) == []


def test_prose_between_rules_is_no_table() -> None:
    """Rules of one width above and below paragraphs, in a page and in its columns."""
    source = rng()
    flow = [part for _ in range(4) for part in (HRFlowable(width="100%"), prose(source), prose(source))]
    assert tables_of(built(*flow)) == []
    flow = [part for _ in range(8) for part in (HRFlowable(width="100%"), prose(source), prose(source))]
    assert tables_of(built(*flow, columns=2)) == []
