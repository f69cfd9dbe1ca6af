"""Where documents point to, from the bytes of each format to what the registry is given."""

import io

import docx
import pytest
from docx.oxml import OxmlElement
from docx.oxml.ns import qn
from reportlab.pdfgen.canvas import Canvas

from upwell.chunk.links import LONGEST_LINK, MOST_LINKS, links_of
from upwell.embed import embedder_of
from upwell.parse.prepare import prepare_document
from upwell.records import Block, Kind

HYPERLINK = "http://schemas.openxmlformats.org/officeDocument/2006/relationships/hyperlink"
MARKDOWN = (
    "# A\n\n[b](b.md) and <https://x.org/y>, [mail](mailto:a@b.c), [here](#z), again [b](b.md).\n\n[r][1]\n\n"
    "| a |\n|---|\n| [t](t.md) |\n\n[1]: ref.md\n"
)
HTML = (
    "<html><body><nav><a href='/menu'>Menu</a></nav><main><p><a href='b.html?x=1#c'>b</a>"
    "<a href='javascript:x()'>j</a><a href='//cdn.org/x'>p</a></p>"
    "<table><tr><td><a href='t.html'>t</a></td></tr></table></main></body></html>"
)


def word():
    """A paragraph with a link within it."""
    document = docx.Document()
    document.add_heading("Title", 1)
    paragraph = document.add_paragraph("See ")
    link, run, text = (OxmlElement(name) for name in ("w:hyperlink", "w:r", "w:t"))
    link.set(qn("r:id"), document.part.relate_to("https://x.org/doc", HYPERLINK, is_external=True))
    text.text = "the page"
    run.append(text)
    link.append(run)
    paragraph._p.append(link)
    paragraph.add_run(" for more.")
    written = io.BytesIO()
    document.save(written)
    return written.getvalue()


def pdf():
    written = io.BytesIO()
    canvas = Canvas(written)
    canvas.drawString(72, 700, "See the page for more words than one.")
    canvas.linkURL("https://x.org/pdf", (72, 695, 200, 715))
    canvas.save()
    return written.getvalue()


def links(data, name):
    embedder = embedder_of("hash")
    made = prepare_document(data, name, None, tokenizer=embedder.tokenizer, model_fingerprint=embedder.fingerprint)
    assert made.chunks
    return made.links


def test_markdown():
    assert links(MARKDOWN.encode(), "a.md") == ("b.md", "https://x.org/y", "ref.md", "t.md")


def test_html_without_its_menus():
    assert links(HTML.encode(), "a.html") == ("b.html?x=1#c", "t.html")


def test_docx():
    assert links(word(), "a.docx") == ("https://x.org/doc",)


def test_pdf():
    """A link is a rectangle over the words."""
    assert links(pdf(), "a.pdf") == ("https://x.org/pdf",)


def test_mail():
    mail = b"From: a@b.c\r\nSubject: x\r\nMIME-Version: 1.0\r\nContent-Type: text/html\r\n\r\n<p>See <a href='https://x.org/m'>m</a></p>"
    assert links(mail, "a.eml") == ("https://x.org/m",)


def blocks(*given, kind=Kind.PARAGRAPH):
    return [Block(kind=kind, text="x", links=given)]


def test_links_are_bounded():
    """Five hundred, none too long; more of them change nothing."""
    many = [f"p{n}" for n in range(MOST_LINKS + 10)]
    assert links_of(blocks(*many)) == tuple(many[:MOST_LINKS])
    assert links_of(blocks("x" * LONGEST_LINK, "x" * (LONGEST_LINK + 1))) == ("x" * LONGEST_LINK,)


@pytest.mark.parametrize(
    "link",
    [
        "",
        " ",
        "#a",
        "//x.org",
        "mailto:a@b",
        "JavaScript:x",
        "data:text/html,x",
        "file:///etc/passwd",
        "a\nb",
        "\x00",
        "ftp://x",
    ],
)
def test_what_is_no_page_and_no_file_beside_is_left_out(link):
    assert links_of(blocks(link, "kept.md")) == ("kept.md",)


def test_links_of_menus_are_left_out():
    assert links_of(blocks("a.md", kind=Kind.PAGE_FURNITURE)) == ()
