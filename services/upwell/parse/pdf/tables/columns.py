"""Columns from whitespace: where segments of several lines stand below each other and beside others."""

from collections.abc import Sequence
from itertools import pairwise

from upwell.parse.pdf.tables.words import Line, Segment

TOUCH_POINTS = 0.5
LEAST_OVERLAP_POINTS = 2.0
LEAST_OVERLAP_SHARE = 0.3
STRAY_LINES = 4
STRAY_GAP_SHARE = 1.5
MOST_SEGMENTS = 6_000
MOST_COLUMNS = 60
FULL_SHARE = 0.6
MOSTLY = 0.5


class Column:
    """Where a column's ink lies, and on which lines it has some."""

    def __init__(self, left: float, right: float, lines: set[int]) -> None:
        self.left, self.right, self.lines = left, right, lines

    def __repr__(self) -> str:
        return f"Column({self.left:.0f}-{self.right:.0f}, {len(self.lines)})"


def find_columns(lines: Sequence[Line]) -> list[Column]:
    """Columns from the left.

    Lines with many segments say first, narrow segments before wide ones; a segment over several columns is a spanned
    cell where those stand side by side on more lines than it and its like bridge, else they were one column. What
    lines with few segments hold (headings over several columns) adds only what stands clear of the others more than
    once. More columns than a table may have are none.
    """
    most = sorted(len(line) for line in lines)[-max(1, len(lines) // 8) :][0] if lines else 0
    full = [i for i, line in enumerate(lines) if len(line) >= FULL_SHARE * most]
    first = _by_width(lines, full)
    rest = _by_width(lines, [i for i in range(len(lines)) if i not in set(full)])
    columns: list[Column] = []
    spanning: list[Segment] = []
    for segment, i in first:
        columns = _with(columns, segment, i, spanning)
        if len(columns) > MOST_COLUMNS:
            return []
    size = first[len(first) // 2][0].size if first else 0.0
    columns = _settled(sorted(columns, key=lambda c: c.left), spanning, size, len(full))
    return _widened(columns, rest, size, len(lines))


def _by_width(lines: Sequence[Line], at: Sequence[int]) -> list[tuple[Segment, int]]:
    placed = [(segment, i) for i in at for segment in lines[i]]
    return sorted(placed, key=lambda p: p[0].right - p[0].left)[:MOST_SEGMENTS]


def _over(columns: Sequence[Column], segment: Segment) -> list[Column]:
    return [c for c in columns if segment.left < c.right + TOUCH_POINTS and c.left < segment.right + TOUCH_POINTS]


def _with(columns: list[Column], segment: Segment, i: int, spanning: list[Segment]) -> list[Column]:
    """The columns with a segment in one, or a new one, or noted as spanning several."""
    over = _over(columns, segment)
    if not over:
        return [*columns, Column(segment.left, segment.right, {i})]
    if len(over) == 1:
        _grow(over[0], segment, i)
    elif _one(over):
        lines_on = set().union(*(c.lines for c in over))
        merged = Column(min(c.left for c in over), max(c.right for c in over), lines_on)
        _grow(merged, segment, i)
        return [*(c for c in columns if c not in over), merged]
    else:
        spanning.append(segment)
    return columns


def _widened(columns: list[Column], rest: Sequence[tuple[Segment, int]], size: float, lines: int) -> list[Column]:
    """The columns with what the lines of few segments hold."""
    extra: list[Column] = []
    spanning: list[Segment] = []
    for segment, i in rest:
        over = _over(columns, segment)
        if len(over) == 1:
            both = min(segment.right, over[0].right) - max(segment.left, over[0].left)
            if both >= MOSTLY * min(segment.right - segment.left, over[0].right - over[0].left):
                clear = [c for c in columns if c is not over[0]]
                if not _over(clear, segment):
                    _grow(over[0], segment, i)
        elif not over and len(extra) < MOST_COLUMNS:
            extra = _with(extra, segment, i, spanning)
    kept = [c for c in extra if len(c.lines) > 1 and not any(c.left < k.right and k.left < c.right for k in columns)]
    return _settled(sorted([*columns, *kept], key=lambda c: c.left), spanning, size, lines) if kept else columns


def _grow(column: Column, segment: Segment, line: int) -> None:
    column.left, column.right = min(column.left, segment.left), max(column.right, segment.right)
    column.lines.add(line)


def _one(columns: Sequence[Column]) -> bool:
    """Whether no line has something in two of them."""
    seen: set[int] = set()
    for column in columns:
        if seen & column.lines:
            return False
        seen |= column.lines
    return True


def _settled(columns: list[Column], spanning: Sequence[Segment], size: float, lines: int) -> list[Column]:
    """Neighbours that are one column put together, the closest first."""
    while len(columns) > 1:
        pairs = sorted(pairwise(range(len(columns))), key=lambda p: columns[p[1]].left - columns[p[0]].right)
        for a, b in pairs:
            if _same(columns[a], columns[b], spanning, size, lines):
                columns[a] = Column(
                    min(columns[a].left, columns[b].left),
                    max(columns[a].right, columns[b].right),
                    columns[a].lines | columns[b].lines,
                )
                del columns[b]
                break
        else:
            break
    return columns


def _same(a: Column, b: Column, spanning: Sequence[Segment], size: float, lines: int) -> bool:
    beside = len(a.lines & b.lines)
    if beside == 0:
        return True
    if lines >= STRAY_LINES and min(len(a.lines), len(b.lines)) == 1 and b.left - a.right < STRAY_GAP_SHARE * size:
        return True
    bridges = sum(s.left < a.right and s.right > b.left for s in spanning)
    return bridges > beside


def bounds(columns: Sequence[Column]) -> list[float]:
    """The x between each two columns."""
    return [(a.right + b.left) / 2 for a, b in pairwise(columns)]


def columns_under(segment: Segment, columns: Sequence[Column]) -> tuple[int, int]:
    """First and last column that the segment stands in; the nearest if none."""
    width = segment.right - segment.left
    over = [
        k
        for k, c in enumerate(columns)
        if min(segment.right, c.right) - max(segment.left, c.left)
        >= min(LEAST_OVERLAP_POINTS, LEAST_OVERLAP_SHARE * width)
    ]
    if over:
        return over[0], over[-1]
    x = (segment.left + segment.right) / 2
    nearest = min(range(len(columns)), key=lambda k: max(columns[k].left - x, x - columns[k].right))
    return nearest, nearest
