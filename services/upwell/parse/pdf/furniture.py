"""Running heads, feet and page numbers: what comes back at the same place of other pages, digits apart."""

import re
from collections import Counter, defaultdict
from collections.abc import Sequence
from itertools import pairwise

from upwell.parse.pdf.frame import BBox
from upwell.parse.pdf.page import Page, Piece

MARGIN_SHARE, WIDE_MARGIN_SHARE = 0.12, 0.2
SIDE_SHARE = 0.12
LEAST_PAGES = 2
SHARE_OF_PAGES = 0.2
ROWS = 4
SMALLER, LARGER, LARGEST = 0.93, 1.15, 1.6
LEAST_GAP_SIZES, WIDER = 1.5, 1.2
PAGE_NUMBER = re.compile(
    r"(?:page|seite|p\.|pagina|página|стр\.)?\s*[-\u2013\u2014(\[|]*\s*(?:\d{1,4}|[ivxlc]{1,6}|[A-Z]{1,2}-\d{1,3})\s*[-\u2013\u2014)\]|]*"
    r"(?:\s*(?:of|/|von|de|sur|di|из)\s*\d{1,4})?|第\s*\d+\s*[页頁]|\d+\s*쪽",
    re.IGNORECASE,
)
ROMAN = re.compile(r"\b[ivxlc]{1,6}\b", re.IGNORECASE)


def page_furniture(pages: Sequence[Page]) -> dict[int, frozenset[int]]:
    """For each page number the positions of the pieces that are furniture."""
    body = _body_size(pages)
    margins = {page.number: _margin(page, body) for page in pages}
    seen: Counter[tuple[str, int]] = Counter()
    for page in pages:
        seen.update({mark for i in margins[page.number] for mark in _marks(page, page.pieces[i], body)})
    least = max(LEAST_PAGES, min(4, round(SHARE_OF_PAGES * len(pages))))
    found: dict[int, frozenset[int]] = {}
    for page in pages:
        inside = {i for i in margins[page.number] if _repeats(_marks(page, page.pieces[i], body), seen, least)}
        inside |= {
            i for i in margins[page.number] if page.pieces[i].size <= LARGER * body and _is_number(page, i, inside)
        }
        inside |= {i for i in margins[page.number] if _in_furnished_row(page, i, inside)}
        inside |= {i for i, piece in enumerate(page.pieces) if _in_side(page, piece)}
        found[page.number] = frozenset(inside - _tabular(page, inside))
    return found


def repeated_pictures(pages: Sequence[Page]) -> frozenset[BBox]:
    """Boxes of pictures that come back at the same place of most pages: logos."""
    counts: Counter[BBox] = Counter(box for page in pages for box in set(page.pictures))
    return frozenset(box for box, count in counts.items() if count >= max(3, len(pages) // 2))


def _margin(page: Page, body: float) -> list[int]:
    """The first and last few lines of a page where a gap or smaller letters set them off, in its margins or near.

    Much larger letters than the body's are headings, wherever they stand.
    """
    upright = [(i, p) for i, p in enumerate(page.pieces) if p.upright]
    heights = sorted({round(p.bbox[3]) for _, p in upright})
    outer = {*heights[:ROWS], *heights[-ROWS:]}
    apart = _set_off(heights, upright)
    return [
        i
        for i, p in upright
        if (height := round(p.bbox[3])) in outer
        and p.size <= LARGEST * body
        and (
            (height in apart and _in_margin(page, p, WIDE_MARGIN_SHARE))
            or (p.size < SMALLER * body and _in_margin(page, p, MARGIN_SHARE))
        )
    ]


def _body_size(pages: Sequence[Page]) -> float:
    sizes: Counter[float] = Counter()
    for page in pages:
        for piece in page.pieces:
            sizes[piece.size] += len(piece.text)
    return sizes.most_common(1)[0][0] if sizes else 10.0


def _set_off(heights: list[int], upright: list[tuple[int, Piece]]) -> set[int]:
    """The first line, the last and those around it, where a gap wider than that between most lines parts them."""
    sizes = {round(p.bbox[3]): p.size for _, p in upright}
    steps = sorted(b - a for a, b in pairwise(heights))
    usual = steps[len(steps) // 2] if len(steps) > 2 * ROWS else 0
    found: set[int] = set()
    for rows in (heights[: ROWS + 1], heights[: -ROWS - 2 : -1]):
        for k in range(1, min(3, len(rows))):
            least = max(LEAST_GAP_SIZES * max(sizes[rows[k]], sizes[rows[k - 1]]), WIDER * usual)
            if abs(rows[k] - rows[k - 1]) > least:
                found.update(rows[:k])
    return found


def _in_margin(page: Page, piece: Piece, share: float) -> bool:
    middle = (piece.bbox[1] + piece.bbox[3]) / 2
    return middle < share * page.height or middle > (1 - share) * page.height


def _in_side(page: Page, piece: Piece) -> bool:
    """A stamp that runs up the margin."""
    if piece.upright:
        return False
    middle = (piece.bbox[0] + piece.bbox[2]) / 2
    return middle < SIDE_SHARE * page.width or middle > (1 - SIDE_SHARE) * page.width


def _marks(page: Page, piece: Piece, body: float) -> tuple[tuple[str, int], ...]:
    """What a piece has in common with its like on other pages; on either side of a border between heights."""
    text = " ".join(piece.text.split()).casefold()
    if piece.size <= LARGER * body:  # of chapters' names, which are larger, the number is what tells them apart
        text = ROMAN.sub("#", re.sub(r"\d+", "#", text))
    height = 40 * piece.bbox[3] / page.height
    low = int(height)
    return ((text, low), (text, low + 1 if height - low > 0.5 else low - 1))


def _repeats(marks: Sequence[tuple[str, int]], seen: Counter[tuple[str, int]], least: int) -> bool:
    return max(seen[mark] for mark in marks) >= least


def _is_number(page: Page, index: int, known: set[int]) -> bool:
    """A page number: the page's first line or its last, alone but for furniture that is `known`."""
    piece = page.pieces[index]
    text = piece.text.strip()
    if not PAGE_NUMBER.fullmatch(text):
        return False
    if any(_in_row(piece, other) for k, other in enumerate(page.pieces) if k != index and k not in known):
        return False
    above = [p for p in page.pieces if p.upright]
    edge = min(p.bbox[1] for p in above) + piece.size, max(p.bbox[3] for p in above) - piece.size
    return piece.bbox[1] <= edge[0] or piece.bbox[3] >= edge[1]


def _in_row(piece: Piece, other: Piece) -> bool:
    """Whether another stands beside it, as the words of a heading do beside its number."""
    return min(piece.bbox[3], other.bbox[3]) - max(piece.bbox[1], other.bbox[1]) > 0.3 * piece.size


def _in_furnished_row(page: Page, index: int, known: set[int]) -> bool:
    """Whether it stands in one line with furniture, in letters like it: a chapter's name beside the page number."""
    piece = page.pieces[index]
    return any(
        _in_row(piece, other)
        and abs(piece.size - other.size) < 0.1 * piece.size
        and _in_margin(page, piece, MARGIN_SHARE)
        for other in (page.pieces[k] for k in known)
    )


def _tabular(page: Page, inside: set[int]) -> set[int]:
    """Pieces of rows of three and more right above rows like them: a table's head, which also comes back."""
    rows: defaultdict[int, list[int]] = defaultdict(list)
    for i, piece in enumerate(page.pieces):
        if piece.upright:
            rows[round(piece.bbox[3])].append(i)
    heights = sorted(rows)
    kept: set[int] = set()
    for at, height in enumerate(heights[:-1]):
        row, following = rows[height], rows[heights[at + 1]]
        near = heights[at + 1] - height < 2.5 * page.pieces[row[0]].size
        if len(row) >= 3 and len(following) >= 3 and near and height < page.height / 2:
            kept.update(i for i in row if i in inside)
    return kept
