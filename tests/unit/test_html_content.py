"""Which words of a page are its content: the article is never lost, what is around it is counted out with its reason."""

import pytest

from upwell.parse.html.page import parse_html
from upwell.parse.limits import DEFAULT_LIMITS
from upwell.records import Kind

SAID = (
    "The larch is a deciduous conifer that sheds its needles every autumn, turning whole hillsides gold before snow. "
)
ARTICLE = f"<h1>Larches</h1><p>{SAID}</p><p>{SAID}</p><p>{SAID}</p>"


def split(body, head=""):
    blocks = parse_html(f"<html><head>{head}</head><body>{body}</body></html>", DEFAULT_LIMITS).blocks
    kept = "\n".join(b.text for b in blocks if b.kind is not Kind.PAGE_FURNITURE)
    return kept, {b.text: b.left_out for b in blocks if b.kind is Kind.PAGE_FURNITURE}


@pytest.mark.parametrize(
    "around",
    [
        "<nav><a href=/>Odd one</a></nav>",
        "<footer>Odd one</footer>",
        "<div role=contentinfo>Odd one</div>",
        '<div class="site-header"><a href="/">Odd one</a></div>',
        f'<div id="cookieConsent"><p>Odd one. {SAID}</p></div>',
        '<div class="share-bar"><a href="#">Odd one</a></div>',
        '<ul class="breadcrumb"><li><a href="/">Odd one</a></ul>',
        '<div class="x9"><ul><li><a href="/1">Odd one</a></li><li><a href="/2">Two</a></li></ul></div>',
        f'<section id="comments"><div class="comment"><p>Odd one {SAID * 9}</p></div></section>',
        "<aside><p>Odd one</p></aside>",
        "<form><select><option>Odd one</option></select></form>",
        '<div role="dialog"><p>Odd one</p></div>',
        '<div class="newsletter-signup"><p>Odd one in your inbox every single week, for nothing at all.</p></div>',
    ],
)
def test_what_is_around_an_article_is_counted_out(around):
    """Landmarks, names and links, before and after the article, in a wrapper or not."""
    for page in (f"{around}<div><div>{ARTICLE}</div></div>", f"<div><div>{ARTICLE}</div></div>{around}"):
        kept, out = split(page)
        assert "Odd one" not in kept
        assert kept.count("larch") == 3
        assert "Odd one" in "".join(out)


@pytest.mark.parametrize(
    "page",
    [
        f'<div id="menu"><p>Find me. {SAID * 3}</p></div>',
        f'<div class="sidebar">{ARTICLE} Find me</div><p>few words</p>',
        f"<header><h1>Find me</h1></header><main><p>{SAID * 3}</p></main>",
        f'<div class="page-header"><h1>Find me</h1></div><div class="c"><p>{SAID}</p><p>{SAID * 2}</p></div>',
        "".join(f'<div class="comment"><p>Find me {SAID}</p></div>' for _ in range(4)),
        "<ul>" + "<li><a href=/x>Find me</a></li>" * 9 + "</ul>",
        "<nav><p>Find me, all that there is</p></nav>",
        f"<article><h2>Find me</h2><p>{SAID}</p></article><article><h2>b</h2><p>{SAID * 2}</p></article>",
        f'{ARTICLE}<aside class="note">Find me</aside>'.join(["<main>", "</main>"]),
        f"<main>{ARTICLE}<h2>See also</h2><ul><li><a href=/1>Find me</a></li><li><a href=/2>b</a></li></ul></main>",
        f"<div>{ARTICLE}</div><pre><a href=/1>Find me: int find(tree larch, int metres, char *name)</a></pre>",
        f"<main>{ARTICLE}</main><div><p>Find me. {SAID}</p></div>",
        f"{ARTICLE}<blockquote>words<footer>Find me</footer></blockquote>",
        '<body style="visibility:hidden"><p>Find me</p></body>',
    ],
)
def test_content_is_kept_whatever_it_is_called(page):
    """Names and link lists decide nothing where the page's own words are in them."""
    assert "Find me" in split(page)[0]


@pytest.mark.parametrize(
    "hidden",
    [
        "<p hidden>secret</p>",
        "<p aria-hidden='true'>secret</p>",
        "<p style='display : NONE'>secret</p>",
        "<div style='visibility:hidden'><p>secret</p></div>",
        "<p style='opacity:0;'>secret</p>",
        "<p style='font-size:0px'>secret</p>",
        "<p style='position:absolute;left:-9999px'>secret</p>",
        "<template><p>secret</p></template>",
        "<noscript>secret</noscript>",
        "<dialog>secret</dialog>",
        "<p>seen <span hidden>secret</span> words</p>",
        "<h2>seen</h2><h2 hidden>secret</h2>",
    ],
)
def test_hidden_nodes_are_counted_out_as_hidden(hidden):
    """Whatever way a page hides them."""
    kept, out = split(f"<p>before</p>{hidden}<p>after</p>")
    assert "secret" not in kept
    assert out == {"secret": "hidden"}


@pytest.mark.parametrize(
    "code", ["<script>secret()</script>", "<style>secret {}</style>", "<!-- secret -->", "<svg><text>secret"]
)
def test_code_and_drawings_are_no_words(code):
    """They are neither content nor left out."""
    kept, out = split(f"<p>before</p>{code}")
    assert (kept, out) == ("before", {})


@pytest.mark.parametrize(
    ("sheet", "is_hidden"),
    [
        (".x { color: red; display: none }", True),
        ("p.x, .y { visibility: hidden }", True),
        ("#i{/* a } */display:none}", True),
        (".x{display:none} .x.open{display:block}", False),
        ("@media print { .x { display: none } }", False),
        (".z .x { display: none }", False),
        (".z { display: none }", False),
        ("@media screen { .z { color: red } } .x { display: none }", True),
    ],
)
def test_a_style_sheet_hides_what_no_other_rule_shows(sheet, is_hidden):
    """A class alone, an id; not for print, not until somebody opens it."""
    kept, out = split('<p>before, at some length</p><p class="x y" id="i">secret</p>', f"<style>{sheet}</style>")
    assert ("secret" not in kept) is is_hidden
    assert out == ({"secret": "hidden"} if is_hidden else {})


def test_a_page_that_a_script_shows_is_not_hidden():
    """Its style sheet hides all of it until then."""
    assert "larch" in split(f'<div class="x">{ARTICLE}</div>', "<style>.x{opacity:0}</style>")[0]


def test_a_hidden_part_of_a_paragraph_does_not_part_it():
    """Its words stand beside the paragraph, not in it."""
    kept, out = split('<p>Euler <span aria-hidden="true">noise</span>was <button>Copy</button>here.</p>')
    assert kept == "Euler was here."
    assert out == {"noise": "hidden", "Copy": "boilerplate"}
