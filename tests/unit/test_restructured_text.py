"""reStructuredText: notes, tables of every kind, nested lists; what is not shown is counted out with its reason."""

import pytest

from upwell.parse.limits import DEFAULT_LIMITS
from upwell.parse.text.restructured import parse_restructured
from upwell.records import Kind


def blocks(text):
    return parse_restructured(text, DEFAULT_LIMITS).blocks


def rows(text):
    """The first table's cells as rows, and which rows are its header."""
    table = next(block.table for block in blocks(text) if block.table is not None)
    grid = [[cell.text for cell in table.cells if cell.row == r] for r in range(table.rows)]
    return grid, {cell.row for cell in table.cells if cell.header}


def test_notes_and_citations_are_footnotes():
    """With their labels and continuation lines; the references lose only their underscore."""
    text = (
        "See [1]_, [#a]_ and [CIT]_.\n\n.. [1] One\n   goes on.\n\n   More.\n.. [#a] Two.\n.. [CIT] Three.\n\nAfter.\n"
    )
    assert [(b.kind, b.text) for b in blocks(text)] == [
        (Kind.PARAGRAPH, "See [1], [#a] and [CIT]."),
        (Kind.FOOTNOTE, "[1] One goes on.\nMore."),
        (Kind.FOOTNOTE, "[#a] Two."),
        (Kind.FOOTNOTE, "[CIT] Three."),
        (Kind.PARAGRAPH, "After."),
    ]


@pytest.mark.parametrize(
    ("text", "why", "said"),
    [
        (".. some words", "comment", "some words"),
        ("..\n   some words\n\n   and more", "comment", "some words\n\nand more"),
        (".. _there: http://x.y", "target", "_there: http://x.y"),
        ("__ http://x.y", "target", "__ http://x.y"),
        (".. |x| replace:: some words", "substitution", "|x| replace:: some words"),
        (".. |x| image:: a.png\n   :alt: some words", "substitution", "|x| image:: a.png\n:alt: some words"),
        (".. toctree::\n   :maxdepth: 2\n\n   use/it", "navigation", "toctree::\n:maxdepth: 2\n\nuse/it"),
        (".. include:: a.txt", "markup", "include:: a.txt"),
        (".. csv-table::\n   :file: a.csv", "markup", "file: a.csv"),
    ],
)
def test_what_is_not_shown_is_counted_out(text, why, said):
    """With the reason, and what comes after is kept."""
    left, kept = blocks(f"{text}\n\nAfter.\n")
    assert (left.kind, left.left_out, left.text) == (Kind.PAGE_FURNITURE, why, said)
    assert kept.text == "After."


def test_two_dots_alone_leave_what_follows_a_blank_line():
    """An empty comment takes no block after it."""
    assert [b.text for b in blocks("..\n\n   Quoted.\n")] == ["Quoted."]


def test_names_stand_for_what_they_name():
    """Substitutions are put in, references to a target are links."""
    text = "The |x| of larch_ and `the fir`_; snake_ stays.\n\n.. |x| replace:: wood\n.. _larch: http://l\n.. _the fir: http://f\n"
    first = blocks(text)[0]
    assert (first.text, first.links) == ("The wood of larch and the fir; snake_ stays.", ("http://f", "http://l"))


@pytest.mark.parametrize(
    ("text", "expected", "header"),
    [
        ("+---+---+\n| A | B |\n+===+===+\n| 1 | 2 |\n|   | 3 |\n+---+---+\n", [["A", "B"], ["1", "2 3"]], {0}),
        ("+---+---+\n| A | B |\n+---+---+\n", [["A", "B"]], set()),
        ("+---+---+\n| A | B |\n+===+===+\n| long | 2 |\n+---+---+\n", [["A", "B"], ["long", "2"]], {0}),
        ("=== ===\nA   B\n=== ===\n1   2\n    3\n\n\\   4\n=== ===\n", [["A", "B"], ["1", "2 3"], ["", "4"]], {0}),
        ("=== ===\n1   2\n=== ===\n", [["1", "2"]], set()),
        (".. table:: T\n\n   === ===\n   A   B\n   === ===\n   1   2\n   === ===\n", [["A", "B"], ["1", "2"]], {0}),
        (
            ".. list-table:: T\n   :header-rows: 1\n\n   * - A\n     - B\n   * - 1\n       goes on\n     -\n",
            [["A", "B"], ["1 goes on", ""]],
            {0},
        ),
        ('.. csv-table:: T\n   :header: "A", "B"\n\n   "1, 2", *3*\n', [["A", "B"], ["1, 2", "3"]], {0}),
        (".. csv-table::\n   :delim: ;\n   :header-rows: 1\n\n   A;B\n   1;2\n", [["A", "B"], ["1", "2"]], {0}),
    ],
)
def test_tables_have_rows_and_headers(text, expected, header):
    """However they are written; text goes on after them."""
    assert rows(text) == (expected, header)
    assert blocks(f"{text}\nAfter.\n")[-1].text == "After."


def test_cells_of_a_grid_may_span():
    """Columns and rows."""
    text = "+---+---+\n| A | B |\n+---+---+\n| both  |\n+---+---+\n| 1 | 2 |\n|   +---+\n|   | 3 |\n+---+---+\n"
    table = blocks(text)[0].table
    assert {c.text: (c.row, c.col, c.row_span, c.col_span) for c in table.cells} == {
        "A": (0, 0, 1, 1),
        "B": (0, 1, 1, 1),
        "both": (1, 0, 1, 2),
        "1": (2, 0, 2, 1),
        "2": (2, 1, 1, 1),
        "3": (3, 1, 1, 1),
    }


def test_words_of_a_simple_table_may_span_columns():
    """Those that stand over the gap between two."""
    table = blocks("=== ===\nA and B\n-------\n1   2\n=== ===\n")[0].table
    assert [(c.text, c.col_span) for c in table.cells] == [("A and B", 2), ("1", 1), ("2", 1)]


def test_a_table_without_an_end_is_text():
    """Nothing is lost of it, nothing after it is taken for its rows."""
    assert [b.text for b in blocks("=== ===\nA   B\n\nAfter.\n")] == ["=== ===\nA   B", "After."]


def test_lists_nest_by_indentation():
    """Numbers, letters and dots; a letter alone is an initial."""
    text = "1. one\n\n   a. inner\n\n      - deep\n\n   b. inner two\n\n2. two\n\nA. Einstein\n"
    assert [(b.kind, b.level, b.text) for b in blocks(text)] == [
        (Kind.LIST_ITEM, 1, "one"),
        (Kind.LIST_ITEM, 2, "inner"),
        (Kind.LIST_ITEM, 3, "deep"),
        (Kind.LIST_ITEM, 2, "inner two"),
        (Kind.LIST_ITEM, 1, "two"),
        (Kind.PARAGRAPH, None, "A. Einstein"),
    ]


def test_examples_of_a_session_are_code():
    """Up to the blank line, inside a note too."""
    assert [(b.kind, b.text) for b in blocks(".. note:: Try\n   it.\n\n   >>> 1 + 1\n   2\n\nAfter.\n")] == [
        (Kind.PARAGRAPH, "Try\nit."),
        (Kind.CODE, ">>> 1 + 1\n2"),
        (Kind.PARAGRAPH, "After."),
    ]


def test_a_figure_has_its_caption_its_legend_and_where_it_leads():
    """The file and the target are its links."""
    text = ".. figure:: a.png\n   :alt: A larch\n   :target: http://x\n\n   A *caption*.\n\n   A legend.\n"
    assert [(b.kind, b.text) for b in blocks(text)] == [
        (Kind.FIGURE, "A larch"),
        (Kind.CAPTION, "A caption."),
        (Kind.PARAGRAPH, "A legend."),
    ]
    assert blocks(text)[0].links == ("a.png", "http://x")


def test_directives_may_be_nested_beyond_measure():
    """Deep ones are read flat, no word is lost."""
    text = "\n\n".join(f"{'   ' * depth}.. note:: n{depth}" for depth in range(60))
    said = " ".join(b.text for b in blocks(text))
    assert all(f"n{depth}" in said for depth in range(60))


@pytest.mark.parametrize("part", ["`" + " " * 60_000, "=== ===\nx\n" * 9_000, "+-" * 40_000 + "+\n", ":" * 60_000])
def test_hostile_text_takes_linear_time(part):
    """Runs that tempt a pattern to go back over them."""
    assert blocks(f"words {part}\n{part}\n{part}") != ()
