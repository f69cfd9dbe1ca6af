"""Journal articles: sections, figures in figures, tables, notes, formulas, references."""

import pytest

from upwell.parse.limits import DEFAULT_LIMITS
from upwell.parse.route import parse
from upwell.records import ParseStatus

HEAD = '<article article-type="research-article" dtd-version="1.3" xml:lang="en" xmlns:xlink="http://www.w3.org/1999/xlink">'
FRONT = (
    "<front><article-meta><title-group><article-title>On <italic>ducks</italic></article-title></title-group>"
    "<contrib-group><contrib><name><surname>Lovelace</surname><given-names>Ada</given-names></name></contrib>"
    "</contrib-group><abstract><p>Short.</p></abstract></article-meta></front>"
)


def read(body, back=""):
    text = f"{HEAD}{FRONT}<body>{body}</body><back>{back}</back></article>"
    return parse(text.encode(), "a.xml", None, DEFAULT_LIMITS)


def said(parsed):
    return [(b.kind.value, b.text) for b in parsed.blocks[4:]]


def test_front_matter_and_sections():
    """Title, authors, abstract; levels by nesting; a title's own markup does not part its words."""
    parsed = read("<sec><title>One</title><p>a</p><sec><label>1.1</label><title>Two</title><p>b</p></sec></sec>")
    assert (parsed.title, parsed.language) == ("On ducks", "en")
    assert [(b.kind.value, b.level, b.text) for b in parsed.blocks] == [
        ("title", None, "On ducks"),
        ("paragraph", None, "Ada Lovelace"),
        ("heading", 1, "Abstract"),
        ("paragraph", None, "Short."),
        ("heading", 1, "One"),
        ("paragraph", None, "a"),
        ("heading", 2, "1.1 Two"),
        ("paragraph", None, "b"),
    ]


def test_figures_within_figures_and_notes_within_paragraphs():
    """What is a block of its own in a paragraph stands after it."""
    figure = "<fig><label>Figure {}.</label><caption><title>T</title></caption>{}<graphic/></fig>"
    inner = f"<p>{figure.format(2, '')}</p>"
    assert said(read(f"<p>be<fn><p>note</p></fn>fore</p>{figure.format(1, inner)}")) == [
        ("paragraph", "before"),
        ("footnote", "note"),
        ("figure", ""),
        ("caption", "Figure 1. T"),
        ("figure", ""),
        ("caption", "Figure 2. T"),
    ]


def test_tables_lists_formulas_and_references():
    """A caption before its table, list levels, LaTeX from both kinds of formulas, a reference as one line."""
    parsed = read(
        "<table-wrap><label>Table 1</label><table><thead><tr><th>a</th><th>b</th></tr></thead><tbody><tr><td>1</td>"
        "<td>2</td></tr></tbody></table></table-wrap><list><list-item><p>x</p><list><list-item><p>y</p></list-item>"
        r"</list></list-item></list><disp-formula><tex-math>\begin{document}$$x^2$$\end{document}</tex-math>"
        '</disp-formula><p>so <inline-formula><math xmlns="http://www.w3.org/1998/Math/MathML"><mi>y</mi></math>'
        "</inline-formula></p>",
        "<ref-list><ref><label>1</label><mixed-citation>Someone, <source>Book</source>.</mixed-citation></ref></ref-list>",
    )
    assert said(parsed) == [
        ("caption", "Table 1"),
        ("table", "a | b\n1 | 2"),
        ("list_item", "x"),
        ("list_item", "y"),
        ("formula", "x^2"),
        ("paragraph", "so $y$"),
        ("heading", "References"),
        ("list_item", "1 Someone, Book."),
    ]
    assert [b.level for b in parsed.blocks if b.kind == "list_item"] == [1, 2, 1]


@pytest.mark.parametrize(
    ("body", "status"),
    [("<sec>" * 120 + "</sec>" * 120, ParseStatus.TOO_LARGE), ("<sec>", ParseStatus.CORRUPT)],
)
def test_what_is_broken_says_so(body, status):
    """Nested too deeply, and not well-formed."""
    assert read(body).status is status
