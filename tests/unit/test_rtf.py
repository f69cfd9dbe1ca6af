"""RTF: what a word processor writes becomes blocks; what is cut, hostile or left out says so."""

import pytest

from upwell.parse.limits import DEFAULT_LIMITS
from upwell.parse.policy import ParsePolicy
from upwell.parse.route import parse
from upwell.records import Kind, ParseStatus

HEAD = (
    r"{\rtf1\ansi\ansicpg1252\deff0{\fonttbl{\f0\fcharset0 Times;}{\f1\fcharset204 Cyr;}}"
    r"{\stylesheet{\s0 Normal;}{\s1\outlinelevel0 heading 1;}{\s2\outlinelevel1 My chapter;}{\s5 caption;}{\s6 Plain Text;}}"
    r"{\info{\title Not shown}}"
)


def read(body, policy=None):
    data = (HEAD + body + "}").encode("latin-1")
    return parse(data, "a.rtf", None, DEFAULT_LIMITS, policy or ParsePolicy())


def blocks(body, policy=None):
    return [(b.kind, b.text) for b in read(body, policy).blocks]


def test_headings_by_style_name_and_by_outline_level():
    """A style of any name with an outline level is a heading; `pard` ends it."""
    parsed = read(r"\pard\s1 One\par\pard\s2 Two\par\pard words\par\pard\outlinelevel2 Three\par")
    assert [(b.kind, b.level, b.text) for b in parsed.blocks] == [
        (Kind.HEADING, 1, "One"),
        (Kind.HEADING, 2, "Two"),
        (Kind.PARAGRAPH, None, "words"),
        (Kind.HEADING, 3, "Three"),
    ]
    assert parsed.title == "Not shown"


def test_letters_by_code_page_and_by_number():
    """A font's code page, Unicode with its stand-in passed over, and pairs of half surrogates."""
    assert blocks(r"{\f1 \'cf\'f0\'e8} \u8364?\'80 \u-10179?\u-8704?\par") == [(Kind.PARAGRAPH, "При €€ \U0001f600")]


def test_a_table_has_merged_cells_and_a_header():
    """Columns come from all rows' edges; a cell spans the edges that it covers."""
    rows = (
        r"\trowd\trhdr\cellx2000\cellx4000\pard\intbl A\cell B\cell\row"
        r"\trowd\cellx4000\pard\intbl wide\cell\row"
        r"\trowd\clvmgf\cellx2000\cellx4010\pard\intbl tall\cell x\cell\row"
        r"\trowd\clvmrg\cellx2000\cellx4010\pard\intbl\cell y\cell\row\pard after\par"
    )
    table = read(rows).blocks[0].table
    assert (table.rows, table.cols) == (4, 2)
    by_text = {c.text: c for c in table.cells}
    assert by_text["A"].header
    assert not by_text["wide"].header
    assert by_text["wide"].col_span == 2
    assert by_text["tall"].row_span == 2
    assert (by_text["y"].row, by_text["y"].col) == (3, 1)


def test_notes_boxes_and_headers_stand_after_their_paragraph():
    """A footnote does not cut the sentence that it hangs on."""
    body = r"Before{\footnote\pard a note\par} after{\header\pard head\par}{\shp{\*\shpinst{\sp}{\shptxt box\par}}}\par"
    assert blocks(body) == [
        (Kind.PARAGRAPH, "Before after"),
        (Kind.FOOTNOTE, "a note"),
        (Kind.PAGE_FURNITURE, "head"),
        (Kind.PARAGRAPH, "box"),
    ]


def test_deleted_hidden_and_commented_words_follow_the_policy():
    """What is left out is furniture with its reason; another policy reads it."""
    body = r"kept{\deleted gone}{\v secret}{\revised new}{\*\annotation\pard why\par}\par"
    assert [(b.text, b.left_out) for b in read(body).blocks] == [
        ("keptnew", None),
        ("gone", "deleted"),
        ("secret", "hidden"),
        ("why", "comment"),
    ]
    both = read(body, ParsePolicy(comments=True, revisions="both"))
    assert [(b.text, b.left_out) for b in both.blocks] == [("keptgonenew", None), ("secret", "hidden"), ("why", None)]


def test_lists_links_captions_code_and_pictures():
    """Each by its own mark: list text, field, style name, picture with its alternative text."""
    body = (
        r"\pard{\listtext\'b7\tab}\ls1\ilvl1 item\par\pard{\field{\*\fldinst HYPERLINK "
        '"http://x.example/"'
        r"}{\fldrslt link}}\par\pard\s5 Figure 1\par\pard\s6 a = 1\par b = 2\par\pard"
        r"{\shp{\*\shpinst{\sp{\sn wzDescription}{\sv a cat}}}}{\pict\pngblip 89504e47}\par"
    )
    parsed = read(body)
    assert [(b.kind, b.text) for b in parsed.blocks] == [
        (Kind.LIST_ITEM, "item"),
        (Kind.PARAGRAPH, "link"),
        (Kind.CAPTION, "Figure 1"),
        (Kind.CODE, "a = 1\nb = 2"),
        (Kind.FIGURE, "a cat"),
    ]
    assert parsed.blocks[0].level == 2
    assert parsed.blocks[1].links == ("http://x.example/",)


@pytest.mark.parametrize(
    ("data", "status"),
    [
        (rb"{\rtf1 ", ParseStatus.CORRUPT),
        (rb"{\rtf1 words that are cut", ParseStatus.OK),
        (rb"{\rtf1" + b"{" * 5000, ParseStatus.TOO_LARGE),
        (rb"{\rtf1 \bin99999999 x}", ParseStatus.CORRUPT),
        (rb"{\rtf1}", ParseStatus.EMPTY),
        (rb"{\rtf1 \u\ansicpg9999 \'ff\cellx\row\cell}", ParseStatus.OK),
    ],
)
def test_what_is_damaged_has_a_status(data, status):
    """Depth is bounded, bytes may be anything, and no cut raises."""
    assert parse(data, "a.rtf", None, DEFAULT_LIMITS).status is status
