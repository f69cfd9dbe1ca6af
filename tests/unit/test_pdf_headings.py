"""Headings of PDFs and their levels, the title, and what only looks like one."""

import pytest

from pdfs import LOREM, Drawn, texts
from upwell.parse.pdf.contents import is_entry
from upwell.records import Kind


def headings(parsed):
    return [(b.level, b.text) for b in parsed.blocks if b.kind is Kind.HEADING]


def chapter(pdf, y, *marks):
    """Headings with prose under each."""
    for text, size, font in marks:
        pdf.line(text, 60, y + 14, size, font)
        y = pdf.prose(LOREM + ".", 60, y + 34, 470) + 10
    return y


def test_levels_follow_the_size_and_the_title_is_what_is_largest():
    """The largest text of the first page is the title; sizes below it are levels."""
    pdf = Drawn()
    pdf.line("The Harbour Report", 60, 80, 22, "Helvetica-Bold")
    chapter(
        pdf, 100, ("Walls", 16, "Helvetica-Bold"), ("Stones", 13, "Helvetica-Bold"), ("Ships", 16, "Helvetica-Bold")
    )
    parsed = pdf.read()
    assert parsed.title == "The Harbour Report"
    assert texts(parsed, Kind.TITLE) == ["The Harbour Report"]
    assert headings(parsed) == [(1, "Walls"), (2, "Stones"), (1, "Ships")]


def test_numbers_give_the_level_where_the_looks_are_the_same():
    """1, 1.1 and 1.1.1 in one style."""
    pdf = Drawn()
    bold = "Helvetica-Bold"
    chapter(
        pdf, 60, ("1 Walls", 12, bold), ("1.1 Stones", 12, bold), ("1.1.1 Granite", 12, bold), ("2 Ships", 12, bold)
    )
    assert headings(pdf.read()) == [(1, "1 Walls"), (2, "1.1 Stones"), (3, "1.1.1 Granite"), (1, "2 Ships")]


def test_bold_of_the_bodys_size_is_a_heading_where_it_stands_alone():
    """But not at the start of a paragraph, nor inside one, nor where all is bold."""
    pdf = Drawn()
    y = pdf.prose(LOREM + ".", 60, 60, 470)
    y = chapter(pdf, y, ("Walls of stone", 10, "Helvetica-Bold"))
    pdf.line("Run-in words.", 60, y + 20, 10, "Helvetica-Bold")
    pdf.line("The paragraph goes on in the same line, and says what there is to", 140, y + 20)
    pdf.line("say of it in another.", 60, y + 32)
    assert headings(pdf.read()) == [(1, "Walls of stone")]
    pdf = Drawn()
    pdf.lines(["All of this is bold,", "each line of it.", "It has no headings"], 60, 100, 10, "Helvetica-Bold")
    assert headings(pdf.read()) == []


def test_bookmarks_say_the_level():
    """A line that is in the outline is a heading of its level, whatever it looks like."""
    pdf = Drawn()
    for i, (text, level) in enumerate((("Walls", 0), ("Stones", 1), ("Pebbles", 2), ("Ships", 0))):
        pdf.line(text, 60, 80 + 150 * i, 10)
        pdf.prose(LOREM + ".", 60, 100 + 150 * i, 470)
        pdf.canvas.bookmarkPage(text)
        pdf.canvas.addOutlineEntry(text, text, level=level)
    assert headings(pdf.read()) == [(1, "Walls"), (2, "Stones"), (3, "Pebbles"), (1, "Ships")]


def test_the_title_of_the_properties_counts_where_it_is_sound():
    """A file's name is no title; words are, and name the line of the first page that has them."""
    for given, expected in (
        ("Microsoft Word - harbour.docx", None),
        ("A Report of the Harbour", "A Report of the Harbour"),
    ):
        pdf = Drawn(title=given)
        pdf.prose(LOREM + ".", 60, 100, 470)
        assert pdf.read().title == expected
    pdf = Drawn(title="A Report of the Harbour")
    pdf.line("A Report of the Harbour", 60, 80, 10)
    pdf.prose(LOREM + ".", 60, 120, 470)
    assert texts(pdf.read(), Kind.TITLE) == ["A Report of the Harbour"]


def test_a_title_in_the_style_of_numbered_sections():
    """The first line of all, without a number where the others have one."""
    pdf = Drawn()
    bold = "Helvetica-Bold"
    chapter(pdf, 60, ("The Harbour", 14, bold), ("1 Walls", 14, bold), ("2 Ships", 14, bold))
    parsed = pdf.read()
    assert texts(parsed, Kind.TITLE) == ["The Harbour"]
    assert headings(parsed) == [(1, "1 Walls"), (1, "2 Ships")]


def test_authors_under_the_title_are_no_headings():
    """Though they are set larger than the body."""
    pdf = Drawn()
    pdf.line("The Harbour and its Walls", 150, 80, 20)
    pdf.line("Ana Lopes", 250, 110, 12)
    pdf.line("March 2026", 250, 130, 12)
    chapter(pdf, 160, ("Walls", 14, "Helvetica-Bold"))
    chapter(pdf, 360, ("Ships", 14, "Helvetica-Bold"))
    assert headings(pdf.read()) == [(1, "Walls"), (1, "Ships")]


def test_a_table_of_contents_has_no_headings():
    """Lines that lead to a page number with dots."""
    pdf = Drawn()
    pdf.line("Contents", 60, 80, 16, "Helvetica-Bold")
    for i, name in enumerate(("Walls", "Ships", "Roads")):
        pdf.line(f"{name} {'. ' * 40}{i + 1}", 60, 110 + 14 * i, 10, "Helvetica-Bold")
    pdf.prose(LOREM * 3 + ".", 60, 200, 470)
    parsed = pdf.read()
    assert headings(parsed) == [] or headings(parsed) == [(1, "Contents")]
    assert sum("Ships . ." in text for text in texts(parsed, Kind.PARAGRAPH)) == 1


def test_a_contents_page_whose_page_numbers_stand_apart_is_no_title_and_in_no_chunk():
    """Leaders need not reach the numbers; what heads them names no document."""
    pdf = Drawn()
    pdf.line("Contents", 60, 90, 18, "Helvetica-Bold")
    for i, words in enumerate(("1 Harbours", "1.1 Walls", "1.2 Ships", "2 Costs")):
        pdf.line(f"{words} " + 40 * ".", 60, 120 + 15 * i)
        pdf.line(str(2 + i // 3), 500, 120 + 15 * i)
    pdf.page()
    pdf.line("1 Harbours", 60, 90, 14, "Helvetica-Bold")
    pdf.prose(LOREM + ".", 60, 120, 470)
    parsed = pdf.read()
    entries = [text for text in texts(parsed, Kind.PARAGRAPH) if "...." in text]
    assert [(text.split(" .")[0], text[-1]) for text in entries] == [
        ("1 Harbours", "2"),
        ("1.1 Walls", "2"),
        ("1.2 Ships", "2"),
        ("2 Costs", "3"),
    ]
    assert parsed.title is None


def test_a_line_of_dots_costs_no_time():
    """Leaders are looked for once in each run of dots."""
    assert not is_entry("." * 200_000 + "x")
    assert is_entry("Walls . . . . . 12")


@pytest.mark.parametrize(
    ("name", "font"), [("1.1 Details of the walls", "Helvetica-Oblique"), ("5. COMBINING WALLS", "Helvetica")]
)
def test_a_numbered_name_right_above_its_words_is_a_heading(name, font):
    """Slanted or in capitals, as the words are not; no gap and no weight sets it off."""
    pdf = Drawn()
    y = pdf.prose(LOREM + ".", 60, 100, 470)
    pdf.line(name, 60, y + 2, 10, font)
    pdf.prose(LOREM.capitalize() + ".", 60, y + 14, 470)
    parsed = pdf.read()
    assert texts(parsed, Kind.HEADING) + texts(parsed, Kind.TITLE) == [name]
    assert [text[:11] for text in texts(parsed, Kind.PARAGRAPH)] == ["The council", "The council"]


def test_slanted_words_at_a_paragraphs_start_are_no_heading():
    """Without a number, or in a line that goes on to the column's end."""
    pdf = Drawn()
    words = "2.1 All of the words of this line are slanted from its number to its end at the edge"
    pdf.line(words, 60, 100, 10, "Helvetica-Oblique")
    y = 112
    pdf.line("Then the words stand upright, and go on so.", 60, y)
    assert len(texts(pdf.read(), Kind.PARAGRAPH)) == 1


def test_no_name_in_the_properties_is_no_title():
    """What writes files where nobody names them is not what they are called."""
    pdf = Drawn()
    pdf.prose(LOREM + ".", 60, 100, 470)
    assert pdf.read().title is None
