"""Two parsers: when the second runs, which reading is kept, and the line that says why."""

import importlib.util
import io

import pytest
from docx import Document

from office_files import docx, p, zipped
from upwell.parse import media
from upwell.parse.adapters.unstructured import parse_unstructured
from upwell.parse.arbitrate.choose import Reading, arbitrated, choose, unstructured
from upwell.parse.arbitrate.signals import signals
from upwell.parse.arbitrate.witness import raw_text
from upwell.parse.failures import Unparsable, corrupt
from upwell.parse.limits import DEFAULT_LIMITS
from upwell.parse.outline import Outline
from upwell.parse.policy import ParsePolicy
from upwell.parse.route import parse
from upwell.records import Kind, ParsedDocument, ParseStatus

needs_extra = pytest.mark.skipif(
    importlib.util.find_spec("unstructured") is None, reason="the extra formats is not installed"
)
WORDS = " ".join(f"word{i}" for i in range(60))


def whole_docx(*paragraphs):
    """A file with all that strict readers ask for."""
    document = Document()
    for text in paragraphs:
        document.add_paragraph(text)
    file = io.BytesIO()
    document.save(file)
    return file.getvalue()


def reading(text, parser):
    outline = Outline(10**6)
    outline.add(Kind.PARAGRAPH, text)
    child = ParsedDocument(status=ParseStatus.OK, name="child")
    parsed = ParsedDocument(status=ParseStatus.OK, blocks=tuple(outline.blocks), parser=parser, children=(child,))
    return Reading(parsed, signals(parsed.blocks, WORDS))


def test_a_clean_first_reading_is_kept_without_a_second():
    """And says so, with its figures."""
    parsed = parse(docx(p(WORDS)), "a.docx", None, DEFAULT_LIMITS)
    assert parsed.choice == ("word/2: clean by itself (text coverage 100%, order 1.00), no second reading needed")
    assert parse(docx(p(WORDS)), "a.docx", None, DEFAULT_LIMITS, ParsePolicy(arbitrate=False)).choice == ""


def test_the_better_reading_is_kept_with_the_children_of_the_first():
    """The line names both, their scores and their figures."""
    kept = choose(reading(WORDS[:200], "one/1"), [reading(WORDS, "two/1")])
    assert kept.parser == "two/1"
    assert kept.children[0].name == "child"
    assert kept.choice.startswith("two/1: the better reading: one/1 0.")
    assert choose(reading(WORDS, "one/1"), [reading(WORDS, "two/1")]).parser == "one/1"
    assert "no other parser could read it" in choose(reading(WORDS[:200], "one/1"), []).choice


def test_a_doubtful_reading_asks_another_parser():
    """What the first left out is found by the second, whose reading is kept."""
    poor = ParsedDocument(status=ParseStatus.OK, parser="poor/1")
    kept = arbitrated(whole_docx(WORDS), media.DOCX, DEFAULT_LIMITS, lambda: poor)
    assert kept.parser != "poor/1"
    assert "the better reading" in kept.choice


def test_what_the_first_cannot_read_another_may():
    """The failure of one is told in the line of the other; where nobody can, the first one's reason stands."""

    def fails():
        raise corrupt("our reader stumbled")

    kept = arbitrated(whole_docx(WORDS), media.DOCX, DEFAULT_LIMITS, fails)
    assert "our reader stumbled" in kept.choice
    assert any(WORDS in block.text for block in kept.blocks)
    with pytest.raises(Unparsable, match="stumbled"):
        arbitrated(b"PK\x03\x04 cut", media.DOCX, DEFAULT_LIMITS, fails)
    with pytest.raises(Unparsable, match="stumbled"):
        arbitrated(zipped({"word/document.xml": "<w:p>"}), media.DOCX, DEFAULT_LIMITS, fails)


def test_the_raw_text_of_a_container():
    """Words in their order, entities resolved, what is written twice once; none for a type without a witness."""
    twice = "<w:r><mc:AlternateContent><mc:Fallback><w:t>again</w:t></mc:Fallback></mc:AlternateContent></w:r>"
    assert raw_text(docx(p("a &amp; b", more=twice) + p("c")), media.DOCX, DEFAULT_LIMITS).split() == [
        "a",
        "&",
        "b",
        "c",
    ]
    page = b"<html><head><title>t</title></head><p>one<script>x</script></p>&eacute;"
    assert raw_text(page, media.HTML, DEFAULT_LIMITS).split() == ["one", "é"]
    marked = b"<p><b>w</b>ord<br>x<sup>22</sup><span class='a'>y</span></p>"
    assert raw_text(marked, media.HTML, DEFAULT_LIMITS).split() == ["word", "x", "22", "y"]
    assert raw_text(b"%PDF", media.PDF, DEFAULT_LIMITS) is None


@pytest.mark.parametrize("opening", [b"<!--", b"<script a", b"<style>a", b"<b a"])
@pytest.mark.parametrize("kind", [media.HTML, media.MARKDOWN])
def test_what_opens_and_never_closes_hides_nothing_and_is_not_followed_each_time(opening, kind):
    """A megabyte of it would take hours if each were followed to the end. What closes later still hides."""
    words = raw_text(b"<!-- hidden --> seen " + opening * (1 << 18) + b" last", kind, DEFAULT_LIMITS).split()
    assert words[0] == "seen"
    assert words[-1] == "last"


def test_the_raw_text_of_markdown_has_no_words_of_its_tags():
    """A tag may go over lines; a comparison in code is none. Blank lines without end take no time."""
    tag = b'<img width="35"\n  class=small src=/a.svg\n  alt="Logo"> One\n[two](/address) [three][name] `i<n; j\n++k>m`'
    assert raw_text(tag, media.MARKDOWN, DEFAULT_LIMITS).split() == [
        *("One", "[two]", "[three]", "`i<n;", "j", "++k>m`"),
    ]
    assert raw_text(b"a" + b"\n" * 200_000, media.MARKDOWN, DEFAULT_LIMITS).split() == ["a"]


def test_a_tag_over_several_lines_leaves_no_doubt_about_markdown():
    """Its attributes are no words that the first reading lacks."""
    parsed = parse(
        b'# Go\n\n<img width="35" class="initial"\n  src="/logos/sdk.svg"> A language.', "a.md", None, DEFAULT_LIMITS
    )
    assert "clean by itself" in parsed.choice


@needs_extra
def test_unstructured_reads_into_our_blocks():
    """Headings, lists, tables with cells; no notice, no ping, no download."""
    page = (
        b"<h1>Head</h1><p>Some words stand here, enough to be told as prose.</p><ul><li>item</li></ul>"
        b"<table><tr><th>a</th><th>b</th></tr><tr><td>1</td><td>2</td></tr></table>"
    )
    parsed = parse_unstructured(page, media.HTML, DEFAULT_LIMITS)
    assert [b.kind for b in parsed.blocks] == [Kind.HEADING, Kind.PARAGRAPH, Kind.LIST_ITEM, Kind.TABLE]
    assert [c.text for c in parsed.blocks[3].table.cells] == ["a", "b", "1", "2"]


@needs_extra
@pytest.mark.parametrize("media_type", sorted(unstructured.PARTITIONERS))
def test_whatever_unstructured_raises_is_a_status(media_type):
    """Bytes of no format end as corrupt, or as some reading; nothing else escapes."""
    try:
        status = parse_unstructured(bytes(range(256)) * 3, media_type, DEFAULT_LIMITS).status
    except Unparsable as e:
        status = e.status
    assert status in {ParseStatus.CORRUPT, ParseStatus.OK}


def test_broken_letters_of_the_document_s_own_are_no_doubt_about_who_read_it():
    """Few of them are as clean as the rest; where they are many nobody else is asked, at any price."""
    mojibake = "caf\u00c3\u00a9 " * 3
    few = parse((mojibake + WORDS).encode(), "a.txt", None, DEFAULT_LIMITS)
    assert few.choice.startswith("plain/1: clean by itself")
    lost = parsed_of("word", "one/1")
    kept = arbitrated(("\u0001" * 50 + WORDS).encode(), media.PLAIN, DEFAULT_LIMITS, lambda: lost)
    assert kept.choice == "one/1: the letters of the document are broken, for any reader"


def parsed_of(text, parser):
    outline = Outline(10**6)
    outline.add(Kind.PARAGRAPH, text)
    return ParsedDocument(status=ParseStatus.OK, blocks=tuple(outline.blocks), parser=parser)
