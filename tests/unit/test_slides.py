"""Presentations: a page a slide, its title, what stands on it as people read it, and the speaker's notes."""

import io

import pytest
from PIL import Image
from pptx import Presentation
from pptx.chart.data import CategoryChartData
from pptx.enum.chart import XL_CHART_TYPE
from pptx.util import Inches

from office_files import zipped
from upwell.parse.limits import DEFAULT_LIMITS, Limits
from upwell.parse.route import parse
from upwell.parse.slides.order import reading_order
from upwell.records import Kind, ParseStatus


def read(deck, limits=DEFAULT_LIMITS):
    file = io.BytesIO()
    deck.save(file)
    return parse(file.getvalue(), "a.pptx", None, limits)


def said(parsed):
    return [(b.page, b.left_out or b.kind.value, b.text) for b in parsed.blocks]


def slide(deck, layout, title=None):
    made = deck.slides.add_slide(deck.slide_layouts[layout])
    if title:
        made.shapes.title.text = title
    return made


def box(shapes, left, top, text, *, height=0.4):
    shapes.add_textbox(Inches(left), Inches(top), Inches(2), Inches(height)).text_frame.text = text


def test_titles_lists_and_notes():
    """The title first whatever stands above it, list levels, a subtitle as prose, notes below the slide."""
    deck = Presentation()
    first = slide(deck, 0, "Deck")
    first.placeholders[1].text = "Sub"
    second = slide(deck, 1, "Second")
    frame = second.placeholders[1].text_frame
    frame.text = "One"
    nested = frame.add_paragraph()
    nested.text, nested.level = "Nested", 1
    box(second.shapes, 1, 0.01, "On top", height=0.1)
    box(second.shapes, 1, 6, "Within", height=0.1)
    second.notes_slide.notes_text_frame.text = "Speak slowly"
    parsed = read(deck)
    assert said(parsed) == [
        (1, "heading", "Deck"),
        (1, "paragraph", "Sub"),
        (2, "heading", "Second"),
        (2, "paragraph", "On top"),
        (2, "list_item", "One"),
        (2, "list_item", "Nested"),
        (2, "paragraph", "Within"),
        (2, "paragraph", "Speak slowly"),
    ]
    assert [b.level for b in parsed.blocks if b.kind is Kind.LIST_ITEM] == [1, 2]
    assert (parsed.pages, parsed.title) == (2, "Deck")


def test_a_slide_without_a_title_stands_under_no_heading():
    """The slide before has nothing to say of it."""
    deck = Presentation()
    slide(deck, 5, "Named")
    box(slide(deck, 6).shapes, 1, 1, "alone")
    assert [b.heading_path for b in read(deck).blocks] == [(), ()]


def test_tables_have_spans_and_headers():
    """Merged cells once, at their first place."""
    deck = Presentation()
    table = slide(deck, 6).shapes.add_table(3, 2, Inches(1), Inches(1), Inches(4), Inches(1)).table
    for row in range(3):
        for col in range(2):
            table.cell(row, col).text = f"{row}{col}"
    table.cell(1, 0).merge(table.cell(2, 0))
    (block,) = read(deck).blocks
    cells = {(c.row, c.col): c for c in block.table.cells}
    assert (block.table.rows, block.table.cols, cells[1, 0].row_span) == (3, 2, 2)
    assert (2, 0) not in cells
    assert [cells[0, 0].header, cells[1, 1].header] == [True, False]


def test_groups_columns_pictures_charts_and_hidden_slides():
    """Grouped shapes by where they are; columns before rows; figures by their texts; a chart's workbook is a child."""
    deck = Presentation()
    shapes = slide(deck, 5, "All").shapes
    group = shapes.add_group_shape()
    for left, top, text in ((5, 2, "R1"), (5, 3, "R2"), (1, 2, "L1"), (1, 3, "L2")):
        box(group.shapes, left, top, text)
    file = io.BytesIO()
    Image.new("RGB", (4, 4)).save(file, "PNG")
    picture = shapes.add_picture(file, Inches(1), Inches(4), Inches(6), Inches(1))
    picture._element.nvPicPr.cNvPr.set("descr", "A red dot")
    data = CategoryChartData()
    data.categories = ["East"]
    data.add_series("Q1", (1,))
    chart = shapes.add_chart(XL_CHART_TYPE.PIE, Inches(1), Inches(6), Inches(2), Inches(1), data).chart
    chart.has_title = True
    chart.chart_title.text_frame.text = "The chart"
    slide(deck, 5, "Unseen")._element.set("show", "0")
    parsed = read(deck)
    assert said(parsed) == [
        (1, "heading", "All"),
        (1, "paragraph", "L1"),
        (1, "paragraph", "L2"),
        (1, "paragraph", "R1"),
        (1, "paragraph", "R2"),
        (1, "figure", "A red dot"),
        (1, "figure", "The chart"),
        (2, "hidden", "Unseen"),
    ]
    assert [child.status for child in parsed.children] == [ParseStatus.OK]
    assert parsed.blocks[1].bbox == pytest.approx((72, 144, 216, 172.8))


def test_reading_order():
    """Columns of two are read down; two things side by side are a row; what overlaps goes from the top left."""
    assert reading_order([(50, 0, 90, 10), (0, 0, 40, 10), (0, 20, 40, 30), (50, 20, 90, 30)]) == [1, 2, 0, 3]
    assert reading_order([(50, 0, 90, 10), (0, 0, 40, 10)]) == [1, 0]
    assert reading_order([(0, 30, 100, 40), (0, 0, 100, 10), (0, 5, 100, 20)]) == [1, 2, 0]
    wide = (0, 40, 90, 50)
    assert reading_order([(50, 0, 90, 10), (0, 0, 40, 10), (0, 20, 40, 30), (50, 20, 90, 30), wide]) == [1, 2, 0, 3, 4]
    assert reading_order([]) == []


@pytest.mark.parametrize(
    ("data", "status"),
    [
        (zipped({"[Content_Types].xml": "<Types/>", "ppt/x": ""}), ParseStatus.CORRUPT),
        (zipped({"[Content_Types].xml": "<Types/>", "ppt/presentation.xml": "<p"}), ParseStatus.CORRUPT),
        (zipped({"[Content_Types].xml": "<Types/>", "ppt/presentation.xml": "<p/>"}), ParseStatus.EMPTY),
    ],
)
def test_what_is_broken_says_so(data, status):
    """No presentation, not well-formed, no slides."""
    assert parse(data, "a.pptx", None, DEFAULT_LIMITS).status is status


def test_too_many_slides_are_too_large():
    """By the limit of pages."""
    deck = Presentation()
    for _ in range(3):
        slide(deck, 6)
    assert read(deck, Limits(pages=2)).status is ParseStatus.TOO_LARGE
