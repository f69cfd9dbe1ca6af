"""The pages of a PDF as pictures, for a person who wants to see where its blocks lie. Runs in the confined child."""

import io
from typing import Any

from upwell.parse import media
from upwell.parse.detect import detect
from upwell.parse.limits import Limits
from upwell.records import Record

POINTS_AN_INCH = 72
SHARPEST = 144 / POINTS_AN_INCH


class Drawing(Record, frozen=True, kw_only=True):
    """Page number `page` (from 1) as a PNG, and its size in points."""

    page: int
    width: float
    height: float
    png: bytes


class Drawings(Record, frozen=True, kw_only=True):
    """The first pages of a document, as many as the limits allow; `left_out` says in a line what is missing."""

    pages: tuple[Drawing, ...] = ()
    left_out: str | None = None


def draw_pages(data: bytes, name: str, claimed: str | None, limits: Limits) -> Drawings:
    """The pages as far as they can be drawn; nothing, without an error, for what is no PDF."""
    if not data or len(data) > limits.file_bytes or detect(data, name, claimed) != media.PDF:
        return Drawings()
    import pypdfium2  # type: ignore[import-untyped]  # noqa: PLC0415 - a C library that loads only when a PDF comes

    try:
        document = pypdfium2.PdfDocument(data)
    except pypdfium2.PdfiumError:
        return Drawings(left_out="the pages cannot be drawn: the PDF does not open")
    try:
        return _drawn(document, limits)
    finally:
        document.close()


def _drawn(document: Any, limits: Limits) -> Drawings:
    import pypdfium2  # noqa: PLC0415 - as above

    drawings: list[Drawing] = []
    undrawn: list[str] = []
    count, left = len(document), limits.drawn_bytes
    for number in range(1, min(count, limits.drawn_pages) + 1):
        try:
            drawing = _page(document[number - 1], number, limits.drawn_pixels)
        except (pypdfium2.PdfiumError, ValueError, OSError):
            undrawn.append(str(number))
            continue
        left -= len(drawing.png)
        if left < 0:
            return Drawings(
                pages=tuple(drawings), left_out=f"pages {number} to {count} are not drawn: too many bytes of pictures"
            )
        drawings.append(drawing)
    notes = [f"pages that cannot be drawn: {', '.join(undrawn)}"] if undrawn else []
    if count > limits.drawn_pages:
        notes.append(f"only the first {limits.drawn_pages} of {count} pages are drawn")
    return Drawings(pages=tuple(drawings), left_out="; ".join(notes) or None)


def _page(page: Any, number: int, most_pixels: int) -> Drawing:
    width, height = page.get_size()
    if not (0 < width < 1e5 and 0 < height < 1e5):
        raise ValueError("a page without a sensible size")
    scale = min(SHARPEST, (most_pixels / (width * height)) ** 0.5)
    bitmap = page.render(scale=scale, may_draw_forms=False)
    try:
        file = io.BytesIO()
        _plain(bitmap.to_pil()).save(file, "PNG")
    finally:
        bitmap.close()
        page.close()
    return Drawing(page=number, width=width, height=height, png=file.getvalue())


def _plain(picture: Any) -> Any:
    """A page without colours in shades of grey: a third of the bytes."""
    from PIL import ImageChops  # noqa: PLC0415 - as above

    red, green, blue = picture.convert("RGB").split()
    grey = ImageChops.difference(red, green).getbbox() is None and ImageChops.difference(red, blue).getbbox() is None
    return red if grey else picture.convert("RGB")
