"""What stands in columns and is no table: prose, lists, contents, forms, addresses, formulas, charts."""

import random

import pytest
from reportlab.graphics.charts.linecharts import HorizontalLineChart
from reportlab.graphics.shapes import Drawing
from reportlab.lib.styles import ParagraphStyle
from reportlab.platypus import Frame, HRFlowable, Paragraph, Table

from table_pages import CELL, NAMES, PROSE, prose, sentence
from table_reading import built, tables_of

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


@pytest.mark.parametrize("pages", [("iii", "iv", "vii", "1", "4", "9"), ("2", "4", "7", "12", "19", "23")])
def test_contents_without_leaders_are_no_table(pages: tuple[str, ...]) -> None:
    """Pages that rise, some in Roman numerals."""
    source = rng()
    assert tables_of(built(Table([[sentence(source, 4), page] for page in pages], colWidths=[300, 40]))) == []


def test_two_addresses_are_no_table() -> None:
    """Two columns of words without a figure."""
    rows = [["Acme Ltd", "Ada Example"], ["Long Road", "Short Road"], ["Riga", "Oslo"], ["Latvia", "Norway"]]
    assert tables_of(built(Table(rows, colWidths=[250, 200]))) == []


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
