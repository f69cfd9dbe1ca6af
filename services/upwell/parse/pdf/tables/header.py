"""Header rows: how many there are, and which columns a heading over several stands for."""

from collections.abc import Sequence

from msgspec.structs import replace

from upwell.parse.pdf.page import BBox
from upwell.parse.pdf.tables.columns import Column
from upwell.parse.pdf.tables.rows import FIGURE_SHARE, Placed
from upwell.parse.pdf.tables.words import Segment, is_figure
from upwell.records import Cell

UNDER_SIZES = 1.2
CENTRED_POINTS = 4.0


def widened(lines: Sequence[Placed], header: int, columns: Sequence[Column], rules: Sequence[BBox]) -> list[Placed]:
    """Header lines above the last: each segment over the columns that a rule below it, or its place, says."""
    return [
        replace(line, segments=_over(line, lines[i + 1], columns, rules)) if i + 1 < header else line
        for i, line in enumerate(lines)
    ]


def _over(
    line: Placed, below: Placed, columns: Sequence[Column], rules: Sequence[BBox]
) -> tuple[tuple[Segment, int, int], ...]:
    placed: list[tuple[Segment, int, int]] = []
    for i, (segment, first, last) in enumerate(line.segments):
        low = line.segments[i - 1][2] + 1 if i else 0
        high = line.segments[i + 1][1] - 1 if i + 1 < len(line.segments) else len(columns) - 1
        a, b = _ruled(segment, line, columns, rules) or (first, last)
        if (a, b) == (first, last):
            low = max(low, next((k for k in range(first, -1, -1) if k not in below.columns), -1) + 1)
            a, b = _centred(segment, first, last, (min(low, first), max(high, last)), columns)
        placed.append((segment, a, b))
    return tuple(placed)


def _ruled(segment: Segment, line: Placed, columns: Sequence[Column], rules: Sequence[BBox]) -> tuple[int, int] | None:
    """The columns over which a rule runs right below the segment, those nearer to another segment apart."""
    x = (segment.left + segment.right) / 2
    for rule in rules:
        below = -0.3 * line.size <= rule[1] - line.bottom <= UNDER_SIZES * line.size
        if below and rule[0] - 2 <= x <= rule[2] + 2:
            over = [(s.left + s.right) / 2 for s, _, _ in line.segments]
            under = [
                k
                for k, c in enumerate(columns)
                if rule[0] - 2 <= (at := (c.left + c.right) / 2) <= rule[2] + 2
                and abs(at - x) <= min(abs(at - o) for o in over)
            ]
            if under and (rule[0] > columns[0].right or rule[2] < columns[-1].left):
                return under[0], under[-1]
    return None


def _centred(
    segment: Segment, first: int, last: int, within: tuple[int, int], columns: Sequence[Column]
) -> tuple[int, int]:
    """The range of columns whose middle is nearest to the segment's; as it was if that is no nearer."""
    x = (segment.left + segment.right) / 2

    def off(a: int, b: int) -> float:
        return abs((columns[a].left + columns[b].right) / 2 - x)

    ranges = [(a, b) for a in range(within[0], first + 1) for b in range(last, within[1] + 1)]
    best = min(ranges, key=lambda r: (off(*r), r[1] - r[0]), default=(first, last))
    return best if off(*best) + CENTRED_POINTS < off(first, last) else (first, last)


def header_rows(cells: Sequence[Cell], rows: int, marked: int) -> int:
    """Rows of the header: `marked` by a rule or by figures below them, else the first and what spans
    bring with it; none where the first row has figures as those below it have."""
    if marked:
        return min(marked, rows - 1)
    if _figures_first(cells):
        return 0
    count = 1
    while count < rows:
        above = [c for c in cells if c.row < count]
        reach = max((c.row + c.row_span for c in above), default=1)
        last = [c for c in cells if c.row == count - 1]
        if reach > count:
            count = reach
        elif any(c.col_span > 1 and c.text for c in last):
            count += 1
        else:
            break
    return min(count, rows - 1) if rows > 1 else 0


def _figures_first(cells: Sequence[Cell]) -> bool:
    """Whether the first row already has figures wherever the columns have them."""
    first = {c.col: c.text for c in cells if c.row == 0 and c.text}
    columns: dict[int, list[str]] = {}
    for cell in cells:
        if cell.row > 0 and cell.text and cell.col_span == 1:
            columns.setdefault(cell.col, []).append(cell.text)
    numeric = [k for k, texts in columns.items() if sum(map(is_figure, texts)) > FIGURE_SHARE * len(texts)]
    return bool(numeric) and all(is_figure(first.get(k, "")) for k in numeric)
