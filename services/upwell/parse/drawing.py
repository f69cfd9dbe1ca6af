"""Pages as pictures, for a person who wants to see where the blocks of a PDF, or the words of a scan, lie. Runs in the
confined child.
"""

import io
from collections.abc import Callable, Iterator
from functools import partial
from itertools import islice
from typing import Any

from upwell.parse import media
from upwell.parse.detect import detect
from upwell.parse.drawn import Drawing, Drawings
from upwell.parse.failures import Unparsable
from upwell.parse.limits import Limits
from upwell.parse.ocr.images import frames

POINTS_AN_INCH = 72
SHARPEST = 144 / POINTS_AN_INCH


def draw_pages(data: bytes, name: str, claimed: str | None, limits: Limits) -> Drawings:
    """The pages of a PDF, or the frames of a picture file, as far as they can be drawn; nothing, without an error, for
    what is neither.
    """
    if not data or len(data) > limits.file_bytes:
        return Drawings()
    media_type = detect(data, name, claimed)
    if media_type == media.PDF:
        return _of_pdf(data, limits)
    return _of_picture(data, limits) if media_type.startswith("image/") else Drawings()


def _of_pdf(data: bytes, limits: Limits) -> Drawings:
    import pypdfium2  # type: ignore[import-untyped]  # noqa: PLC0415 - a C library that loads only when a PDF comes

    try:
        document = pypdfium2.PdfDocument(data)
    except pypdfium2.PdfiumError:
        return Drawings(left_out="the pages cannot be drawn: the PDF does not open")
    try:
        return _within((partial(_page, document, number, limits) for number in range(1, len(document) + 1)), limits)
    finally:
        document.close()


def _of_picture(data: bytes, limits: Limits) -> Drawings:
    try:
        return _within((partial(_frame, *frame, limits) for frame in frames(data)), limits)
    except Unparsable as e:
        return Drawings(left_out=f"the picture cannot be drawn: {e.reason}")


def _within(pages: Iterator[Callable[[], Drawing]], limits: Limits) -> Drawings:
    """What of the pages the limits allow; one after the other, so that only one is in memory."""
    import pypdfium2  # noqa: PLC0415 - as above

    drawings: list[Drawing] = []
    undrawn: list[str] = []
    left = limits.drawn_bytes
    for number, draw in enumerate(islice(pages, limits.drawn_pages), start=1):
        try:
            drawing = draw()
        except (pypdfium2.PdfiumError, ValueError, OSError):
            undrawn.append(str(number))
            continue
        left -= len(drawing.png)
        if left < 0:
            left_out = f"page {number} and what follows are not drawn: too many bytes of pictures"
            return Drawings(pages=tuple(drawings), left_out=left_out)
        drawings.append(drawing)
    notes = [f"pages that cannot be drawn: {', '.join(undrawn)}"] if undrawn else []
    if next(pages, None) is not None:
        notes.append(f"only the first {limits.drawn_pages} pages are drawn")
    return Drawings(pages=tuple(drawings), left_out="; ".join(notes) or None)


def _page(document: Any, number: int, limits: Limits) -> Drawing:
    page = document[number - 1]
    width, height = page.get_size()
    if not (0 < width < 1e5 and 0 < height < 1e5):
        raise ValueError("a page without a sensible size")
    scale = min(SHARPEST, (limits.drawn_pixels / (width * height)) ** 0.5)
    bitmap = page.render(scale=scale, may_draw_forms=False)
    try:
        return Drawing(page=number, width=width, height=height, png=_png(bitmap.to_pil()))
    finally:
        bitmap.close()
        page.close()


def _frame(number: int, pixels: Any, points: float, limits: Limits) -> Drawing:
    """`pixels` in blue, green, red; each `points` wide and high."""
    from PIL import Image  # noqa: PLC0415 - as above

    picture = Image.fromarray(pixels[:, :, ::-1])
    width, height = picture.size
    shrink = min(1.0, (limits.drawn_pixels / (width * height)) ** 0.5)
    drawn = picture.resize((max(1, int(width * shrink)), max(1, int(height * shrink))))
    return Drawing(page=number, width=width * points, height=height * points, png=_png(drawn))


def _png(picture: Any) -> bytes:
    file = io.BytesIO()
    _plain(picture).save(file, "PNG")
    return file.getvalue()


def _plain(picture: Any) -> Any:
    """A page without colours in shades of grey: a third of the bytes."""
    from PIL import ImageChops  # noqa: PLC0415 - as above

    red, green, blue = picture.convert("RGB").split()
    grey = ImageChops.difference(red, green).getbbox() is None and ImageChops.difference(red, blue).getbbox() is None
    return red if grey else picture.convert("RGB")
