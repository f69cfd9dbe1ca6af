"""Documents without styles: short lines of bold, larger type between the paragraphs are their headings."""

import pytest

from office_files import docx, p
from upwell.parse.limits import DEFAULT_LIMITS
from upwell.parse.policy import ParsePolicy
from upwell.parse.route import parse
from upwell.records import Kind

STYLES = (
    '<w:docDefaults><w:rPrDefault><w:rPr><w:sz w:val="22"/></w:rPr></w:rPrDefault></w:docDefaults>'
    '<w:style w:type="paragraph" w:styleId="H1"><w:name w:val="heading 1"/></w:style>'
    '<w:style w:type="paragraph" w:styleId="Code"><w:name w:val="Code"/></w:style>'
    '<w:style w:type="paragraph" w:styleId="Big"><w:name w:val="Shout"/><w:rPr><w:b/><w:sz w:val="30"/></w:rPr></w:style>'
)
WORDS = p("What is told below it goes on for a while, in a few words more than a line would need.")


def line(text, size=28, bold="<w:b/>", more=""):
    return p(more=f'<w:r><w:rPr>{bold}<w:sz w:val="{size}"/></w:rPr><w:t>{text}</w:t></w:r>{more}')


def blocks(body):
    return parse(docx(body, styles=STYLES), "a.docx", None, DEFAULT_LIMITS, ParsePolicy()).blocks


def headings(body):
    return [(block.level, block.text) for block in blocks(body) if block.kind is Kind.HEADING]


def test_levels_are_by_size_and_what_is_below_knows_its_headings():
    """The largest is the highest; a style of any name that is bold and large counts as well."""
    body = p("All of it", "Big") + WORDS + line("Part") + line("Point", 24) + WORDS + line("Other") + WORDS
    assert headings(body) == [(1, "All of it"), (2, "Part"), (3, "Point"), (2, "Other")]
    assert [block.heading_path for block in blocks(body) if block.kind is Kind.PARAGRAPH] == [
        ("All of it",),
        ("All of it", "Part", "Point"),
        ("All of it", "Other"),
    ]


@pytest.mark.parametrize(
    "body",
    [
        pytest.param(line("As large as the rest", 22) + WORDS, id="not larger"),
        pytest.param(line("Not bold", bold="") + WORDS, id="not bold"),
        pytest.param(line("Ends as a sentence does.") + WORDS, id="a sentence"),
        pytest.param(line("Bold", more="<w:r><w:t>, then not</w:t></w:r>") + WORDS, id="partly bold"),
        pytest.param(line("many words " * 12) + WORDS, id="long"),
        pytest.param(WORDS + line("Yours truly"), id="nothing below"),
        pytest.param(line("Shown large") + WORDS + p("A heading by its style", "H1") + WORDS, id="has styles"),
    ],
)
def test_what_is_no_such_line_stays_a_paragraph(body):
    """Only lines that could be nothing else are taken, and only where the document has no headings of its own."""
    assert all(text == "A heading by its style" for _, text in headings(body))
    assert any(block.kind is Kind.PARAGRAPH and block.text not in WORDS for block in blocks(body))


def test_a_blank_line_of_code_above_hides_no_such_line():
    """Blank lines of code are no block, so they change nothing for the line below them."""
    assert headings(p("", "Code") + line("Part") + WORDS) == [(1, "Part")]
