"""Scanned pages: which count as pictures, what is said of them without OCR, and what OCR reads with it."""

import io

import pytest
from PIL import Image, ImageDraw, ImageFont
from reportlab.lib.utils import ImageReader

from needs import missing
from pdfs import LOREM, Drawn, texts
from upwell.parse.limits import DEFAULT_LIMITS
from upwell.parse.ocr import reader as ocr
from upwell.parse.ocr.reader import Allowance, Seen
from upwell.parse.pdf.page import Page, Piece
from upwell.parse.pdf.scans import is_picture, pieces_of
from upwell.parse.policy import ParsePolicy
from upwell.parse.route import parse
from upwell.records import Kind, ParseStatus

WITHOUT = ParsePolicy(ocr=False)


def picture(*lines):
    """White paper with words in large letters."""
    image = Image.new("RGB", (1000, 120 + 60 * len(lines)), "white")
    draw = ImageDraw.Draw(image)
    for i, line in enumerate(lines):
        draw.text((60, 60 + 60 * i), line, fill="black", font=ImageFont.load_default(36))
    return image


def encoded(image, kind):
    file = io.BytesIO()
    image.save(file, kind)
    return file.getvalue()


def scanned(pdf, *lines):
    image = picture(*lines)
    pdf.canvas.drawImage(ImageReader(image), 40, 300, 500, 500 * image.height / image.width)
    return pdf


def need_ocr():
    if not ocr.available():
        missing("the extra `ocr` (rapidocr) is not installed")


def test_a_scan_needs_ocr_where_it_is_off():
    """Its status says so; nothing is published of it."""
    parsed = parse(scanned(Drawn(), "words").data(), "a.pdf", None, DEFAULT_LIMITS, WITHOUT)
    assert parsed.status is ParseStatus.NEEDS_OCR
    assert "OCR" in parsed.reason


def test_a_mixed_document_is_read_and_says_what_is_missing():
    """The pages with text are its blocks, and the reason names the others."""
    pdf = Drawn()
    pdf.prose(LOREM, 60, 100, 470)
    pdf.page()
    scanned(pdf, "words")
    parsed = parse(pdf.data(), "a.pdf", None, DEFAULT_LIMITS, WITHOUT)
    assert (parsed.status, parsed.pages) == (ParseStatus.OK, 2)
    assert parsed.reason.startswith("pages that are pictures: 2;")


def test_an_image_needs_ocr_where_it_is_off():
    """PNG, JPEG and TIFF alike."""
    for kind in ("PNG", "JPEG", "TIFF"):
        parsed = parse(encoded(picture("words"), kind), "a", None, DEFAULT_LIMITS, WITHOUT)
        assert parsed.status is ParseStatus.NEEDS_OCR


def test_letters_without_a_meaning_make_a_page_a_picture():
    """Most of them have to be; a few bullets of a private font do not."""
    box = (0.0, 0.0, 50.0, 10.0)
    for unknown, expected in ((6, True), (2, False)):
        piece = Piece(text="\ufffd" * unknown + "a" * (10 - unknown), bbox=box, size=10, unknown=unknown)
        assert is_picture(Page(number=1, width=600, height=800, pieces=(piece,))) is expected


def test_lines_of_about_one_height_are_of_one_size():
    """Or else each would be a heading; a title stays larger."""
    seen = [Seen(text="x", bbox=(0, 50 * i, 90, 50 * i + h), confidence=0.9) for i, h in enumerate((20, 22, 19, 40))]
    sizes = [piece.size for piece in pieces_of(seen, 0.5)]
    assert len(set(sizes[:3])) == 1
    assert sizes[3] > 1.5 * sizes[0]


def test_the_allowance_ends():
    """Reading stops before the wall does: a page and a line cost what they cost on a slow core."""
    allowance = Allowance(DEFAULT_LIMITS)
    pages = 0
    while not allowance.spent:
        allowance.spend(40)
        pages += 1
    assert 3 <= pages <= DEFAULT_LIMITS.wall_s / 2


def test_parts_share_the_allowance_of_their_document():
    """Many pictures in a mail cost no more than one document may; what is left out says so."""
    need_ocr()
    spent = Allowance(DEFAULT_LIMITS)
    while not spent.spent:
        spent.spend(100)
    image = encoded(picture("words"), "PNG")
    assert parse(image, "a.png", None, DEFAULT_LIMITS, allowance=spent).status is ParseStatus.NEEDS_OCR


@pytest.mark.timeout(300)
def test_ocr_reads_scans_and_images_with_confidence():
    """Words in order, with page, box and how sure it was; no words: the status stays."""
    need_ocr()
    parsed = scanned(Drawn(), "The harbour walls are old,", "and the ships are new.").read()
    assert parsed.status is ParseStatus.OK
    (block,) = [b for b in parsed.blocks if b.kind is not Kind.FIGURE]
    assert block.text == "The harbour walls are old, and the ships are new."
    assert 0.8 < block.confidence <= 1
    assert block.page == 1
    x0, y0, x1, y1 = block.bbox
    assert 50 < x0 < x1 < 560
    assert 300 < y0 < y1 < 560
    image = parse(encoded(picture("The harbour walls are old."), "PNG"), "a.png", None, DEFAULT_LIMITS)
    assert texts(image, Kind.PARAGRAPH) == ["The harbour walls are old."]
    blank = parse(encoded(Image.new("RGB", (300, 300), "white"), "PNG"), "a.png", None, DEFAULT_LIMITS)
    assert blank.status is ParseStatus.NEEDS_OCR


def test_a_damaged_image_is_corrupt():
    """Cut after its head."""
    need_ocr()
    assert parse(encoded(picture("words"), "PNG")[:60], "a.png", None, DEFAULT_LIMITS).status is ParseStatus.CORRUPT
