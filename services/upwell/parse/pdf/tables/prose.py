"""Paragraphs among words: what no table of whitespace can be made of."""

from collections.abc import Sequence

from upwell.parse.pdf.page import BBox, union
from upwell.parse.pdf.tables.words import Word

PROSE_WORDS = 6
PROSE_LINES = 3
PROSE_GAP = 0.9
INDENT_POINTS = 12.0


def without_prose(words: Sequence[Word]) -> list[Word]:
    """The words without those of paragraphs: three or more long lines below each other with one left edge."""
    pieces: dict[int, list[Word]] = {}
    for word in words:
        pieces.setdefault(word.piece, []).append(word)
    long = sorted((union([w.bbox for w in ws]), i) for i, ws in pieces.items() if len(ws) >= PROSE_WORDS)
    drop: set[int] = set()
    stacks: list[list[tuple[BBox, int]]] = []
    for box, i in sorted(long, key=lambda p: p[0][1]):
        for stack in reversed(stacks[-20:]):
            last = stack[-1][0]
            gap = box[1] - last[3]
            if abs(box[0] - last[0]) <= INDENT_POINTS and -2 <= gap <= PROSE_GAP * (box[3] - box[1]):
                stack.append((box, i))
                break
        else:
            stacks.append([(box, i)])
    for stack in stacks:
        if len(stack) >= PROSE_LINES:
            drop.update(i for _, i in stack)
    return [w for w in words if w.piece not in drop]
