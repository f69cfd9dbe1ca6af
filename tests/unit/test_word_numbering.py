"""The numbers that Word writes by itself stand before the headings and clauses that others refer to by them."""

from office_files import docx, p
from upwell.parse.limits import DEFAULT_LIMITS
from upwell.parse.policy import ParsePolicy
from upwell.parse.route import parse
from upwell.records import Kind

STYLES = (
    '<w:style w:type="paragraph" w:styleId="H1"><w:name w:val="heading 1"/>'
    '<w:pPr><w:numPr><w:numId w:val="1"/></w:numPr></w:pPr></w:style>'
    '<w:style w:type="paragraph" w:styleId="H2"><w:name w:val="heading 2"/>'
    '<w:pPr><w:numPr><w:ilvl w:val="1"/><w:numId w:val="1"/></w:numPr></w:pPr></w:style>'
)


def level(number, form, text, start=1, more=""):
    return (
        f'<w:lvl w:ilvl="{number}"><w:start w:val="{start}"/><w:numFmt w:val="{form}"/>{more}'
        f'<w:lvlText w:val="{text}"/></w:lvl>'
    )


def lists(*abstracts, nums=""):
    """Abstract lists by number from 0, and a list of the number above for each."""
    made = "".join(
        f'<w:abstractNum w:abstractNumId="{n}">{levels}</w:abstractNum>' for n, levels in enumerate(abstracts)
    )
    own = "".join(f'<w:num w:numId="{n + 1}"><w:abstractNumId w:val="{n}"/></w:num>' for n in range(len(abstracts)))
    return made + own + nums


def at(text, depth, number=1):
    return p(text, "", f'<w:numPr><w:ilvl w:val="{depth}"/><w:numId w:val="{number}"/></w:numPr>')


def texts(body, numbering):
    parsed = parse(docx(body, styles=STYLES, numbering=numbering), "a.docx", None, DEFAULT_LIMITS, ParsePolicy())
    return [block.text for block in parsed.blocks if block.kind in {Kind.HEADING, Kind.LIST_ITEM}]


OUTLINE = level(0, "decimal", "%1.") + level(1, "decimal", "%1.%2") + level(2, "lowerLetter", "(%3)")


def test_headings_and_clauses_have_the_numbers_of_their_lists():
    """By the style or the paragraph itself; deeper levels begin anew below each higher one."""
    body = p("Scope", "H1") + p("Terms", "H2") + p("Parts", "H2") + p("Duties", "H1") + at("To pay", 1)
    body += at("at once", 2) + at("in full", 2) + at("To tell", 1) + at("all", 2)
    assert texts(body, lists(OUTLINE)) == [
        "1. Scope", "1.1 Terms", "1.2 Parts", "2. Duties",
        "2.1 To pay", "(a) at once", "(b) in full", "2.2 To tell", "(a) all",
    ]  # fmt: skip


def test_starts_restarts_and_forms():
    """A list may start elsewhere, go on below another heading, begin anew for a list of its own, and be Roman."""
    numbering = lists(
        level(0, "upperRoman", "Part %1", start=4)
        + level(1, "decimal", "%1.%2", more='<w:isLgl/><w:lvlRestart w:val="0"/>'),
        nums='<w:num w:numId="9"><w:abstractNumId w:val="0"/>'
        '<w:lvlOverride w:ilvl="0"><w:startOverride w:val="29"/></w:lvlOverride></w:num>',
    )
    body = at("a", 0) + at("b", 1) + at("c", 0) + at("d", 1) + at("e", 0, 9) + at("f", 0, 9)
    assert texts(body, numbering) == ["Part IV a", "4.1 b", "Part V c", "5.2 d", "Part XXIX e", "Part XXX f"]


def test_bullets_and_plain_counts_of_items_are_not_said():
    """A mark is no number, and `3.` before an item says no more than its place."""
    numbering = lists(level(0, "bullet", "\u2022"), level(0, "decimal", "%1."), level(0, "ordinal", "%1"))
    assert texts(at("a", 0, 1) + at("b", 0, 2) + at("c", 0, 3) + at("d", 0, 7), numbering) == ["a", "b", "c", "d"]


def test_empty_paragraphs_and_cells_count_and_a_written_number_is_not_doubled():
    """Word shows a number there as well; who typed the same number before it meant this one."""
    cell = f"<w:tc>{at('x', 1)}</w:tc><w:tc>{p('y')}</w:tc>"
    body = p("One", "H1") + at("", 1) + f"<w:tbl><w:tr>{cell}</w:tr></w:tbl>" + at("1.3 typed", 1) + at("next", 1)
    assert texts(body, lists(OUTLINE)) == ["1. One", "1.3 typed", "1.4 next"]


def test_hostile_counts_stay_short():
    """A Roman numeral of a huge count, or a label as long as a page, is not written."""
    numbering = lists(level(0, "lowerRoman", "%1.", start=99_999), level(0, "lowerLetter", "x" * 5_000 + "%1"))
    assert texts(at("a", 0, 1) + at("b", 0, 2), numbering) == ["a", "b"]
