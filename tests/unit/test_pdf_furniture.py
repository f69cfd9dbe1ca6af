"""What comes back on each page is furniture; what only stands near an edge is not."""

from pdfs import LOREM, Drawn, body, texts
from upwell.records import Kind


def book(pages, head, foot):
    pdf = Drawn()
    for n in range(1, pages + 1):
        head(pdf, n)
        pdf.prose(f"Page{'abcdefgh'[n]} begins. " + LOREM * 4 + ".", 60, 110, 470)
        foot(pdf, n)
        pdf.page()
    return pdf.read()


def test_running_heads_and_changing_numbers():
    """On odd and on even pages; page numbers wherever they stand."""
    parsed = book(
        4,
        lambda pdf, n: pdf.line("The Harbour Report" if n % 2 else "Walls and Ships", 60 if n % 2 else 420, 40, 8),
        lambda pdf, n: pdf.line(f"Page {n} of 4", 270, 800, 8),
    )
    found = texts(parsed, Kind.PAGE_FURNITURE)
    assert found.count("The Harbour Report") == 2
    assert found.count("Walls and Ships") == 2
    assert sum(text.startswith("Page ") for text in found) == 4
    assert "of 4" not in body(parsed)


def test_what_stands_beside_a_page_number_is_furniture_too():
    """A chapter's name that only one page has."""
    parsed = book(
        3, lambda pdf, n: (pdf.line(f"Chapter {'abcd'[n]}", 60, 40, 8), pdf.line(str(n), 520, 40, 8)), lambda *_: None
    )
    assert sum(text.startswith("Chapter") for text in texts(parsed, Kind.PAGE_FURNITURE)) == 3


def test_headings_at_the_top_of_each_page_stay():
    """Though only their numbers differ; and so do lines of the body that come back."""
    parsed = book(
        3,
        lambda pdf, n: pdf.line(f"Chapter {n}", 60, 60, 16, "Helvetica-Bold"),
        lambda pdf, _n: pdf.lines(["as it was before", "and so it went on."] * 25, 60, 200),
    )
    assert [b.text for b in parsed.blocks if b.kind is Kind.HEADING] == ["Chapter 1", "Chapter 2", "Chapter 3"]
    assert texts(parsed, Kind.PAGE_FURNITURE) == []


def test_a_running_head_in_larger_letters():
    """The same words on each page, above a body in smaller ones."""
    parsed = book(3, lambda pdf, _n: pdf.line("The Harbour Report", 60, 50, 13), lambda *_: None)
    assert texts(parsed, Kind.PAGE_FURNITURE) == ["The Harbour Report"] * 3


def test_a_number_above_a_wide_foot_of_paper():
    """A page number is one where the page's margin is wide too."""
    parsed = book(2, lambda _pdf, _n: None, lambda pdf, n: pdf.line(str(n), 295, 705, 10))
    assert texts(parsed, Kind.PAGE_FURNITURE) == ["1", "2"]


def test_the_first_lines_of_the_body_stay():
    """Near the top, but not on other pages; and a heading's number is no page number."""
    pdf = Drawn()
    pdf.line("2", 60, 60, 16)
    pdf.line("Walls and what they hold", 85, 60, 16)
    pdf.prose(LOREM + ".", 60, 90, 470)
    parsed = pdf.read()
    assert texts(parsed, Kind.PAGE_FURNITURE) == []
    assert "2 Walls and what they hold" in body(parsed)
