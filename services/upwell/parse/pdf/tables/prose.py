"""Paragraphs among words: what no table of whitespace can be made of."""

from bisect import bisect_left, bisect_right
from collections.abc import Sequence

from upwell.parse.pdf.page import BBox, union
from upwell.parse.pdf.tables.words import Word
from upwell.records import Record

LONG_SIZES = 14.0
PROSE_LINES = 3
PROSE_GAP = 0.7
INDENT_POINTS = 12.0
EDGE_POINTS = 3.0
BASELINE_POINTS = 2.0
LONGEST_CELL_LINES = 12
NEAR_STACKS = 20


class _Piece(Record, frozen=True, kw_only=True):
    """A piece of a line by its words."""

    number: int
    bbox: BBox
    long: bool


def without_prose(words: Sequence[Word]) -> list[Word]:
    """The words without those of paragraphs: long lines below each other with one left edge, and a shorter last one.

    A stack of lines of which the first has something beside it and most have not is a cell of a table, unless
    paragraphs stand at the same left edge.
    """
    by_piece: dict[int, list[Word]] = {}
    for word in words:
        by_piece.setdefault(word.piece, []).append(word)
    pieces = sorted((_piece(i, ws) for i, ws in by_piece.items()), key=lambda p: p.bbox[1])
    stacks = [s for s in _stacks(pieces) if sum(p.long for p in s) >= PROSE_LINES]
    short = sorted(p.bbox[3] for p in pieces if not p.long)
    cells = [_cell(stack, short) for stack in stacks]
    edges = [stack[-1].bbox[0] for stack, cell in zip(stacks, cells, strict=True) if not cell]
    drop: set[int] = set()
    for stack, cell in zip(stacks, cells, strict=True):
        if not cell or any(abs(stack[-1].bbox[0] - edge) <= EDGE_POINTS for edge in edges):
            drop.update(p.number for p in stack)
    return [word for word in words if word.piece not in drop]


def _piece(number: int, words: Sequence[Word]) -> _Piece:
    box = union([w.bbox for w in words])
    return _Piece(number=number, bbox=box, long=box[2] - box[0] >= LONG_SIZES * words[0].size)


def _stacks(pieces: Sequence[_Piece]) -> list[list[_Piece]]:
    """Long lines below each other; a short one ends a stack."""
    stacks: list[list[_Piece]] = []
    for piece in pieces:
        for stack in reversed(stacks[-NEAR_STACKS:]):
            last = stack[-1]
            gap = piece.bbox[1] - last.bbox[3]
            below = -2 <= gap <= PROSE_GAP * (piece.bbox[3] - piece.bbox[1])
            if below and last.long and abs(piece.bbox[0] - last.bbox[0]) <= INDENT_POINTS:
                stack.append(piece)
                break
        else:
            if piece.long:
                stacks.append([piece])
    return stacks


def _cell(stack: Sequence[_Piece], short: Sequence[float]) -> bool:
    """`short` are the bottoms of all short pieces, ascending."""
    if len(stack) > LONGEST_CELL_LINES:
        return False
    beside = [_beside(line, short) for line in stack]
    return beside[0] and 2 * sum(beside) <= len(stack) + 1


def _beside(line: _Piece, short: Sequence[float]) -> bool:
    """Whether a short piece other than itself stands on its line."""
    low = bisect_left(short, line.bbox[3] - BASELINE_POINTS)
    high = bisect_right(short, line.bbox[3] + BASELINE_POINTS)
    return high - low > (0 if line.long else 1)
