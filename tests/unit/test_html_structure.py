"""What HTML says of its words: tables, lists, code, formulas, figures, links, spaces; and how deep and large it may be."""

import time

import pytest

from upwell.parse.failures import Unparsable
from upwell.parse.html.page import parse_html
from upwell.parse.limits import DEFAULT_LIMITS
from upwell.records import ParseStatus


def read(html):
    return parse_html(html, DEFAULT_LIMITS)


def kinds(html):
    return [(b.kind.value, b.text) for b in read(html).blocks]


def grid(html):
    table = next(b.table for b in read(html).blocks if b.table)
    return table.rows, table.cols, [(c.row, c.col, c.text, c.header) for c in table.cells]


def test_spans_and_headers_are_placed_as_a_browser_does():
    """A cell that reaches down pushes the next row's cells to the right."""
    rows, cols, cells = grid(
        "<table><thead><tr><th rowspan=2>a<th colspan=2>b</thead><tr><td>c<td>d<tr><td>e<td>f<td>g</table>"
    )
    assert (rows, cols) == (3, 3)
    assert cells == [
        (0, 0, "a", True),
        (0, 1, "b", True),
        (1, 1, "c", False),
        (1, 2, "d", False),
        (2, 0, "e", False),
        (2, 1, "f", False),
        (2, 2, "g", False),
    ]


def test_a_first_row_in_bold_is_a_header():
    """Where no row is marked as one."""
    assert [h for *_, h in grid("<table><tr><td><b>a</b><td><p><b>b</b></p><tr><td>1<td>2</table>")[2]] == [
        True,
        True,
        False,
        False,
    ]


def test_tables_in_cells_are_tables_of_their_own():
    """The outer cell keeps its own words alone, so that nothing is said twice."""
    html = "<table><tr><td>a<td>b<tr><td>c<td>d<table><tr><td>1<td>2<tr><td>3<td>4</table></table>"
    assert kinds(html) == [("table", "a | b\nc | d"), ("table", "1 | 2\n3 | 4")]


@pytest.mark.parametrize(
    "table",
    [
        "<table role=presentation><tr><td>a<td>b<tr><td>c<td>d</table>",
        "<table><tr><td>a<td>b</table>",
        "<table><tr><td>a<tr><td>b</table>",
        "<table><tr><td>a<td>b<tr><td>c<td><h1>H</h1></table>",
        "<table><tr><td>a<td>b<tr><td>c<td><p>" + "word " * 100 + "<p>" + "word " * 100 + "</table>",
    ],
)
def test_a_table_that_lays_out_the_page_is_unwrapped(table):
    """Its cells are paragraphs and what else is in them."""
    assert "table" not in {kind for kind, _ in kinds(table)}
    assert ("paragraph", "a") in kinds(table)


def test_lists_have_levels():
    """Nested lists, and definition lists: the term above what it means."""
    html = "<ol><li>a<ul><li>b</ul><li><p>c</ol><dl><dt>term<dd>meaning</dl>"
    assert [(b.kind.value, b.level, b.text) for b in read(html).blocks] == [
        ("list_item", 1, "a"),
        ("list_item", 2, "b"),
        ("list_item", 1, "c"),
        ("list_item", 1, "term"),
        ("list_item", 2, "meaning"),
    ]


@pytest.mark.parametrize(
    ("html", "language", "code"),
    [
        ("<pre>\n a\n  b\n</pre>", None, " a\n  b"),
        ('<pre><code class="language-rust">fn</code></pre>', "rust", "fn"),
        ('<div class="highlight-python notranslate"><div class="highlight"><pre>x</pre></div></div>', "python", "x"),
        ('<pre data-lang="go">x</pre>', "go", "x"),
        ("<pre>a<br>b</pre>", None, "a\nb"),
        ("<pre><div>a</div><div>b</div></pre>", None, "a\nb"),
        ('<pre><span class="lineno">1</span>a</pre>', None, "a"),
        ("<pre>a<button>copy</button></pre>", None, "a"),
        ('<table class="highlighttable"><tr><td class="linenos"><pre>1</pre><td><pre>a</pre></table>', None, "a"),
    ],
)
def test_code_keeps_its_lines_and_its_language(html, language, code):
    """Without line numbers, wherever its highlighter puts the language."""
    assert [(b.language, b.text) for b in read(html).blocks if b.kind.value == "code"] == [(language, code)]


def test_formulas_are_latex():
    """As their author wrote it, else made from MathML; display formulas stand alone."""
    tex = '<semantics><mi>x</mi><annotation encoding="application/x-tex">x^{2}</annotation></semantics>'
    assert kinds(f"<p>so <math>{tex}</math> is</p>") == [("paragraph", "so $x^{2}$ is")]
    assert kinds("<p>a</p><math display=block><mfrac><mi>a</mi><mi>b</mi></mfrac></math>")[1] == (
        "formula",
        r"\frac{a}{b}",
    )
    assert kinds('<p>a</p><script type="math/tex; mode=display">y</script>')[1] == ("formula", "y")


def test_figures_have_alt_texts_and_captions():
    """Ornaments and tracking pixels are no figures; an image among words is its alt text."""
    assert kinds('<figure><img src=a alt="A larch"><figcaption>Gold</figcaption></figure>') == [
        ("figure", "A larch"),
        ("caption", "Gold"),
    ]
    assert kinds('<p>press <img alt="OK"> now</p><img alt=""><img src=p width=1 height=1>') == [
        ("paragraph", "press OK now")
    ]


def test_words_are_neither_joined_nor_parted():
    """Inline markup, entities, breaks, soft hyphens, spaces of all kinds."""
    html = "<p>H<sub>2</sub>O, <b>bo</b>ld&nbsp;caf&eacute; &amp;\n   <i> x </i>y<br>next do&shy;nau<wbr>dampf</p>"
    assert kinds(html) == [("paragraph", "H2O, bold café & x y\nnext donaudampf")]


def test_links_are_kept_as_written_and_the_empty_ones_are_not():
    """Nobody follows `javascript:` or the place where one is."""
    html = '<p><a href="https://x.y/z?q=1#f">a</a><a href="/rel">b</a><a href="#top">c</a><a href="javascript:x()">d</a></p>'
    assert read(html).blocks[0].links == ("https://x.y/z?q=1#f", "/rel")


def test_headings_lose_the_sign_that_links_to_them():
    """Generators of documentation put one after each."""
    assert kinds('<h2>Install<a class="headerlink" href="#install">¶</a></h2>') == [("heading", "Install")]


@pytest.mark.parametrize(
    ("head", "body", "title", "first"),
    [
        ("<title>T</title>", "<h1>H</h1>", "T", "title"),
        ("<title>H | Site</title>", "<h1>H</h1>", "H | Site", "heading"),
        ("", "<h1>H</h1>", "H", "heading"),
        ("", "<svg><title>icon</title></svg><p>x</p>", None, "paragraph"),
    ],
)
def test_the_title_is_the_pages_own(head, body, title, first):
    """A title that repeats the heading is not said twice."""
    parsed = read(f"<html><head>{head}</head><body>{body}</body></html>")
    assert (parsed.title, parsed.blocks[0].kind.value) == (title, first)


@pytest.mark.parametrize("tag", ["div", "b", "blockquote", "ul><li", "table><tr><td", "span hidden", "aside", "pre"])
def test_a_thousand_levels_are_read_and_more_are_refused(tag):
    """Nothing recurses; what the parser would lose is too large, not empty."""
    assert "larch" in "".join(b.text for b in read(f"<{tag}>" * 600 + "larch").blocks)
    with pytest.raises(Unparsable) as refused:
        read(f"<{tag}>" * 200_000 + "larch")
    assert refused.value.status is ParseStatus.TOO_LARGE


@pytest.mark.parametrize(
    "html",
    [
        "<aside class='nav comments'>" * 1500 + "words in prose, and more of them. " * 40_000,
        "<table><tr><th>a<td>" * 500 + "words in prose, and more of them. " * 40_000,
        "<p>" + "<span hidden>a" * 1500 + "words in prose, and more of them. " * 40_000,
        '<p style="' + "opacity : " * 200_000 + '">x',
    ],
)
def test_no_step_is_quadratic(html):
    """Weighed once, each word costs the same however many elements it is in."""
    started = time.process_time()
    read(html)
    assert time.process_time() - started < 5


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("10<sup>-3</sup> and 10<sup>\N{MINUS SIGN}3</sup> m", "10^-3 and 10^\N{MINUS SIGN}3 m"),
        ("x<sup>2</sup> and (a + b)<sup>2</sup>", "x^2 and (a + b)^2"),
        ("<i>x</i><sup>2</sup>", "x^2"),
        ("H<sub>2</sub>O", "H2O"),
        ("the 1<sup>st</sup> of May", "the 1st of May"),
        ('a lake.<sup><a href="#c1">[1]</a></sup>', "a lake.[1]"),
    ],
)
def test_a_raised_number_is_a_power(words, said):
    """In paragraphs, in headings, in cells; what is lowered, and letters that are raised, stay part of the word."""
    assert kinds(f"<p>{words}</p>") == [("paragraph", said)]
    assert kinds(f"<h2>{words}</h2>") == [("heading", said)]
    assert grid(f"<table><tr><th>a<th>b<tr><td>{words}<td>1</table>")[2][2][2] == said


@pytest.mark.parametrize(
    ("html", "said"),
    [
        ("<p><a href=/x>Oak</a><span>99</span></p>", "Oak99"),
        ("<p><a href=/x>Oak</a> <span>99</span></p>", "Oak 99"),
        ("<div style='display: flex'><a href=/x>Oak</a><span>99</span>each</div>", "Oak 99 each"),
        ("<p>Oak<span style='display:block'>99</span>each</p>", "Oak 99 each"),
        ("<p>Oak<span style='display:inline'>99</span></p>", "Oak99"),
        ("<p><label>Name</label><input name=n><label>City</label><input name=c></p>", "Name City"),
    ],
)
def test_words_are_apart_where_they_are_shown_apart(html, said):
    """A space of the source, a layout, a field of a form; nothing else parts what stands in one line."""
    assert kinds(html) == [("paragraph", said)]


def test_the_words_of_a_form_are_kept_or_counted_out():
    """Labels are words; what is on a button or in a field is furniture, and parts what is beside it."""
    html = (
        "<form><label>Colour</label><button>Red</button><output>ok</output>"
        "<p>Note <textarea>none yet</textarea><input type=submit value='Send it'></p></form>"
    )
    blocks = read(f"<body><p>Words before it.</p>{html}</body>").blocks
    assert [(b.kind.value, b.left_out, b.text) for b in blocks[1:]] == [
        ("paragraph", None, "Colour ok"),
        ("page_furniture", "boilerplate", "Red"),
        ("paragraph", None, "Note"),
        ("page_furniture", "boilerplate", "none yet\nSend it"),
    ]
