"""Rows of tables at the edge of a page, which stand where running heads do and look alike on each page."""

from collections.abc import Sequence
from itertools import pairwise

from upwell.parse.pdf.page import Page
from upwell.parse.pdf.tables import find_tables
from upwell.parse.pdf.tables.words import ROW_OVERLAP

WIDER = 1.1


def without_rows(pages: Sequence[Page], furniture: dict[int, frozenset[int]]) -> dict[int, frozenset[int]]:
    """The furniture of each page (positions of pieces by page number) without the rows of its tables."""
    return {page.number: furniture[page.number] - _rows(page, furniture[page.number]) for page in pages}


def _rows(page: Page, furniture: frozenset[int]) -> frozenset[int]:
    """Pieces that go on a table at its own distance from row to row."""
    if all(len(line) < 2 for line in _lines(page, furniture)):
        return frozenset()
    kept: set[int] = set()
    for table in find_tables(page):
        own = table.pieces & furniture
        if own and own != table.pieces:
            lines = _lines(page, table.pieces)
            kept |= _going_on(page, lines, own)
    return frozenset(kept)


def _going_on(page: Page, lines: Sequence[list[int]], own: frozenset[int]) -> set[int]:
    body = [i for i, line in enumerate(lines) if not own & set(line)]
    if len(body) < 2:
        return set()
    ys = [_y(page, line[0]) for line in lines]
    widest = WIDER * max((ys[b] - ys[a] for a, b in pairwise(body) if b == a + 1), default=0.0)
    kept: set[int] = set()
    for way in (range(body[0] - 1, -1, -1), range(body[-1] + 1, len(lines))):
        last = ys[way.start + 1] if way.step < 0 else ys[way.start - 1]
        for i in way:
            if abs(ys[i] - last) > widest:
                break
            kept.update(lines[i])
            last = ys[i]
    return kept


def _lines(page: Page, pieces: frozenset[int]) -> list[list[int]]:
    lines: list[list[int]] = []
    for i in sorted(pieces, key=lambda i: _y(page, i)):
        if lines and _y(page, i) - _y(page, lines[-1][0]) <= ROW_OVERLAP * page.pieces[i].size:
            lines[-1].append(i)
        else:
            lines.append([i])
    return lines


def _y(page: Page, piece: int) -> float:
    box = page.pieces[piece].bbox
    return (box[1] + box[3]) / 2
