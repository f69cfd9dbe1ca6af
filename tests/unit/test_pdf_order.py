"""Reading order of PDF pages: columns, headings across them, sidebars, labels, pages that run sideways."""

import pytest

from pdfs import LOREM, WIDTH, Drawn, body, texts
from upwell.parse.pdf.order import reading_order
from upwell.records import Kind, ParseStatus


def in_order(parsed, *words):
    text = body(parsed)
    places = [text.index(word) for word in words]
    return places == sorted(places)


@pytest.mark.parametrize("columns", [1, 2, 3])
def test_columns_are_read_one_after_the_other(columns):
    """A heading across all columns comes first, then each column whole."""
    pdf = Drawn()
    pdf.line("A heading over all of the columns", 60, 70, 18, "Helvetica-Bold")
    width = (WIDTH - 120 - 20 * (columns - 1)) / columns
    for c in range(columns):
        pdf.prose(f"start{c} " + LOREM * 3 + f"end{c}.", 60 + c * (width + 20), 110, width)
    parsed = pdf.read()
    words = [word for c in range(columns) for word in (f"start{c}", f"end{c}")]
    assert in_order(parsed, "A heading over", *words)


def test_two_columns_then_one_then_two():
    """What lies across the page parts the columns above from those below."""
    pdf = Drawn()
    for top, name in ((80, "upper"), (450, "lower")):
        pdf.prose(f"{name}left " + LOREM + ".", 60, top, 225)
        pdf.prose(f"{name}right " + LOREM + ".", 310, top, 225)
    pdf.prose("across " + LOREM * 2 + ".", 60, 300, 475)
    assert in_order(pdf.read(), "upperleft", "upperright", "across", "lowerleft", "lowerright")


def test_a_wide_space_inside_a_line_is_no_gutter():
    """Justified lines have wide spaces; lines above and below run across them."""
    pdf = Drawn()
    pdf.line("The first line of a paragraph that runs over the whole width of the page, and then", 60, 100)
    pdf.line("some words stand wide", 60, 112)
    pdf.line("apart from each other since the line was made to fill", 60 + 130, 112)
    pdf.line("the whole measure, as a bad program does it when it breaks the lines of a paragraph.", 60, 124)
    (paragraph,) = texts(pdf.read(), Kind.PARAGRAPH)
    assert "stand wide apart from" in paragraph


def test_labels_stay_with_what_they_label():
    """Short labels at the left of values are read line by line."""
    pdf = Drawn()
    for i, (label, value) in enumerate((("Invoice", "4711"), ("Customer", "Ana Lopes"), ("Due", "in May"))):
        pdf.line(label, 60, 100 + 14 * i)
        pdf.line(value, 200, 100 + 14 * i)
    assert in_order(pdf.read(), "Invoice", "4711", "Customer", "Ana Lopes", "Due", "in May")


def test_centred_lines_above_a_heading_at_the_left_come_first():
    """Names under a title stand to the right of the first heading, but in no column beside it."""
    pdf = Drawn()
    pdf.line("Ana Lopes", 260, 100, 12)
    pdf.line("A heading", 60, 160, 14, "Helvetica-Bold")
    pdf.prose("prose " + LOREM + ".", 110, 200, 400)
    assert in_order(pdf.read(), "Ana Lopes", "A heading", "prose")


def test_what_is_under_balanced_columns_comes_after_them():
    """Columns that end together have ended; a column that goes on below the other's end has not."""
    pdf = Drawn()
    pdf.prose("opening " + LOREM + ".", 60, 60, 250)
    pdf.lines(["a box beside", "what opens"], 400, 70, 9)
    for c, name in enumerate(("First", "Second", "Third")):
        pdf.prose(f"{name} " + LOREM + ".", 60 + 160 * c, 160, 140)
    pdf.line("A new start", 60, 380, 14, "Helvetica-Bold")
    assert in_order(pdf.read(), "opening", "a box", "First", "Second", "Third", "A new start")
    pdf = Drawn()
    pdf.prose("First " + LOREM * 2 + ".", 60, 100, 220)
    pdf.line("Still the left column", 60, 330, 14, "Helvetica-Bold")
    pdf.prose("It goes on " + LOREM + ".", 60, 360, 220)
    pdf.prose("Second " + LOREM + ".", 310, 100, 220)
    assert in_order(pdf.read(), "First", "Still the left", "It goes on", "Second")


def test_columns_from_the_right():
    """In scripts that run so the right column comes first."""
    assert reading_order([(60, 100, 280, 400), (310, 100, 530, 400)], [True, True]) == [1, 0]
    assert reading_order([(60, 100, 280, 400), (310, 100, 530, 400)], [True, False]) == [0, 1]


def test_a_centred_line_close_above_two_columns_is_in_neither():
    """Though it overlaps one of them a little."""
    pdf = Drawn()
    pdf.line("Ana Lopes and Bo Lind", 240, 100)
    pdf.prose("Left " + LOREM * 2 + ".", 60, 122, 225)
    pdf.prose("Right " + LOREM * 2 + ".", 310, 123, 225)
    parsed = pdf.read()
    assert in_order(parsed, "Ana Lopes", "Left", "Right")
    assert "Ana Lopes and Bo Lind" in texts(parsed, Kind.PARAGRAPH)


def test_a_page_that_runs_sideways_is_read_and_its_boxes_are_those_of_the_paper():
    """All text turned by 90 degrees: words in order, boxes inside the page as it shows."""
    pdf = Drawn()
    pdf.canvas.translate(300, 100)
    pdf.canvas.rotate(90)
    pdf.canvas.setFont("Helvetica", 10)
    for i, words in enumerate(("The first line of words", "goes on in the second line", "and ends in the third.")):
        pdf.canvas.drawString(0, -12 * i, words)
    parsed = pdf.read()
    (block,) = [b for b in parsed.blocks if b.kind is Kind.PARAGRAPH]
    assert block.text == "The first line of words goes on in the second line and ends in the third."
    x0, y0, x1, y1 = block.bbox
    assert x1 - x0 < 50 < y1 - y0
    assert 285 < x0 < x1 < 335


def test_a_stamp_up_the_margin_is_furniture():
    """Text that runs up the edge of an upright page belongs to no paragraph."""
    pdf = Drawn()
    pdf.prose(LOREM * 3, 80, 100, 440)
    pdf.canvas.translate(25, 300)
    pdf.canvas.rotate(90)
    pdf.canvas.drawString(0, 0, "stamp:1234.5678")
    parsed = pdf.read()
    assert texts(parsed, Kind.PAGE_FURNITURE) == ["stamp:1234.5678"]


def test_words_off_the_page_are_not_read():
    """What nobody sees is no text of the page."""
    pdf = Drawn()
    pdf.line("seen words", 60, 100)
    pdf.line("hidden words", -500, 100)
    parsed = pdf.read()
    assert parsed.status is ParseStatus.OK
    assert body(parsed) == "seen words"
