"""Figures and captions: bound to each other, pictures and drawings, logos, tiles, paper."""

from PIL import Image
from reportlab.lib.utils import ImageReader

from pdfs import LOREM, Drawn, texts
from upwell.parse.pdf.captions import is_caption
from upwell.records import Kind


def photo(pdf, box, colour=(90, 120, 200)):
    """A picture at (left, bottom, width, height)."""
    pdf.canvas.drawImage(ImageReader(Image.new("RGB", (40, 40), colour)), *box)


def kinds(parsed):
    return [block.kind.value for block in parsed.blocks]


def test_what_a_caption_looks_like():
    """A label, a number, a colon or the like; a sentence about a figure is none."""
    for text in (
        "Figure 1: Walls",
        "Fig. 2. Ships",
        "Table A4-12. Sums",
        "TABLE IV",
        "Abb. 3: Hafen",
        "[표 1] 비교",
        "图 1：港口",
    ):
        assert is_caption(text), text
    for text in ("Figure 1 shows the walls", "Tables are flat", "Figures of speech: many", "See Figure 1: there"):
        assert not is_caption(text), text


def test_captions_stand_beside_their_figures():
    """Above a table, below a figure, in two columns, each next to its own."""
    pdf = Drawn()
    for x, name in ((60, "left"), (320, "right")):
        photo(pdf, (x, 600, 200, 120))
        pdf.line(f"Figure {1 if name == 'left' else 2}: The {name} one", x, 257, 9)
        pdf.prose(LOREM + ".", x, 290, 210)
    parsed = pdf.read()
    assert kinds(parsed) == ["figure", "caption", "paragraph"] * 2
    assert texts(parsed, Kind.CAPTION) == ["Figure 1: The left one", "Figure 2: The right one"]


def test_a_drawing_is_a_figure_where_its_caption_says_so():
    """Its labels are its own, not paragraphs."""
    pdf = Drawn()
    pdf.prose(LOREM + ".", 60, 80, 470)
    for i in range(12):
        pdf.canvas.circle(150 + 20 * i, 600 + (i * 37) % 80, 8)
    pdf.line("axis", 250, 250, 7)
    pdf.line("Figure 1: Ships by year", 150, 275, 9)
    pdf.prose(LOREM + ".", 60, 320, 470)
    parsed = pdf.read()
    assert kinds(parsed) == ["paragraph", "figure", "caption", "paragraph"]
    assert texts(parsed, Kind.FIGURE) == ["axis"]


def test_tiles_of_a_picture_are_one_figure_and_logos_are_none():
    """Strips that touch; the same picture at the same place of each page."""
    pdf = Drawn()
    for _ in range(3):
        photo(pdf, (500, 780, 40, 40))
        for strip in range(4):
            if pdf.canvas.getPageNumber() == 2:
                photo(pdf, (100, 400 + 40 * strip, 300, 40))
        pdf.prose(LOREM + ".", 60, 100, 420)
        pdf.page()
    figures = [block for block in pdf.read().blocks if block.kind is Kind.FIGURE]
    assert [(f.page, round(f.bbox[3] - f.bbox[1])) for f in figures] == [(2, 160)]


def test_paper_under_the_page_is_no_figure():
    """A picture behind all of the text."""
    pdf = Drawn()
    photo(pdf, (0, 0, 595, 842), (250, 245, 230))
    pdf.prose(LOREM + ".", 60, 100, 470)
    assert kinds(pdf.read()) == ["paragraph"]
