"""OpenDocument: texts, workbooks and slides, with what is hidden or left out saying so."""

import pytest

from office_files import ODF_SPACES, odf
from upwell.parse.limits import DEFAULT_LIMITS
from upwell.parse.policy import ParsePolicy
from upwell.parse.route import parse
from upwell.records import Kind, ParseStatus

STYLES = (
    '<style:style style:name="H" style:parent-style-name="Heading_20_2"/>'
    '<style:style style:name="C" style:parent-style-name="Preformatted_20_Text"/>'
    '<style:style style:name="X"><style:text-properties text:display="none"/></style:style>'
    '<style:style style:name="off"><style:table-properties table:display="false"/></style:style>'
)


def text(body, policy=None, **parts):
    return parse(odf("text", body, styles=STYLES, **parts), "a.odt", None, DEFAULT_LIMITS, policy or ParsePolicy())


def said(parsed):
    return [(b.left_out or b.kind.value, b.text) for b in parsed.blocks]


def test_headings_by_level_and_by_the_style_below():
    """An outline level is a level, and so is a style that is based on a heading's."""
    parsed = text('<text:h text:outline-level="1">A</text:h><text:p text:style-name="H">B</text:p><text:p>c</text:p>')
    assert [(b.kind, b.level, b.heading_path) for b in parsed.blocks] == [
        (Kind.HEADING, 1, ()),
        (Kind.HEADING, 2, ("A",)),
        (Kind.PARAGRAPH, None, ("A", "B")),
    ]


def test_white_space_links_and_lists():
    """Spaces counted in an attribute, tabs, a link, a list in a list."""
    body = (
        '<text:p>a<text:s text:c="2"/>b<text:tab/>c <text:a xlink:href="http://x.example/">d</text:a></text:p>'
        "<text:list><text:list-item><text:p>one</text:p><text:list><text:list-item><text:p>two</text:p>"
        "</text:list-item></text:list></text:list-item></text:list>"
    )
    parsed = text(body)
    assert parsed.blocks[0].text == "a  b\tc d"
    assert parsed.blocks[0].links == ("http://x.example/",)
    assert [(b.kind, b.level) for b in parsed.blocks[1:]] == [(Kind.LIST_ITEM, 1), (Kind.LIST_ITEM, 2)]


def test_notes_pictures_boxes_and_code_stand_in_their_places():
    """A note after its paragraph, a picture by its alternative text, lines of code as one block."""
    body = (
        "<text:p>Be<text:note><text:note-citation>1</text:note-citation><text:note-body><text:p>Note</text:p>"
        "</text:note-body></text:note>fore<draw:frame><draw:text-box><text:p>Box</text:p></draw:text-box></draw:frame>"
        "<draw:frame><draw:image/><svg:title>A cat</svg:title></draw:frame></text:p>"
        '<text:p text:style-name="C">x = 1</text:p><text:p text:style-name="C">y = 2</text:p>'
    )
    assert said(text(body)) == [
        ("paragraph", "Before"),
        ("footnote", "Note"),
        ("paragraph", "Box"),
        ("figure", "A cat"),
        ("code", "x = 1\ny = 2"),
    ]


def test_comments_and_changes_follow_the_policy():
    """Deleted words and comments are left out with their reason, or read where a person says so."""
    body = (
        '<text:tracked-changes><text:changed-region text:id="d"><text:deletion><office:change-info><dc:creator>me'
        "</dc:creator></office:change-info><text:p>gone</text:p></text:deletion></text:changed-region>"
        '</text:tracked-changes><text:p>kept<text:change text:change-id="d"/><office:annotation><dc:creator>me'
        '</dc:creator><text:p>why</text:p></office:annotation><text:span text:style-name="X">secret</text:span></text:p>'
    )
    assert said(text(body)) == [("paragraph", "kept"), ("deleted", "gone"), ("comment", "why"), ("hidden", "secret")]
    both = text(body, ParsePolicy(comments=True, revisions="both"))
    assert said(both)[1:3] == [("paragraph", "gone"), ("paragraph", "why")]


def test_a_table_has_spans_header_rows_and_what_is_nested():
    """Marked header rows, a cell over two columns, a table within a cell in the cell's words."""
    cell = "<table:table-cell><text:p>{}</text:p></table:table-cell>"
    body = (
        "<table:table><table:table-header-rows><table:table-row>"
        '<table:table-cell table:number-columns-spanned="2"><text:p>Both</text:p></table:table-cell>'
        "<table:covered-table-cell/></table:table-row><table:table-row>" + cell.format("a") + cell.format("b") + "</table:table-row>"
        "</table:table-header-rows><table:table-row>" + cell.format("1") + "<table:table-cell><table:table><table:table-row>"
        + cell.format("in") + "</table:table-row></table:table></table:table-cell></table:table-row></table:table>"
    )  # fmt: skip
    table = text(body).blocks[0].table
    assert (table.rows, table.cols) == (3, 2)
    assert [(c.row, c.col, c.text, c.col_span, c.header) for c in table.cells] == [
        (0, 0, "Both", 2, True),
        (1, 0, "a", 1, True),
        (1, 1, "b", 1, True),
        (2, 0, "1", 1, False),
        (2, 1, "in", 1, False),
    ]


def test_heads_indexes_and_formulas():
    """Page headers and a table of contents are left out with the reason; a formula is LaTeX."""
    math = (
        '<math xmlns="http://www.w3.org/1998/Math/MathML"><mrow><mi>A</mi><mo>=</mo><mi>π</mi><msup><mi>r</mi><mn>2</mn>'
        "</msup><mo>/</mo><mfrac><mn>1</mn><msqrt><mi>x</mi></msqrt></mfrac></mrow></math>"
    )
    parsed = text(
        "<text:table-of-content><text:index-body><text:p>One 1</text:p></text:index-body></text:table-of-content>"
        '<text:p>So <draw:frame><draw:object xlink:href="./Object 1"/></draw:frame></text:p>',
        master="<style:master-page><style:header><text:p>Head</text:p></style:header></style:master-page>",
        **{"Object 1/content.xml": math},
    )
    assert said(parsed) == [
        ("table_of_contents", "One 1"),
        ("paragraph", r"So $A = \pi r^{2} / \frac{1}{\sqrt{x}}$"),
        ("page_furniture", "Head"),
    ]


def test_a_workbook_has_sheets_tables_and_hidden_parts():
    """Values as displayed; repeated blank rows part tables; hidden rows and sheets are left out."""
    number = '<table:table-cell office:value-type="float" office:value="{0}"><text:p>{0}</text:p></table:table-cell>'
    word = '<table:table-cell office:value-type="string"><text:p>{}</text:p></table:table-cell>'
    row = "<table:table-row{}>{}</table:table-row>"
    body = (
        '<table:table table:name="Duck">'
        + row.format("", word.format("Year") + word.format("Ducks"))
        + row.format("", number.format("2019") + number.format("12,5"))
        + row.format(' table:visibility="collapse"', word.format("secret"))
        + row.format(' table:number-rows-repeated="1000000"', "<table:table-cell/>")
        + row.format("", word.format("Alone"))
        + '</table:table><table:table table:name="Off" table:style-name="off">'
        + row.format("", word.format("unseen"))
        + "</table:table>"
    )
    parsed = parse(odf("spreadsheet", body, styles=STYLES), "a.ods", None, DEFAULT_LIMITS)
    assert said(parsed) == [
        ("heading", "Duck"),
        ("table", "Year | Ducks\n2019 | 12,5"),
        ("paragraph", "Alone"),
        ("hidden", "secret"),
        ("hidden", "Off"),
        ("hidden", "unseen"),
    ]
    assert [c.header for c in parsed.blocks[1].table.cells] == [True, True, False, False]


def test_slides_have_numbers_titles_and_notes():
    """The title first, then what stands above, then the speaker's notes; the page is the slide's number."""
    frame = '<draw:frame svg:y="{}" {}><draw:text-box><text:p>{}</text:p></draw:text-box></draw:frame>'
    page = (
        "<draw:page>" + frame.format("9cm", "", "low") + frame.format("5cm", "", "high")
        + frame.format("1cm", 'presentation:class="title"', "Title") + "<presentation:notes>"
        + frame.format("1cm", 'presentation:class="notes"', "Said") + "</presentation:notes></draw:page>"
    )  # fmt: skip
    parsed = parse(odf("presentation", page + page), "a.odp", None, DEFAULT_LIMITS)
    assert parsed.pages == 2
    assert [(b.page, b.kind.value, b.text) for b in parsed.blocks[:4]] == [
        (1, "heading", "Title"),
        (1, "paragraph", "high"),
        (1, "paragraph", "low"),
        (1, "paragraph", "Said"),
    ]


def test_embedded_documents_are_children():
    """A workbook in a folder of the package and a file as it is; a formula is none."""
    sheet = (
        f"<office:document-content {ODF_SPACES}><office:body><office:spreadsheet><table:table><table:table-row>"
        "<table:table-cell><text:p>inner</text:p></table:table-cell></table:table-row></table:table>"
        "</office:spreadsheet></office:body></office:document-content>"
    )
    parts = {"Object 1/content.xml": sheet, "Object 2": "plain words", "Object 3/content.xml": "<math/>"}
    parsed = text("<text:p>x</text:p>", **parts)
    assert [(c.name, c.blocks[-1].text) for c in parsed.children] == [
        ("Object 1.ods", "inner"),
        ("Object 2", "plain words"),
    ]


@pytest.mark.parametrize(
    ("data", "status"),
    [
        (odf("text", "", manifest="<m:encryption-data/>"), ParseStatus.ENCRYPTED),
        (odf("text", "<text:p>broken"), ParseStatus.CORRUPT),
        (odf("text", "")[:200], ParseStatus.CORRUPT),
        (odf("text", "<text:section>" * 150 + "</text:section>" * 150), ParseStatus.TOO_LARGE),
        (odf("text", "<text:p/>"), ParseStatus.EMPTY),
        (odf("spreadsheet", "<table:table/>"), ParseStatus.OK),
    ],
)
def test_what_cannot_be_read_says_why(data, status):
    """Locked, broken, cut, nested and empty files."""
    assert parse(data, "a.odt", None, DEFAULT_LIMITS).status is status
