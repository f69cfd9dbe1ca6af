"""Running heads, feet and page numbers: what stands at the same height of several pages, digits apart."""

import re
from collections import Counter
from collections.abc import Sequence

from upwell.parse.pdf.page import Page, Piece

MARGIN_SHARE = 0.1
LEAST_PAGES = 2
PAGE_NUMBER = re.compile(
    r"(?:page\s*)?[-\u2013(]?\s*(?:\d{1,4}|[ivxlc]{1,6})\s*[-\u2013)]?(?:\s*(?:of|/)\s*\d{1,4})?", re.IGNORECASE
)


def page_furniture(pages: Sequence[Page]) -> dict[int, frozenset[int]]:
    """For each page number the positions of the pieces that are furniture."""
    seen: Counter[tuple[str, int]] = Counter()
    for page in pages:
        seen.update({_mark(page, piece) for piece in page.pieces if _in_margin(page, piece)})
    return {
        page.number: frozenset(
            i
            for i, piece in enumerate(page.pieces)
            if _in_margin(page, piece)
            and (seen[_mark(page, piece)] >= LEAST_PAGES or PAGE_NUMBER.fullmatch(piece.text.strip()))
        )
        for page in pages
    }


def _in_margin(page: Page, piece: Piece) -> bool:
    middle = (piece.bbox[1] + piece.bbox[3]) / 2
    return middle < MARGIN_SHARE * page.height or middle > (1 - MARGIN_SHARE) * page.height


def _mark(page: Page, piece: Piece) -> tuple[str, int]:
    return re.sub(r"\d+", "#", " ".join(piece.text.split())), round(20 * piece.bbox[1] / page.height)
