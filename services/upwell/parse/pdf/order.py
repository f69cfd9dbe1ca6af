"""Reading order: lines to regions (what of a column nothing parts), and regions in the order that they are read.

The order is Breuel's (High performance document layout analysis, 2003): of two that overlap from left to right the
upper comes first; of two in columns side by side the left one (the right one in scripts that run so), unless something
that overlaps both lies between them in height.
"""

from collections.abc import Sequence
from itertools import pairwise
from typing import Protocol

import msgspec
import numpy as np

from upwell.parse.pdf.frame import BBox
from upwell.parse.pdf.page import Piece, union

CLOSE_LINES, CLOSE_CODE_LINES = 1.5, 2.6
MOST_ORDERED = 300
LABEL_SIZES = 5.0
ALIKE_SHARE = 0.12
WIDEST_SPACE_SIZES, WIDEST_CODE_GAP_SIZES = 2.5, 14.0
WIDEST_INDENT_SIZES = 5.0
LABEL_CHARACTERS = 25
LEAST_ROWS = 3
SLACK_POINTS, BETWEEN_POINTS, BALANCED_POINTS = 1.0, 3.0, 28.0


class Placed(Protocol):
    """Anything with a box."""

    @property
    def bbox(self) -> BBox: ...


class Region(msgspec.Struct):
    """Lines of one column, from the top; `bbox` is around them, `last` around the last row.

    `by_row`: each row is a thing of its own.
    """

    pieces: list[Piece]
    bbox: BBox
    last: BBox = (0.0, 0.0, 0.0, 0.0)
    by_row: bool = False

    def add(self, piece: Piece) -> None:
        self.pieces.append(piece)
        self.bbox = union([self.bbox, piece.bbox])


def regions(pieces: Sequence[Piece]) -> list[Region]:
    """Lines that follow each other closely in one column together; what stands beside them is another region."""
    done: list[Region] = []
    open_: list[Region] = []
    rows = rows_of(pieces)
    for at, row in enumerate(rows):
        beside = [*rows[max(0, at - 2) : at], *rows[at + 1 : at + 3]]
        top = row[0].bbox[1]
        open_ = [r for r in open_ if top - r.bbox[3] <= _close(r.pieces[-1], row[0])]
        added: list[Region] = []
        groups = _grouped(row, beside)
        for group in groups:
            near = [r for r in open_ if _under(_end(r, group[0]), union([p.bbox for p in group]))]
            if not near and len(groups) == 1 and at:
                near = [r for r in open_ if _same_program(r, rows[at - 1], group)]
            fits = near[0] if len(near) == 1 and not any(near[0] is r for r in added) else None
            region = fits or Region(pieces=[], bbox=group[0].bbox, last=group[0].bbox)
            for piece in group:
                region.add(piece)
            region.last = union([p.bbox for p in group])
            if fits is None:
                done.append(region)
            added.append(region)
        open_ = [r for r in open_ if not any(r is a for a in added)] + added
    return _with_labels(done)


def _close(last: Piece, piece: Piece) -> float:
    """How far apart lines of one region may be; programs have empty lines, headings stand by themselves."""
    if abs(last.size - piece.size) > ALIKE_SHARE * max(last.size, piece.size):
        return min(last.size, piece.size)
    return (CLOSE_CODE_LINES if last.mono and piece.mono else CLOSE_LINES) * min(last.size, piece.size)


def column(region: Region, others: Sequence[Region]) -> tuple[float, float]:
    """From where to where the column runs that a region is in: as wide as the nearest that is at least as wide."""
    x0, y0, x1, y1 = region.bbox
    wider = [r.bbox for r in others if r.bbox[0] <= x0 + SLACK_POINTS and r.bbox[2] >= x1 - SLACK_POINTS]
    nearest = min(wider, key=lambda b: (b[2] - b[0] <= x1 - x0 + 1, max(b[1] - y1, y0 - b[3])), default=region.bbox)
    return min(x0, nearest[0]), max(x1, nearest[2])


def _end(region: Region, piece: Piece) -> BBox:
    """What a line has to stand under to go on with a region: its last row; of a program, which indents, any."""
    return region.bbox if piece.mono and region.pieces[-1].mono else region.last


def _same_program(region: Region, above: list[Piece], group: list[Piece]) -> bool:
    """Whether a line of a program goes on with it indented, or out of an indent, under a line too short to be over it.

    Nothing stands beside either of the lines.
    """
    last, piece = region.pieces[-1], group[0]
    apart = max(piece.bbox[0] - region.bbox[2], region.bbox[0] - group[-1].bbox[2])
    return (
        last.mono
        and piece.mono
        and above[-1] is last
        and all(any(p is known for known in region.pieces[-len(above) :]) for p in above)
        and abs(last.size - piece.size) <= ALIKE_SHARE * last.size
        and apart < WIDEST_INDENT_SIZES * piece.size
    )


def _under(a: BBox, b: BBox) -> bool:
    """Whether they overlap from left to right by half of the narrower and more."""
    return min(a[2], b[2]) - max(a[0], b[0]) > 0.5 * min(a[2] - a[0], b[2] - b[0])


def rows_of(pieces: Sequence[Piece]) -> list[list[Piece]]:
    """Pieces that stand on one line, from the left; lines from the top."""
    rows: list[list[Piece]] = []
    for piece in sorted(pieces, key=lambda p: (p.bbox[3], p.bbox[0])):
        if rows and piece.bbox[3] - rows[-1][0].bbox[3] <= 0.3 * min(piece.size, rows[-1][0].size):
            rows[-1].append(piece)
        else:
            rows.append([piece])
    return [sorted(row, key=lambda p: p.bbox[0]) for row in rows]


def _grouped(row: list[Piece], beside: list[list[Piece]]) -> list[list[Piece]]:
    """The pieces of a row, a marker (of a list, a heading's number) with what follows it.

    Also those that are one line after all, as the rows `beside` it tell.
    """
    groups: list[list[Piece]] = []
    for piece in row:
        last = groups[-1][-1] if groups else None
        marked = last is not None and _is_marker(last) and piece.bbox[0] - last.bbox[2] <= LABEL_SIZES * piece.size
        program = (
            last is not None
            and last.mono
            and piece.mono
            and piece.bbox[0] - last.bbox[2] < WIDEST_CODE_GAP_SIZES * piece.size
        )
        if last is not None and (marked or program or _one_line(last, piece, beside)):
            groups[-1].append(piece)
        else:
            groups.append([piece])
    return groups


def _is_marker(piece: Piece) -> bool:
    text = piece.text.strip()
    return len(text) <= 6 and (not text.isalpha() or len(text) == 1)


def _one_line(last: Piece, piece: Piece, beside: list[list[Piece]]) -> bool:
    """Whether a gap in a line is no gutter: lines above or below run across it, and none parts where it does."""
    low, high = last.bbox[2], piece.bbox[0]
    if high - low > WIDEST_SPACE_SIZES * piece.size:
        return False
    crossed = False
    for row in beside:
        if abs(row[0].bbox[3] - piece.bbox[3]) > 2.6 * piece.size:
            continue
        if any(a.bbox[2] < high and b.bbox[0] > low and b.bbox[0] > a.bbox[2] for a, b in pairwise(row)):
            return False
        crossed = crossed or any(p.bbox[0] < low and p.bbox[2] > high for p in row)
    return crossed


def _with_labels(found: list[Region]) -> list[Region]:
    """Short labels on the left and what they label, line by line: one region, so that each stays with its own."""
    found = sorted(found, key=lambda r: (r.bbox[0], r.bbox[1]))
    for i, left in enumerate(found):
        if len(left.pieces) < LEAST_ROWS or _mean_length(left) > LABEL_CHARACTERS:
            continue
        for right in found[i + 1 :]:
            if right.pieces and left.bbox[2] <= right.bbox[0] and _in_rows(left, right):
                for piece in right.pieces:
                    left.add(piece)
                right.pieces, left.by_row = [], True
                left.pieces.sort(key=lambda p: (round(p.bbox[3]), p.bbox[0]))
    return [region for region in found if region.pieces]


def _mean_length(region: Region) -> float:
    return sum(len(piece.text) for piece in region.pieces) / max(1, len(region.pieces))


def _in_rows(left: Region, right: Region) -> bool:
    """Whether nearly each line of both has a partner at its height."""
    if len(right.pieces) > 1.3 * len(left.pieces) or len(right.pieces) < LEAST_ROWS:
        return False
    bottoms = sorted(piece.bbox[3] for piece in right.pieces)
    at = np.searchsorted(bottoms, [piece.bbox[3] - 1.0 for piece in left.pieces])
    pairs = sum(
        k < len(bottoms) and abs(bottoms[k] - piece.bbox[3]) <= 1.0 for k, piece in zip(at, left.pieces, strict=True)
    )
    return bool(pairs >= 0.8 * max(len(left.pieces), len(right.pieces)))


def reading_order(boxes: Sequence[BBox], leftwards: Sequence[bool] = ()) -> list[int]:
    """Positions of the boxes in the order that they are read. `leftwards`: which are of a script that runs so."""
    runs = np.array(leftwards or [False] * len(boxes), dtype=bool)
    from_right = bool(runs.all()) and len(boxes) > 0
    down = sorted(range(len(boxes)), key=lambda i: (boxes[i][1], -boxes[i][2] if from_right else boxes[i][0]))
    if len(boxes) > MOST_ORDERED or len(boxes) < 2:
        return down
    before = _before(np.array([boxes[i] for i in down], dtype=float), runs[down])
    ordered: list[int] = []
    state = [0] * len(down)
    for start in range(len(down)):
        stack = [start]
        while stack:
            node = stack[-1]
            if state[node] == 0:
                state[node] = 1
                stack.extend(int(k) for k in np.flatnonzero(before[:, node])[::-1] if state[k] == 0)
            else:
                stack.pop()
                if state[node] == 1:
                    state[node] = 2
                    ordered.append(down[node])
    return ordered


def _before(boxes: np.ndarray, leftwards: np.ndarray) -> np.ndarray:
    """[a, b]: a is read before b."""
    x0, y0, x1, y1 = boxes.T
    middle = (y0 + y1) / 2
    overlap = np.minimum(x1[:, None], x1) - np.maximum(x0[:, None], x0) > SLACK_POINTS
    level = np.minimum(y1[:, None], y1) - np.maximum(y0[:, None], y0) > SLACK_POINTS
    side = (x1[:, None] <= x0 + SLACK_POINTS) & ~overlap
    both = leftwards[:, None] & leftwards[None, :]
    left = np.where(both, side.T, side)
    parted = np.zeros_like(overlap)
    low, high = (
        np.minimum(y1[:, None], y1),
        np.maximum(y0[:, None], y0),
    )  # of a and b: where the upper ends, the lower starts
    for c in range(len(boxes)):
        between = np.minimum(y1[c], high) - np.maximum(y0[c], low) > BETWEEN_POINTS
        parted |= between & overlap[:, c][:, None] & overlap[c, :][None, :]
    upper = np.where(level, y0[:, None] < y0, middle[:, None] < middle)
    before: np.ndarray = (overlap & upper) | (
        left & ~parted & _columns(overlap, level & ~overlap, upper) & ~_under_balanced(boxes, overlap, level & ~overlap)
    )
    np.fill_diagonal(before, val=False)
    return before


def _under_balanced(boxes: np.ndarray, overlap: np.ndarray, beside: np.ndarray) -> np.ndarray:
    """[a, b]: a, beside nothing or over two of them, starts afresh below columns that end together; b is no lower."""
    y0: np.ndarray = boxes[:, 1]
    y1: np.ndarray = boxes[:, 3]
    together = (np.abs(y0[:, None] - y0) < BALANCED_POINTS) & (np.abs(y1[:, None] - y1) < BALANCED_POINTS) & beside
    ends: np.ndarray = np.where(together, np.maximum(y1[:, None], y1), 0).max(axis=1)
    crossing = (overlap.astype(np.int32) @ together.astype(np.int32) > 0) & overlap  # over two of the columns
    lonely: np.ndarray = np.logical_not(np.any(beside, axis=1)) | np.any(crossing, axis=1)
    known: np.ndarray = np.any(together, axis=1)
    under: np.ndarray = lonely[:, None] & known[None, :] & (y0[:, None] >= ends[None, :] - SLACK_POINTS)
    above: np.ndarray = y1[None, :] <= y0[:, None] + SLACK_POINTS  # [g, b]: b is above g
    above |= beside & (y1[None, :] <= ends[:, None] + BALANCED_POINTS)  # or a part of another of its columns
    reached = (under & overlap).astype(np.int32) @ above.astype(np.int32) > 0
    result: np.ndarray = under | reached
    return result


def _columns(overlap: np.ndarray, beside: np.ndarray, upper: np.ndarray) -> np.ndarray:
    """[a, b]: they stand in two columns: beside each other, or a below something that is in a's column and beside b.

    What is in a column with a: overlaps it from left to right, and nothing beside a as well (then it lies across).
    """
    across = beside.astype(np.int32) @ overlap.astype(np.int32) > 0  # [a, c]: c overlaps something beside a
    own = overlap & ~across & upper.T  # [a, c]: c is above a, in its column
    columns: np.ndarray = beside | ((own.astype(np.int32) @ beside.astype(np.int32) > 0) & upper.T)
    return columns
