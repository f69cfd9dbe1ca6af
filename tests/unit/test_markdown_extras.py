"""What people write in Markdown beside CommonMark: HTML with a structure, formulas, footnotes, TOML before the text."""

from upwell.parse.limits import DEFAULT_LIMITS
from upwell.parse.route import parse
from upwell.records import ParseStatus


def kinds(text):
    return [(b.kind.value, b.text) for b in parse(text.encode(), "a.md", None, DEFAULT_LIMITS).blocks]


def test_html_with_a_structure_keeps_it():
    """Tables, lists and images are what they are; comments and hidden nodes are left out."""
    text = (
        "before\n\n<table><tr><th>a<th>b<tr><td>1<td>2</table>\n\n<ul><li>one<li>two</ul>\n\n"
        '<p align="center"><img src="l.png" alt="A larch"></p>\n\n<div><ul><li>x</ul><!-- why --></div>\n\n<b>bold</b> words\n'
    )
    assert kinds(text) == [
        ("paragraph", "before"),
        ("table", "a | b\n1 | 2"),
        ("list_item", "one"),
        ("list_item", "two"),
        ("figure", "A larch"),
        ("list_item", "x"),
        ("page_furniture", "why"),
        ("paragraph", "bold words"),
    ]


def test_a_formula_is_as_it_was_written():
    """Its stars and underscores emphasise nothing."""
    assert kinds("$$\na_1 * b_2 * c_3\n$$\n") == [("formula", "a_1 * b_2 * c_3")]


def test_footnotes_are_footnotes():
    """With the mark that the text refers to."""
    assert kinds("Text[^1].\n\n[^1]: The note of it, at length.\n")[1] == (
        "footnote",
        "[^1]: The note of it, at length.",
    )


def test_toml_front_matter_has_a_title():
    """As static sites write it; a broken one is left out all the same."""
    assert kinds('+++\ntitle = "Larches"\n+++\n\nwords\n') == [
        ("title", "Larches"),
        ("page_furniture", 'title = "Larches"'),
        ("paragraph", "words"),
    ]
    assert kinds("+++\nbroken\n+++\n\nwords\n")[-1] == ("paragraph", "words")


def test_a_name_in_angle_brackets_that_is_no_tag_is_words():
    """Placeholders and type parameters; tags of HTML and of components are not shown."""
    assert kinds("Put <your-name> into List<String> and <kbd>Ctrl</kbd>.") == [
        ("paragraph", "Put <your-name> into List<String> and Ctrl."),
    ]
    assert kinds("See <Badge>new</Badge> and <Icon/> here.") == [("paragraph", "See new and  here.")]


def test_what_is_nested_too_deeply_to_be_read_is_not_lost_in_silence():
    parsed = parse(b"> " * 5000 + b"larch", "a.md", None, DEFAULT_LIMITS)
    assert (parsed.status, parsed.reason) == (ParseStatus.TOO_LARGE, "nested too deeply")


def test_cells_beyond_the_header_are_kept():
    """A bar inside code parts no cells; surplus cells are the last one's, with the links of the document."""
    text = (
        "| Op | Meaning |\n|----|----|\n| `a|b` | *or* |\n| `` a||b `` | lazy | or |\n| x | [y][k] | more | still |\n"
        "| `open | y | z |\n\n> | a | b |\n> |---|---|\n> | 1 | 2 | 3 |\n\n[k]: http://k\n"
    )
    blocks = parse(text.encode(), "a.md", None, DEFAULT_LIMITS).blocks
    rows = [[c.text for c in blocks[0].table.cells if c.row == r] for r in range(1, 5)]
    assert rows == [["a|b", "or"], ["a||b", "lazy | or"], ["x", "y | more | still"], ["`open", "y | z"]]
    assert blocks[0].links == ("http://k",)
    assert [c.text for c in blocks[1].table.cells] == ["a", "b", "1", "2 | 3"]
