"""Picture files (PNG, JPEG, TIFF and their like): their words by OCR, each frame a page."""

import io
from collections.abc import Iterator
from typing import Any

from upwell.parse.failures import Unparsable, corrupt, too_large
from upwell.parse.limits import Limits
from upwell.parse.ocr import reader as ocr
from upwell.parse.ocr.reader import Allowance
from upwell.parse.outline import Outline
from upwell.parse.pdf.blocks import add_pages
from upwell.parse.pdf.page import Page
from upwell.parse.pdf.scans import pieces_of
from upwell.parse.policy import ParsePolicy
from upwell.records import ParsedDocument, ParseStatus

PARSER = "ocr/1"
MOST_PIXELS = 60_000_000
MOST_FRAMES = 50
SMALLEST_SIDE, LONGEST_SIDE = 16, 2_400
USUAL_DPI, POINTS_AN_INCH = 96.0, 72.0
LEAST_DPI, MOST_DPI = 30.0, 2_400.0


def parse_image(data: bytes, limits: Limits, policy: ParsePolicy, allowance: Allowance) -> ParsedDocument:
    """Blocks with boxes and confidence. Raises Unparsable: `needs_ocr` where no words can be read."""
    if not policy.ocr or not ocr.available():
        raise Unparsable(ParseStatus.NEEDS_OCR, "an image: its text needs OCR (extra upwell[ocr])")
    pages: list[Page] = []
    unread: list[int] = []
    for number, pixels, scale in frames(data):
        height, width = pixels.shape[:2]
        if allowance.spent or min(height, width) < SMALLEST_SIDE:
            unread.append(number)
            continue
        seen = ocr.read_picture(pixels)
        allowance.spend(len(seen))
        pages.append(
            Page(number=number, width=scale * width, height=scale * height, pieces=tuple(pieces_of(seen, scale)))
        )
    if not any(page.pieces for page in pages):
        raise Unparsable(ParseStatus.NEEDS_OCR, "an image in which no words were found")
    outline = Outline(limits.characters)
    title = add_pages(pages, (), "", outline)
    return ParsedDocument(
        status=ParseStatus.OK,
        blocks=tuple(outline.blocks),
        title=title,
        pages=len(pages) + len(unread),
        parser=PARSER,
        reason=f"{len(unread)} more pages were not read" if unread else None,
    )


def frames(data: bytes) -> Iterator[tuple[int, Any, float]]:
    """Number, pixels (BGR) and points a pixel of each frame. Raises Unparsable."""
    import numpy as np  # noqa: PLC0415 - only where there is OCR
    from PIL import Image, ImageOps, ImageSequence, UnidentifiedImageError  # noqa: PLC0415 - as above

    try:
        with Image.open(io.BytesIO(data)) as image:
            for number, frame in enumerate(ImageSequence.Iterator(image), start=1):
                width, height = frame.size
                if width * height > MOST_PIXELS:
                    raise too_large(f"a picture of {width} x {height} pixels")
                if number > MOST_FRAMES:
                    return
                scale = POINTS_AN_INCH / _dpi(frame)
                shrink = min(1.0, LONGEST_SIDE / max(width, height))
                upright = ImageOps.exif_transpose(frame) or frame
                if shrink < 1:
                    upright = upright.resize(
                        (max(1, int(upright.width * shrink)), max(1, int(upright.height * shrink)))
                    )
                yield number, np.asarray(_opaque(upright))[:, :, ::-1].copy(), scale / shrink
    except Image.DecompressionBombError as e:
        raise too_large("a picture of too many pixels") from e
    except (UnidentifiedImageError, OSError, ValueError, SyntaxError, EOFError, TypeError, IndexError) as e:
        raise corrupt("the picture cannot be read") from e


def _opaque(image: Any) -> Any:
    """The picture in RGB, on white where it is transparent."""
    from PIL import Image  # noqa: PLC0415 - as above

    if "A" not in image.getbands() and "transparency" not in image.info:
        return image.convert("RGB")
    layered = image.convert("RGBA")
    return Image.alpha_composite(Image.new("RGBA", layered.size, "white"), layered).convert("RGB")


def _dpi(image: Any) -> float:
    try:
        dpi = float(image.info.get("dpi", (USUAL_DPI,))[0])
    except (TypeError, ValueError, IndexError, ZeroDivisionError):
        return USUAL_DPI
    return dpi if LEAST_DPI <= dpi <= MOST_DPI else USUAL_DPI
