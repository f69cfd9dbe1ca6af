"""Lines of text to rows: which line goes on in the cells of the one above it."""

from collections.abc import Sequence
from itertools import pairwise

from msgspec.structs import replace

from upwell.parse.pdf.tables.columns import Column, columns_under
from upwell.parse.pdf.tables.words import Line, Segment, is_figure, is_number, line_box
from upwell.records import Record

LOOSE_PITCH = 1.6
TIGHT_PITCH = 1.45
BIMODAL = 1.22
SHARED_PITCH = 0.85
NARROW_SIZES = 6.0
MOST_HEADER_LINES = 5
FIGURE_SHARE = 0.5


class Placed(Record, frozen=True, kw_only=True):
    """A line whose segments know their first and last columns. `down`: it stands half in the row below."""

    segments: tuple[tuple[Segment, int, int], ...]
    top: float
    bottom: float
    size: float
    down: bool = False

    @property
    def y(self) -> float:
        return (self.top + self.bottom) / 2

    @property
    def columns(self) -> frozenset[int]:
        return frozenset(k for _, a, b in self.segments for k in range(a, b + 1))

    @property
    def spans(self) -> bool:
        return any(b > a for _, a, b in self.segments)

    def in_column(self, column: int) -> list[Segment]:
        """What starts in a column."""
        return [s for s, a, _ in self.segments if a == column]


def placed(line: Line, columns: Sequence[Column]) -> Placed:
    """The line on the columns."""
    box = line_box(line)
    return Placed(
        segments=tuple((s, *columns_under(s, columns)) for s in line),
        top=box[1],
        bottom=box[3],
        size=max(s.size for s in line),
    )


def header_lines(lines: Sequence[Placed], columns: int) -> int:
    """How many lines from the top stand above the first that has the figures of the columns that hold figures."""
    figures = [0] * columns
    filled = [0] * columns
    for line in lines:
        for segment, a, b in line.segments:
            if a == b:
                filled[a] += 1
                figures[a] += is_figure(segment.text)
    numeric = [k for k in range(columns) if filled[k] > 1 and figures[k] >= FIGURE_SHARE * filled[k]]
    if not numeric:
        return 0
    for i, line in enumerate(lines[: MOST_HEADER_LINES + 1]):
        have = {a for s, a, b in line.segments if a == b and is_figure(s.text)}
        if any(k in have for k in numeric):
            return _without_group(lines, i)
    return 0


def _without_group(lines: Sequence[Placed], count: int) -> int:
    """The header's lines without the headings of a group of rows, in the first column alone, that end them."""
    while count > 1 and lines[count - 1].columns == {0}:
        count -= 1
    return count


class RowMaker:
    """Decides for the lines of one table, from their pitch, what the cells hold and where their text had to break."""

    def __init__(self, lines: Sequence[Placed], columns: Sequence[Column], header: int) -> None:
        self._lines, self._header = lines, header
        self._count = len(columns)
        self._right = [
            max((s.right for p in lines for s, a, b in p.segments if b == k), default=0.0) for k in range(self._count)
        ]
        self._left = [
            min((s.left for p in lines for s, a, _ in p.segments if a == k), default=0.0) for k in range(self._count)
        ]
        self._loose = self._bimodal()

    def rows(self) -> list[list[Placed]]:
        """The lines of each row."""
        made: list[list[Placed]] = []
        for i, line in enumerate(self._lines):
            if made and self._goes_on(made[-1], line, in_header=i < self._header):
                made[-1].append(line)
                continue
            if made and _pitch(made[-1][-1], line) < SHARED_PITCH and not made[-1][-1].columns & line.columns:
                made[-1][-1] = replace(made[-1][-1], down=True)
            made.append([line])
        return made

    def _bimodal(self) -> float | None:
        """The pitch (in sizes) from which lines are rows of their own, where pitches come in two kinds."""
        pitches = sorted(
            pitch for a, b in pairwise(self._lines[self._header :]) if (pitch := _pitch(a, b)) >= SHARED_PITCH
        )
        if len(pitches) < 3 or pitches[0] > TIGHT_PITCH:
            return None
        edge = pitches[0] * BIMODAL
        loose = sum(p >= edge for p in pitches)
        return edge if loose >= 2 and loose >= len(pitches) / 6 else None

    def _goes_on(self, row: list[Placed], line: Placed, *, in_header: bool) -> bool:
        last = row[-1]
        pitch = _pitch(last, line)
        had = frozenset().union(*(p.columns for p in row))
        shared = had & line.columns
        if any(_figures(row, k) and _figures([line], k) for k in shared):
            return False
        if pitch < SHARED_PITCH:
            return True
        if pitch > LOOSE_PITCH or (self._loose is not None and pitch >= self._loose and not in_header):
            return False
        if in_header:
            return pitch <= TIGHT_PITCH and not line.spans and not any(p.spans for p in row)
        return self._wraps(row, line, had, shared)

    def _wraps(self, row: list[Placed], line: Placed, had: frozenset[int], shared: frozenset[int]) -> bool:
        """Whether the line goes on with text that had to break."""
        if not shared:
            return False
        tight = self._loose is not None
        forced = [self._forced(row, line, k) for k in shared]
        if line.columns - had:
            return all(forced) and (had == shared or tight)
        if 0 not in line.columns and len(line.columns) < self._count:
            return any(forced) or (tight and len(line.columns) <= (self._count + 1) / 2)
        small = _starts_small(line)
        return (tight and small) or (all(forced) and (tight or small or len(shared) < len(had)))

    def _forced(self, row: list[Placed], line: Placed, column: int) -> bool:
        """Whether the next line's first word would not have fitted behind the column's text."""
        before = [s for p in row for s in p.in_column(column)]
        after = line.in_column(column)
        if not before or not after:
            return False
        width = self._right[column] - self._left[column]
        if width < NARROW_SIZES * line.size or (len(before[-1].words) < 2 and len(before[-1].text) < 12):
            return False
        first = after[0].words[0]
        return before[-1].right + 0.2 * line.size + (first.bbox[2] - first.bbox[0]) > self._right[column]


def _pitch(a: Placed, b: Placed) -> float:
    """How far one line is below another, in sizes."""
    return (b.y - a.y) / max(a.size, b.size)


def _figures(row: Sequence[Placed], column: int) -> bool:
    return any(is_number(s.text) for p in row for s in p.in_column(column))


def _starts_small(line: Placed) -> bool:
    return line.segments[0][0].text[:1].islower()
