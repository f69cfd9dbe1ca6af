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


SHORT = "<div><h1>Larches</h1><p>They shed their needles.</p><p>Hills turn gold.</p><p>Snow bends them.</p></div>"


@pytest.mark.parametrize(
    "around",
    [
        '<div id="mw-navigation"><ul><li><a href=/1>Odd one</a></li></ul></div>',
        '<div class="sphinxsidebar"><h3>Contents</h3><ul><li><a href=/1>Odd one</a></li></ul></div>',
        '<ol class="breadcrumb"><li><a href="/">Odd one</a></li><li>Larches</li></ol>',
        '<div class="toc"><h2>Contents</h2><a href=#a>Odd one</a></div>',
        '<div class="navbox"><table><tr><th>Trees</th></tr><tr><td><a href=/1>Odd one</a></td></tr></table></div>',
        '<div class="catlinks">Kinds: <a href=/1>Odd one</a></div>',
        '<div class="footer">Odd one, 2026</div>',
        '<div id="footer"><ul><li>Odd one was last seen on the 3rd of May.</li></ul></div>',
        '<div role="navigation">Odd one</div>',
        '<section class="related"><h2>Others</h2><div><a href=/1>Odd one</a><span>99</span></div></section>',
    ],
)
def test_navigation_by_its_own_name_is_counted_out_of_a_short_page(around):
    """Where no article tells what is beside it; its heading goes with it."""
    for page in (around + SHORT, SHORT + around):
        kept, out = split(page)
        assert kept == "Larches\nThey shed their needles.\nHills turn gold.\nSnow bends them."
        assert "Odd one" in "".join(out)


@pytest.mark.parametrize(
    "page",
    [
        f'{SHORT}<div class="sidebar"><p>Find me</p></div>',
        f'{SHORT}<div class="has-toc"><a href=/1>Find me</a></div>',
        '<div class="related"><a href=/1>Find me</a><a href=/2>Another</a></div>',
        f'<article>{SHORT}<div class="footer">Find me</div></article>',
        f"{SHORT}<div><h2>Find me</h2><p>words</p></div>",
    ],
)
def test_a_short_page_keeps_what_is_no_list_of_links(page):
    """What is called navigation but has no links, what is all that there is, an article's own foot."""
    assert "Find me" in split(page)[0]


def test_a_heading_goes_with_the_links_below_it():
    """Beside the content; one with words below it stays."""
    cards = "<div><a href=/1>Oak</a><b>9</b></div><div><a href=/2>Ash</a><b>8</b></div>"
    kept, out = split(f"<div>{ARTICLE}</div><div><h2>Others like it</h2>{cards}</div>")
    assert "Others" not in kept
    assert "Others like it" in "".join(out)
    kept, out = split(f"<div>{ARTICLE}</div><h2>Others like it</h2>{cards}<h2>About us</h2><p>Few words.</p>")
    assert "Others" not in kept
    assert "About us" in kept


def test_the_sign_that_links_to_a_term_is_counted_out():
    """Not only in headings."""
    kept, out = split(
        f'{SHORT}<dl><dt>close()<a class="headerlink" href="#close">\u00b6</a></dt><dd>Ends it.</dd></dl>'
    )
    assert "close()\nEnds it." in kept
    assert out == {"\u00b6": "boilerplate"}


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
