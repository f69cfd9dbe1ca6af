"""A table's text puts each value below its column's name, and does not let a few cells become a long text."""

from upwell.parse.outline import BLOCK_COST, FREE_GROWTH, Outline, grid, table_text
from upwell.records import Cell, Table


def _table(rows, *cells):
    return Table(rows=rows, cols=1 + max(cell.col for cell in cells), cells=cells)


def test_a_cell_of_several_rows_stands_in_each_of_them():
    """Of columns it stands once, and its further places are empty."""
    table = _table(
        4,
        Cell(row=0, col=0, text="Group"),
        Cell(row=0, col=1, text="Item"),
        Cell(row=0, col=2, text="Price"),
        Cell(row=1, col=0, text="Wood", row_span=9),
        Cell(row=1, col=1, text="Oak", col_span=2),
        Cell(row=2, col=1, text="Ash"),
        Cell(row=2, col=2, text="9"),
        Cell(row=3, col=2, text="8"),
    )
    assert table_text(table) == "Group | Item | Price\nWood | Oak\nWood | Ash | 9\nWood |  | 8"


def test_a_block_of_rows_and_columns_keeps_the_places_after_it():
    """What stands right of it stays in its column in each row."""
    table = _table(2, Cell(row=0, col=0, text="a", row_span=2, col_span=2), Cell(row=1, col=2, text="b"))
    assert table_text(table) == "a\na |  | b"


def test_cells_at_one_place_lose_no_words():
    """A grid that contradicts itself still says all that is in it."""
    table = _table(
        2, Cell(row=0, col=0, text="a", row_span=2), Cell(row=1, col=0, text="b"), Cell(row=1, col=0, text="c")
    )
    assert table_text(table) == "a\nb | c"


def test_a_plain_table_keeps_its_empty_cells():
    """Rows end with their last cell, an empty one as well."""
    assert table_text(grid([["a", "", "c"], ["", "b", ""], ["x"]])) == "a |  | c\n | b | \nx"


def test_a_long_cell_of_many_rows_is_not_repeated():
    """Sixty thousand rows would make one paragraph a library."""
    rows = 60_000
    long = Cell(row=0, col=0, text="x" * 5_000, row_span=65_534)
    table = _table(rows, long, *(Cell(row=row, col=1, text="1") for row in range(1, rows)))
    text = table_text(table)
    assert text.count("x") == 5_000
    assert len(text) < 10 * rows


def test_a_cell_far_to_the_right_makes_no_row_of_empty_places():
    """One cell a row at the last column of a sheet costs as much as at its first."""
    table = _table(1_000, *(Cell(row=row, col=16_000, text="v") for row in range(1_000)))
    assert table_text(table) == "\n".join("v" for _ in range(1_000))


def test_a_document_that_is_nearly_full_repeats_nothing():
    """A table fits whose cells fit, whatever repeating them would take."""
    table = _table(9, Cell(row=0, col=0, text="y" * 100, row_span=9))
    outline = Outline(100 + 9 + BLOCK_COST)
    outline.table(table)
    assert outline.blocks[0].text.count("y") == 100 < FREE_GROWTH
