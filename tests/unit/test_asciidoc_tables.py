"""Tables of AsciiDoc: headers said and implied, spans, styles, nested ones, other separators."""

import pytest

from upwell.parse.asciidoc.document import parse_asciidoc
from upwell.parse.failures import Unparsable
from upwell.parse.limits import DEFAULT_LIMITS, Limits
from upwell.records import Kind


def blocks(text):
    return parse_asciidoc(text, DEFAULT_LIMITS).blocks


def table_of(text):
    return next(block.table for block in blocks(text) if block.table is not None)


def rows(text):
    """The first table's cells as rows, and which rows are its header."""
    table = table_of(text)
    grid = [[cell.text for cell in table.cells if cell.row == r] for r in range(table.rows)]
    return grid, {cell.row for cell in table.cells if cell.header}


@pytest.mark.parametrize(
    ("text", "expected", "header"),
    [
        ("|===\n|A |B\n\n|1 |2\n|===\n", [["A", "B"], ["1", "2"]], {0}),
        ("|===\n|A |B\n|1 |2\n|===\n", [["A", "B"], ["1", "2"]], set()),
        ("|===\n\n|A |B\n\n|1 |2\n|===\n", [["A", "B"], ["1", "2"]], set()),
        ("[%noheader]\n|===\n|A |B\n\n|1 |2\n|===\n", [["A", "B"], ["1", "2"]], set()),
        ("[%header,cols=2*]\n|===\n|A\n|B\n|1\n|2\n|===\n", [["A", "B"], ["1", "2"]], {0}),
        ('[options="header,footer"]\n|===\n|A|B\n|1|2\n|===\n', [["A", "B"], ["1", "2"]], {0}),
        ("[cols=2]\n|===\n|A\n|B\n|1 |2\n|===\n", [["A", "B"], ["1", "2"]], set()),
        ('[cols="1,^.^2m"]\n|====\n|A\ngoes on\n|B\n\n|1 |2\n|====\n', [["A goes on", "B"], ["1", "2"]], set()),
        ("|===\n|A |B |\n|1 |2 |\n|===\n", [["A", "B", ""], ["1", "2", ""]], set()),
        ("|===\n|A |B\n|1 |2 |\n|3 ||\n|===\n", [["A", "B"], ["1", "2"], ["3", ""]], set()),
        ("|===\n|a \\| b |*c*\n|{vbar} |`d`\n|===\n", [["a | b", "c"], ["|", "d"]], set()),
        ("|===\n2*|x |y\n|===\n", [["x", "x", "y"]], set()),
        (',===\na,"b, ""c"""\n1,2\n,===\n', [["a", 'b, "c"'], ["1", "2"]], set()),
        ("[format=csv,separator=;]\n|===\na;b\n\n1;2\n|===\n", [["a", "b"], ["1", "2"]], {0}),
        ("[format=tsv]\n|===\na\tb\n1\t2\n|===\n", [["a", "b"], ["1", "2"]], set()),
        (":===\na:b\nx\\:y:z\n:===\n", [["a", "b"], ["x:y", "z"]], set()),
        ("[separator=!]\n|===\n!a | b !c\n|===\n", [["a | b", "c"]], set()),
        ("|Name |Age\n|--- |---\n|Ada |36\n", [["Name", "Age"], ["Ada", "36"]], {0}),
        ("|Name |Age|\n|Ada |36|\n", [["Name", "Age"], ["Ada", "36"]], set()),
    ],
)
def test_tables_have_rows_and_headers(text, expected, header):
    """However they are written; text goes on after them."""
    assert rows(text) == (expected, header)
    assert blocks(f"{text}\nAfter.\n")[-1].text == "After."


def test_cells_may_span_columns_and_rows():
    """Those below and beside them move on."""
    table = table_of("|===\n|A |B |C\n2+|two |c\n.2+|tall |d |e\n|f |g\n2.2+^.>s|big |h\n|i\n|===\n")
    assert {c.text: (c.row, c.col, c.row_span, c.col_span) for c in table.cells} == {
        "A": (0, 0, 1, 1), "B": (0, 1, 1, 1), "C": (0, 2, 1, 1), "two": (1, 0, 1, 2), "c": (1, 2, 1, 1),
        "tall": (2, 0, 2, 1), "d": (2, 1, 1, 1), "e": (2, 2, 1, 1), "f": (3, 1, 1, 1), "g": (3, 2, 1, 1),
        "big": (4, 0, 2, 2), "h": (4, 2, 1, 1), "i": (5, 2, 1, 1),
    }  # fmt: skip


def test_a_row_that_is_all_reached_into_from_above_is_no_row():
    """Nobody can blow a table up by cells that go down without end."""
    lines = ".9999+|a .9999+|b\n" * 3
    table = table_of(f"[cols=2]\n|===\n{lines}|===\n")
    assert (table.rows, [c.row_span for c in table.cells]) == (3, [1] * 6)


def test_cells_and_columns_may_be_headers():
    """By the column's style or the cell's."""
    table = table_of('[cols="h,1"]\n|===\n|A |1\n|B h|2\n|===\n')
    assert [c.text for c in table.cells if c.header] == ["A", "B", "2"]


def test_cells_of_asciidoc_hold_blocks_and_tables():
    """Their words are the cell's; links go with the table, comments are counted out."""
    text = (
        '[cols="1,a"]\n|===\n|A\n|* one https://a.b[x]\n* two\n\n// why\n|B\n|!===\n!in !*side*\n!===\n|===\n\nAfter.\n'
    )
    table, comment, after = blocks(text)
    assert [c.text for c in table.table.cells] == ["A", "one x two", "B", "in | side"]
    assert table.links == ("https://a.b",)
    assert (comment.left_out, comment.text) == ("comment", "why")
    assert after.text == "After."


def test_notes_in_cells_stand_behind_the_table():
    """With their numbers; comments between rows are counted out."""
    table, note, comment = blocks("|===\n|A footnote:[N.] |B\n// x\n|1 |2\n|===\n")
    assert (table.text, note.kind, note.text) == ("A [1] | B\n1 | 2", Kind.FOOTNOTE, "[1] N.")
    assert (comment.left_out, comment.text) == ("comment", "x")


def test_a_table_without_an_end_loses_nothing():
    """It ends with what it stands in, or with the document."""
    assert [b.text for b in blocks("====\n|===\n|a |b\n====\n\nAfter.\n")] == ["a | b", "After."]
    assert [b.text for b in blocks("|===\n|a |b\n\nNot after.\n")] == ["a | b Not after."]


def test_copies_and_spans_may_not_outgrow_a_document():
    """Both count as text that the document does not hold."""
    text = f"|===\n{'99*|' + 'a' * 400}\n|===\n"
    assert len(table_of(text).cells) == 99
    for hostile in (text, f"|===\n{'99*|' * 20}\n|===\n"):
        with pytest.raises(Unparsable, match="more text than"):
            parse_asciidoc(hostile, Limits(characters=30_000))
