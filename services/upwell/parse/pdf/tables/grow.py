"""A box between rules and the lines around it that belong to the same table."""

from collections.abc import Sequence
from itertools import pairwise

from upwell.parse.pdf.page import BBox
from upwell.parse.pdf.tables.likely import CAPTION
from upwell.parse.pdf.tables.words import Line, Word, line_box, lines_of

OUTSIDE_SHARE = 0.5
BESIDE_POINTS = 200.0
EDGE_POINTS = 3.0
NEAR_SIZES = 1.3
WIDE_GAP = 1.0
FARTHEST_POINTS = 5_000.0
TIGHT_SIZES = 0.35


def grown_box(box: BBox, loose: Sequence[Word]) -> BBox | None:
    """The box with rows above and below that no rule closes off; None where its lines go on beside it.

    `loose` are the page's words without its paragraphs. Rules over the columns of figures alone do not hold the
    table: whitespace must say where it is.
    """
    inside = lines_of([w for w in loose if box[1] <= w.y <= box[3] and _between(w, box)])
    if not inside:
        return box
    beside = [w for w in loose if box[1] <= w.y <= box[3] and not _between(w, box) and _near(w, box)]
    if len(lines_of(beside)) > OUTSIDE_SHARE * len(inside):
        return None
    size = inside[0][0].size
    gaps = [line_box(b)[1] - line_box(a)[3] for a, b in pairwise(inside)]
    reach = max(NEAR_SIZES * size, 1.2 * max(gaps, default=0.0)) if gaps else NEAR_SIZES * size
    below = lines_of([w for w in loose if box[3] < w.y < box[3] + FARTHEST_POINTS and _near(w, box)])
    above = lines_of([w for w in loose if box[1] - FARTHEST_POINTS < w.y < box[1] and _near(w, box)])
    bottom = _reach(below, box, reach, down=True)
    top = _reach(list(reversed(above)), box, reach, down=False)
    return (box[0], top, box[2], bottom)


def _between(word: Word, box: BBox) -> bool:
    return box[0] - EDGE_POINTS <= word.x <= box[2] + EDGE_POINTS


def _near(word: Word, box: BBox) -> bool:
    return box[0] - BESIDE_POINTS < word.x < box[2] + BESIDE_POINTS


def _reach(lines: Sequence[Line], box: BBox, reach: float, *, down: bool) -> float:
    """How far rows go on, line by line; a line of one segment only with a row beyond it, or close to one."""
    kept = edge = box[3] if down else box[1]
    for line in lines:
        over = [s for s in line if s.right > box[0] and s.left < box[2]]
        if not over:
            continue
        around = line_box(over)
        gap = around[1] - edge if down else edge - around[3]
        within = around[0] >= box[0] - EDGE_POINTS and around[2] <= box[2] + EDGE_POINTS
        if gap > reach or not within or CAPTION.match(over[0].text):
            return kept
        edge = around[3] if down else around[1]
        close = down and gap < TIGHT_SIZES * over[0].size and kept != box[3]
        if _apart(over) or close:
            kept = edge + EDGE_POINTS if down else edge - EDGE_POINTS
    return kept


def _apart(line: Line) -> bool:
    return len(line) > 1 and all(b.left - a.right > WIDE_GAP * a.size for a, b in pairwise(line))
