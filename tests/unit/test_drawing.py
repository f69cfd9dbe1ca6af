"""The pages of a PDF as pictures."""

import io

import pytest
from msgspec.structs import replace
from PIL import Image
from reportlab.pdfgen.canvas import Canvas

from upwell.parse.drawing import draw_pages
from upwell.parse.limits import Limits


def pdf(pages=1, size=(300, 200), colour=(0, 0, 0)):
    file = io.BytesIO()
    canvas = Canvas(file, pagesize=size)
    for _ in range(pages):
        canvas.setFillColorRGB(*colour)
        canvas.rect(50, 50, 100, 100, fill=1, stroke=0)
        canvas.showPage()
    canvas.save()
    return file.getvalue()


def drawn(data, limits=None, name="a.pdf"):
    return draw_pages(data, name, None, limits or Limits())


def test_a_page_is_drawn_to_scale():
    """A black square from 50 to 150 points, at two pixels a point."""
    (page,) = drawn(pdf()).pages
    picture = Image.open(io.BytesIO(page.png))
    assert (page.page, page.width, page.height, picture.size) == (1, 300, 200, (600, 400))
    assert picture.point(lambda value: 255 - value).getbbox() == pytest.approx((100, 100, 300, 300), abs=1)


def test_a_page_without_colours_is_grey():
    modes = [Image.open(io.BytesIO(drawn(pdf(colour=c)).pages[0].png)).mode for c in ((0, 0, 0), (1, 0, 0))]
    assert modes == ["L", "RGB"]


def test_pages_pixels_and_bytes_are_limited():
    limits = Limits()
    few = drawn(pdf(3), replace(limits, drawn_pages=2))
    assert [page.page for page in few.pages] == [1, 2]
    assert few.left_out == "only the first 2 pages are drawn"
    small = drawn(pdf(size=(10_000, 5_000)), replace(limits, drawn_pixels=20_000)).pages[0]
    assert Image.open(io.BytesIO(small.png)).size == pytest.approx((200, 100), abs=2)
    full = drawn(pdf(3), replace(limits, drawn_bytes=len(few.pages[0].png)))
    assert len(full.pages) == 1
    assert full.left_out == "page 2 and what follows are not drawn: too many bytes of pictures"


@pytest.mark.parametrize("data", [b"", b"words", b"%PDF-1.7 and then nothing of the kind", pdf()[:300]])
def test_what_cannot_be_drawn_is_no_error(data):
    assert drawn(data).pages == ()


def test_a_picture_file_is_drawn_in_points():
    """300 by 150 pixels at 150 an inch are 144 by 72 points; a second frame is a second page."""
    first, file = Image.new("RGB", (300, 150), (10, 20, 30)), io.BytesIO()
    first.save(file, "TIFF", dpi=(150, 150), save_all=True, append_images=[Image.new("RGB", (300, 150))])
    pages = drawn(file.getvalue(), name="a.tiff").pages
    assert [(page.page, page.width, page.height) for page in pages] == [(1, 144, 72), (2, 144, 72)]
    assert Image.open(io.BytesIO(pages[0].png)).getpixel((5, 5)) == (10, 20, 30)
    small = drawn(file.getvalue(), replace(Limits(), drawn_pixels=450), "a.tiff")
    assert Image.open(io.BytesIO(small.pages[0].png)).size == (30, 15)


def test_a_damaged_picture_is_no_error():
    file = io.BytesIO()
    Image.new("RGB", (300, 150)).save(file, "PNG")
    damaged = drawn(file.getvalue()[:60], name="a.png")
    assert (damaged.pages, damaged.left_out) == ((), "the picture cannot be drawn: the picture cannot be read")


def test_a_file_over_the_limit_is_not_opened():
    assert drawn(pdf(), replace(Limits(), file_bytes=10)).pages == ()
