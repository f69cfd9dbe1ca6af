"""Books: chapters in the order of the spine, as the pages that they are."""

import pytest

from office_files import zipped
from upwell.parse.limits import DEFAULT_LIMITS
from upwell.parse.route import parse
from upwell.records import ParseStatus

CONTAINER = '<container><rootfiles><rootfile full-path="OEBPS/book.opf"/></rootfiles></container>'
XHTML = 'media-type="application/xhtml+xml"'
OPF = (
    '<package xmlns:dc="http://purl.org/dc/elements/1.1/"><metadata><dc:title>A book</dc:title><dc:language>en-GB'
    f'</dc:language></metadata><manifest><item id="b" href="b%20two.xhtml" {XHTML}/><item id="a" href="a.xhtml" {XHTML}/>'
    f'<item id="n" href="nav.xhtml" properties="nav" {XHTML}/></manifest><spine><itemref idref="n"/><itemref idref="a"/>'
    '<itemref idref="b"/></spine></package>'
)
WORDS = "Enough words for a paragraph that nobody takes for a menu."


def book(**more):
    parts = {
        "mimetype": "application/epub+zip",
        "META-INF/container.xml": CONTAINER,
        "OEBPS/book.opf": OPF,
        "OEBPS/a.xhtml": f"<html><head><title/></head><body><a id='x'/><h1>One</h1><p>{WORDS}</p></body></html>",
        "OEBPS/b two.xhtml": f"<html><head><title>Chapter</title></head><body><p>Two. {WORDS}</p></body></html>",
        "OEBPS/nav.xhtml": "<html><body><nav><ol><li>One</li></ol></nav></body></html>",
    }
    return zipped({**parts, **more})


def test_chapters_stand_in_the_order_of_the_spine():
    """Each under its own headings, the table of contents left out, names with escapes found."""
    parsed = parse(book(), "a.epub", None, DEFAULT_LIMITS)
    assert (parsed.title, parsed.language) == ("A book", "en")
    assert [(b.kind.value, b.text, b.heading_path) for b in parsed.blocks] == [
        ("title", "A book", ()),
        ("heading", "One", ()),
        ("paragraph", WORDS, ("One",)),
        ("paragraph", f"Two. {WORDS}", ()),
    ]


@pytest.mark.parametrize(
    ("more", "status"),
    [
        ({"META-INF/encryption.xml": '<e><EncryptionMethod Algorithm="aes"/></e>'}, ParseStatus.ENCRYPTED),
        (
            {"META-INF/encryption.xml": '<e><EncryptionMethod Algorithm="http://www.idpf.org/2008/embedding"/></e>'},
            ParseStatus.OK,
        ),
        ({"META-INF/container.xml": "<container/>"}, ParseStatus.CORRUPT),
        ({"OEBPS/book.opf": "<package"}, ParseStatus.CORRUPT),
    ],
)
def test_locked_and_broken_books_say_so(more, status):
    """A licence is a lock, a veiled font is not; no book, and one that is not well-formed."""
    assert parse(book(**more), "a.epub", None, DEFAULT_LIMITS).status is status
