"""Word documents: what a paragraph is, what hangs on it, and what is left out with its reason."""

import pytest

from compound_files import compound
from office_files import docx, p
from upwell.parse.limits import DEFAULT_LIMITS
from upwell.parse.policy import ParsePolicy
from upwell.parse.route import parse
from upwell.records import Kind, ParseStatus

STYLES = (
    '<w:style w:type="paragraph" w:default="1" w:styleId="N"><w:name w:val="Normal"/></w:style>'
    '<w:style w:type="paragraph" w:styleId="T"><w:name w:val="Title"/></w:style>'
    '<w:style w:type="paragraph" w:styleId="H1"><w:name w:val="heading 1"/></w:style>'
    '<w:style w:type="paragraph" w:styleId="Part"><w:name w:val="Our part"/><w:basedOn w:val="H1"/></w:style>'
    '<w:style w:type="paragraph" w:styleId="O3"><w:name w:val="Deep"/><w:pPr><w:outlineLvl w:val="2"/></w:pPr></w:style>'
    '<w:style w:type="paragraph" w:styleId="LB2"><w:name w:val="List Bullet 2"/><w:pPr><w:numPr><w:numId w:val="1"/></w:numPr></w:pPr></w:style>'
    '<w:style w:type="paragraph" w:styleId="Code"><w:name w:val="Source Code"/></w:style>'
    '<w:style w:type="paragraph" w:styleId="TOC1"><w:name w:val="toc 1"/></w:style>'
    '<w:style w:type="paragraph" w:styleId="Cap"><w:name w:val="caption"/></w:style>'
    '<w:style w:type="character" w:styleId="Off"><w:name w:val="Off"/><w:rPr><w:vanish/></w:rPr></w:style>'
)
MONO = '<w:r><w:rPr><w:rFonts w:ascii="Consolas"/></w:rPr><w:t xml:space="preserve">{}</w:t></w:r>'
COMMENT = '<w:comment w:id="5"><w:p><w:r><w:t>why so</w:t></w:r></w:p></w:comment>'


def read(body, policy=None, **parts):
    return parse(docx(body, styles=STYLES, **parts), "a.docx", None, DEFAULT_LIMITS, policy or ParsePolicy())


def said(parsed):
    return [(b.left_out or b.kind.value, b.text) for b in parsed.blocks]


def test_headings_by_style_by_what_it_is_based_on_and_by_outline_level():
    """A paragraph's own outline level wins over its style; the title is the document's."""
    own = '<w:outlineLvl w:val="3"/>'
    parsed = read(p("Doc", "T") + p("One", "H1") + p("Two", "Part") + p("Three", "O3") + p("Four", "", own) + p("x"))
    assert [(b.kind.value, b.level) for b in parsed.blocks] == [
        ("title", None),
        ("heading", 1),
        ("heading", 1),
        ("heading", 3),
        ("heading", 4),
        ("paragraph", None),
    ]
    assert parsed.title == "Doc"


def test_lists_by_numbering_and_by_style():
    """A level is the numbering's, or the style name's; number 0 takes the mark away."""
    item = '<w:numPr><w:ilvl w:val="{}"/><w:numId w:val="{}"/></w:numPr>'
    parsed = read(p("a", "", item.format(2, 7)) + p("b", "LB2") + p("c", "LB2", item.format(0, 0)))
    assert [(b.kind, b.level) for b in parsed.blocks] == [
        (Kind.LIST_ITEM, 3),
        (Kind.LIST_ITEM, 2),
        (Kind.PARAGRAPH, None),
    ]


CHANGED = p(
    "kept",
    more="<w:ins><w:r><w:t>new</w:t></w:r></w:ins><w:del><w:r><w:delText>old</w:delText></w:r></w:del>"
    "<w:moveTo><w:r><w:t>here</w:t></w:r></w:moveTo><w:moveFrom><w:r><w:t>there</w:t></w:r></w:moveFrom>"
    '<w:r><w:rPr><w:rStyle w:val="Off"/></w:rPr><w:t>secret</w:t></w:r><w:r><w:commentReference w:id="5"/></w:r>',
)


def test_changes_comments_and_hidden_words_are_left_out_with_the_reason():
    """As if all changes were accepted; a move is read where it went."""
    assert said(read(CHANGED, comments=COMMENT)) == [
        ("paragraph", "keptnewhere"),
        ("deleted", "oldthere"),
        ("hidden", "secret"),
        ("comment", "why so"),
    ]


def test_a_policy_reads_deleted_words_and_comments():
    """What was moved away still stands only where it went."""
    both = read(CHANGED, ParsePolicy(comments=True, revisions="both"), comments=COMMENT)
    assert said(both)[0] == ("paragraph", "keptnewoldhere")
    assert ("paragraph", "why so") in said(both)


def test_notes_and_page_heads():
    """A note after its paragraph, once; one that nothing refers to at the end; heads as furniture."""
    note = '<w:footnote w:id="{}"><w:p><w:r><w:t>{}</w:t></w:r></w:p></w:footnote>'
    separator = '<w:footnote w:type="separator" w:id="0"><w:p><w:r><w:t>---</w:t></w:r></w:p></w:footnote>'
    parsed = read(
        p("x", more='<w:r><w:footnoteReference w:id="2"/></w:r>') + p("y"),
        footnotes=separator + note.format(2, "two") + note.format(3, "three"),
        header=p("Head"),
        footer=p("Head"),
    )
    assert said(parsed) == [
        ("paragraph", "x"),
        ("footnote", "two"),
        ("paragraph", "y"),
        ("footnote", "three"),
        ("page_furniture", "Head"),
    ]


def test_code_by_style_and_by_font():
    """Lines join with their indentation and blank lines; typewritten prose is no code."""
    body = p("if x:", "Code") + p("", "Code") + p("    y", "Code") + p("prose")
    body += p(more=MONO.format("f(x)")) + p(more=MONO.format("  g")) + p(more=MONO.format("A typewritten note."))
    assert said(read(body)) == [
        ("code", "if x:\n\n    y"),
        ("paragraph", "prose"),
        ("code", "f(x)\n  g"),
        ("paragraph", "A typewritten note."),
    ]


def cell(text, properties="", more=""):
    return f"<w:tc><w:tcPr>{properties}</w:tcPr>{p(text)}{more}</w:tc>"


def test_a_table_has_spans_headers_and_a_table_within():
    """Marked header rows; cells over columns and rows; the inner table stands after the outer one."""
    inner = f"<w:tbl><w:tr>{cell('in')}{cell('ner')}</w:tr></w:tbl>"
    wide, tall = cell("wide", '<w:gridSpan w:val="2"/>'), cell("tall", '<w:vMerge w:val="restart"/>')
    body = (
        "<w:tbl>"
        f"<w:tr><w:trPr><w:tblHeader/></w:trPr>{wide}{cell('c')}</w:tr>"
        f"<w:tr><w:trPr><w:tblHeader/></w:trPr>{cell('a')}{cell('b')}{cell('c2')}</w:tr>"
        f"<w:tr>{tall}{cell('1')}{cell('2', more=inner)}</w:tr>"
        f"<w:tr>{cell('', '<w:vMerge/>')}{cell('3')}{cell('4')}</w:tr></w:tbl>"
    )
    outer, nested = read(body).blocks
    cells = {c.text: c for c in outer.table.cells}
    assert (outer.table.rows, outer.table.cols) == (4, 3)
    assert (cells["wide"].col_span, cells["tall"].row_span) == (2, 2)
    assert [cells[t].header for t in ("wide", "c2", "tall", "4")] == [True, True, False, False]
    assert (cells["4"].row, cells["4"].col) == (3, 2)
    assert nested.text == "in | ner"


def test_a_table_of_one_cell_is_a_box():
    """Its content is read as the flow that it is."""
    body = f"<w:tbl><w:tr><w:tc>{p('Head', 'H1')}{p('words')}</w:tc></w:tr></w:tbl>"
    assert said(read(body)) == [("heading", "Head"), ("paragraph", "words")]


def test_pictures_boxes_captions_links_and_formulas():
    """An alternative text, a text box once though it is written twice, a caption by its words, a field's link."""
    picture = '<w:r><w:drawing><wp:inline><wp:docPr descr="A cat"/><a:graphic><pic:pic/></a:graphic></wp:inline></w:drawing></w:r>'
    box = f"<w:txbxContent>{p('boxed')}</w:txbxContent>"
    both = (
        f'<w:r><mc:AlternateContent><mc:Choice Requires="wps"><w:drawing>{box}</w:drawing></mc:Choice><mc:Fallback>'
        f"<w:pict><v:shape>{box}</v:shape></w:pict></mc:Fallback></mc:AlternateContent></w:r>"
    )
    field = (
        '<w:r><w:fldChar w:fldCharType="begin"/></w:r><w:r><w:instrText>HYPERLINK "http://y.example/"</w:instrText></w:r>'
        '<w:r><w:fldChar w:fldCharType="separate"/></w:r><w:r><w:t>there</w:t></w:r>'
        '<w:r><w:fldChar w:fldCharType="end"/></w:r><w:hyperlink r:id="hyperlink"><w:r><w:t>here</w:t></w:r></w:hyperlink>'
    )
    math = (
        "<m:oMath><m:sSup><m:e><m:r><m:t>r</m:t></m:r></m:e><m:sup><m:r><m:t>2</m:t></m:r></m:sup></m:sSup></m:oMath>"
    )
    parsed = read(
        p(more=picture) + p("Figure 1: A cat") + p("by", more=both) + p(more=field) + p(more=math) + p("so ", more=math)
    )
    assert said(parsed) == [
        ("figure", "A cat"),
        ("caption", "Figure 1: A cat"),
        ("paragraph", "by"),
        ("paragraph", "boxed"),
        ("paragraph", "therehere"),
        ("formula", "r^{2}"),
        ("paragraph", "so $r^{2}$"),
    ]
    assert parsed.blocks[4].links == ("http://y.example/", "http://x.example/")


def test_unknown_wrappers_are_looked_into():
    """A format grows; words in what nobody knows yet are words."""
    body = f"<w:new>{p('one')}</w:new>" + p("two", more="<w:newer><w:r><w:t> three</w:t></w:r></w:newer>")
    assert said(read(body)) == [("paragraph", "one"), ("paragraph", "two three")]


def test_a_table_of_contents_is_left_out():
    """By the style of its lines, and by the control that it stands in."""
    control = (
        '<w:sdt><w:sdtPr><w:docPartObj><w:docPartGallery w:val="Table of Contents"/></w:docPartObj></w:sdtPr>'
        f"<w:sdtContent>{p('Contents')}</w:sdtContent></w:sdt>"
    )
    assert {b.left_out for b in read(control + p("One 1", "TOC1")).blocks} == {"table_of_contents"}


def test_embedded_files_are_children():
    """A package as it is; an OLE object by the name and content of what it wraps; a broken one says so.

    Two of one name keep it, as attachments do: the lake tells them apart.
    """
    native = b"\0" * 6 + b"notes.txt\0C:\\notes.txt\0" + b"\0\0\3\0" + b"\1\0\0\0\0" + b"\5\0\0\0words"
    parsed = read(
        p("x"),
        others={
            "word/embeddings/inner.docx": docx(p("inner words")),
            "word/embeddings/oleObject1.bin": compound({"\x01Ole10Native": native}),
            "word/embeddings/oleObject2.bin": b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1broken",
            "word/embeddings/oleObject3.bin": compound({"\x01Ole10Native": native}),
        },
    )
    assert [(c.name, c.status, [b.text for b in c.blocks]) for c in parsed.children] == [
        ("inner.docx", ParseStatus.OK, ["inner words"]),
        ("notes.txt", ParseStatus.OK, ["words"]),
        ("oleObject2.bin", ParseStatus.CORRUPT, []),
        ("notes.txt", ParseStatus.OK, ["words"]),
    ]


@pytest.mark.parametrize(
    ("body", "status"),
    [
        ("<w:sdt><w:sdtContent>" * 150 + "</w:sdtContent></w:sdt>" * 150, ParseStatus.CORRUPT),
        ("<w:customXml>" * 120 + "</w:customXml>" * 120, ParseStatus.TOO_LARGE),
        ("<w:p>", ParseStatus.CORRUPT),
        ("", ParseStatus.EMPTY),
    ],
)
def test_what_cannot_be_read_says_why(body, status):
    """Past the depth of the XML reader, past ours, not well-formed, blank."""
    assert read(body).status is status
