"""Tables of PDF pages: their cells against what was drawn, and what is no table."""

import random
from collections.abc import Callable
from statistics import mean
from time import process_time

import pytest
from reportlab.platypus import Paragraph, Table

import table_pages
import table_pages_more
from table_pages import CELL, KINDS, PROSE, Made, document, f1, prose
from table_pages_more import MORE_KINDS
from table_reading import built, grid_of, tables_of
from upwell.parse.pdf.page import Page, Piece
from upwell.parse.pdf.tables import find_tables

LEAST_F1 = 0.95
MEAN_F1 = 0.98
ALL_KINDS = (*KINDS, *MORE_KINDS)


@pytest.mark.parametrize("kind", ALL_KINDS, ids=lambda kind: kind.__name__)
def test_a_table_of_each_kind_is_read_cell_by_cell(kind: Callable[[random.Random], Made]) -> None:
    """Cell adjacency against the cells that were drawn, beside prose in one column and in two."""
    scores = []
    for columns in (1, 2):
        data, truth = document(kind, columns - 1, columns=columns)
        scores.append(f1(truth, [grid_of(found) for found in tables_of(data)]))
    assert mean(scores) >= LEAST_F1, scores


def test_all_kinds_together_reach_the_mean() -> None:
    """Seeds that the rules above did not see one by one."""
    scores = []
    for kind in ALL_KINDS:
        data, truth = document(kind, 7)
        scores.append(f1(truth, [grid_of(found) for found in tables_of(data)]))
    assert mean(scores) >= MEAN_F1, scores


def test_prose_in_two_columns_is_no_table() -> None:
    """The gutter between columns of prose parts no cells."""
    rng = random.Random(3)
    assert tables_of(built(*(prose(rng) for _ in range(24)), columns=2)) == []


def test_a_list_with_hanging_marks_is_no_table() -> None:
    """Numbers in a column of their own, words in the next."""
    rng = random.Random(4)
    rows = [[f"{i}.", Paragraph(table_pages.sentence(rng, 7), CELL)] for i in range(1, 9)]
    assert tables_of(built(prose(rng), Table(rows, colWidths=[40, 300]))) == []


def test_a_table_of_contents_is_no_table() -> None:
    """Titles, leaders and pages that rise."""
    rng = random.Random(5)
    rows = [[table_pages.sentence(rng, 4), "." * 30, str(3 * i + 1)] for i in range(12)]
    plain = [[row[0], row[2]] for row in rows]
    assert tables_of(built(Paragraph("Contents", PROSE), Table(rows))) == []
    assert tables_of(built(Paragraph("Contents", PROSE), Table(plain, colWidths=[300, 40]))) == []


def test_a_form_is_no_table() -> None:
    """Labels that end in a colon, with what was filled in beside them."""
    rows = [["Name:", "Ada Example"], ["Street:", "Long Road 5"], ["City:", "Riga"], ["Amount:", "350"]]
    assert tables_of(built(Table(rows, colWidths=[120, 120]))) == []


def test_a_frame_around_a_page_is_no_table() -> None:
    """One box with prose in it."""
    rng = random.Random(6)
    box = Table([[[prose(rng), prose(rng), prose(rng)]]], style=[("BOX", (0, 0), (-1, -1), 1, "black")])
    assert tables_of(built(box)) == []


def test_a_caption_is_outside_its_table() -> None:
    """Also right above a table that no rule closes off."""
    data, _ = document(table_pages.borderless, 1)
    (found,) = tables_of(data)
    assert not any("Table" in cell.text for cell in found.table.cells)


def test_header_rows_are_marked_also_where_there_are_two() -> None:
    """Spans over the second row make it header too; figures are never one."""
    data, _ = document(table_pages.spans_booktabs, 2)
    (found,) = tables_of(data)
    assert {cell.row for cell in found.table.cells if cell.header} == {0, 1}
    before = next(cell for cell in found.table.cells if cell.text == "Before")
    assert (before.row, before.col, before.col_span) == (0, 1, 2)


def test_code_in_columns_of_fixed_pitch_is_no_table() -> None:
    """A listing among prose, its comments aligned."""
    rng = random.Random(8)
    lines = [["int a;", "4", "/* size */"], ["int b;", "8", "/* kind */"], ["int c;", "2", "/* next */"]] * 2
    listing = Table(lines, style=[("FONTNAME", (0, 0), (-1, -1), "Courier")])
    assert tables_of(built(prose(rng), prose(rng), listing, prose(rng))) == []


def test_rows_without_a_header_are_all_body() -> None:
    """The first row has figures where the others have them."""
    rng = random.Random(9)
    rows = table_pages.figures(rng, 6, 4)[1:]
    (found,) = tables_of(built(Table(rows, style=[("GRID", (0, 0), (-1, -1), 0.5, "black")])))
    assert not any(cell.header for cell in found.table.cells)


def test_the_heading_of_a_group_is_no_header() -> None:
    """It stands in the first column alone, below the header."""
    data, _ = document(table_pages_more.indented_borderless, 0)
    (found,) = tables_of(data)
    assert {cell.row for cell in found.table.cells if cell.header} == {0}


def test_a_line_that_runs_out_of_a_table_is_not_lost() -> None:
    """Its words in the table are cells; the line stays to be read outside too."""
    words = (("Riga", (10.0, 12.0, 30.0, 20.0)), ("goes", (62.0, 12.0, 80.0, 20.0)), ("on", (104.0, 12.0, 112.0, 20.0)))
    whole = Piece(text="Riga goes on", bbox=(10.0, 12.0, 112.0, 20.0), size=8.0, words=words)
    others = [
        Piece(text=text, bbox=(x, y, x + 20.0, y + 8.0), size=8.0)
        for text, x, y in (("Oslo", 10.0, 32.0), ("stays", 62.0, 32.0), ("Bonn", 10.0, 52.0), ("ends", 62.0, 52.0))
    ]
    page = Page(
        number=1,
        width=200,
        height=200,
        pieces=(whole, *others),
        horizontal=tuple((5.0, y, 100.0, y) for y in (5.0, 25.0, 45.0, 65.0)),
        vertical=tuple((x, 5.0, x, 65.0) for x in (5.0, 55.0, 100.0)),
    )
    (found,) = find_tables(page)
    assert grid_of(found)[0, 1] == "goes"
    assert found.pieces == {1, 2, 3, 4}


def test_a_page_full_of_words_and_rules_is_done_in_bounded_time() -> None:
    """Far more of each than on any page for people; seconds of this process, however busy the machine is."""
    rng = random.Random(10)
    spots = [(rng.random() * 590, rng.random() * 790) for _ in range(20_000)]
    page = Page(
        number=1,
        width=600,
        height=800,
        pieces=tuple(Piece(text="12", bbox=(x, y, x + 9, y + 8), size=8.0) for x, y in spots),
        horizontal=tuple((x, y, x + 50, y) for x, y in spots[:5_000]),
        vertical=tuple((x, y, x, y + 50) for x, y in spots[5_000:10_000]),
    )
    start = process_time()
    find_tables(page)
    assert process_time() - start < 20
