"""Pages that are pictures: which they are, and their words as pieces, by OCR where it may and can."""

from collections.abc import Iterable, Sequence

from msgspec.structs import replace

from upwell.parse.ocr import reader as ocr
from upwell.parse.ocr.reader import Allowance, Seen
from upwell.parse.pdf.file import PdfFile
from upwell.parse.pdf.frame import HALF
from upwell.parse.pdf.page import Page, Piece
from upwell.records import Record

MOSTLY = 0.5
LEAST_CHARACTERS = 3
MOST_PIXELS = 4_000_000
LETTER_SHARE = 0.85
ALIKE = 0.2


class Scans(Record, frozen=True, kw_only=True):
    """The pages, those that are pictures with what was read of them, and the numbers of those that were not read."""

    pages: tuple[Page, ...]
    unread: tuple[int, ...] = ()


def is_picture(page: Page) -> bool:
    """Whether a page has to be looked at to be read: no text but a picture, or letters of no known meaning."""
    if page.characters < LEAST_CHARACTERS:
        return bool(page.pictures)
    return page.unknown > MOSTLY * sum(len(piece.text.replace(" ", "")) for piece in page.pieces)


def read_scans(file: PdfFile, pages: Sequence[Page], allowance: Allowance, *, read: bool) -> Scans:
    """The words of pages that are pictures, as far as the allowance goes; with `read` False none."""
    done: list[Page] = []
    unread: list[int] = []
    for page in pages:
        if not is_picture(page):
            done.append(page)
            continue
        pieces: tuple[Piece, ...] = ()
        if read and not allowance.spent:
            image = file.render(page.number, MOST_PIXELS)
            seen = ocr.read_picture(image) if image is not None else []
            allowance.spend(len(seen))
            upright = _upright(page)
            scale = upright.width / image.shape[1] if image is not None else 1.0
            pieces = tuple(pieces_of(seen, scale))
            page = replace(upright, pieces=pieces)  # noqa: PLW2901 - the same page, read
        if not pieces:
            unread.append(page.number)
        done.append(replace(page, pieces=pieces))
    return Scans(pages=tuple(done), unread=tuple(unread))


def _upright(page: Page) -> Page:
    """The page as it shows; what was drawn on it is forgotten where it was turned."""
    if not page.turn:
        return page
    width, height = (page.width, page.height) if page.turn == HALF else (page.height, page.width)
    return Page(number=page.number, width=width, height=height, pieces=())


def pieces_of(seen: Iterable[Seen], scale: float) -> list[Piece]:
    """Lines as pieces in points; letters about as high as most are of one size, for boxes are never exact."""
    lines = list(seen)
    heights = sorted(line.bbox[3] - line.bbox[1] for line in lines)
    usual = heights[len(heights) // 2] if heights else 1.0
    pieces: list[Piece] = []
    for line in lines:
        height = line.bbox[3] - line.bbox[1]
        size = LETTER_SHARE * scale * (usual if abs(height - usual) <= ALIKE * usual else height)
        x0, y0, x1, y1 = (round(scale * at, 2) for at in line.bbox)
        pieces.append(
            Piece(text=line.text, bbox=(x0, y0, x1, y1), size=round(max(size, 1.0), 2), confidence=line.confidence)
        )
    return pieces
