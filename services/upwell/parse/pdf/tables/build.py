"""From a region with words and rules to a table: rows, columns, spans and header rows."""

from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Sequence
from itertools import pairwise

from upwell.parse.pdf.page import BBox
from upwell.parse.pdf.tables.columns import MOST_COLUMNS, Column, bounds, find_columns
from upwell.parse.pdf.tables.header import header_rows, widened
from upwell.parse.pdf.tables.rows import Placed, RowMaker, header_lines, placed
from upwell.parse.pdf.tables.rules import NEAR_POINTS, middle, positions
from upwell.parse.pdf.tables.separators import FULL_SHARE, Lattice, level, owners, upright
from upwell.parse.pdf.tables.words import Line, Segment, Word, is_figure, lines_of
from upwell.records import Cell, Record, Table

HEADER_LINES = 3
BESIDE_SHARE = 0.4
FEW_BANDS = 4
THIN_STRIP_POINTS = 6.0
MOST_ROWS = 1_000


class FoundTable(Record, frozen=True, kw_only=True):
    """A table, where it stands, and the pieces that it took."""

    table: Table
    bbox: BBox
    pieces: frozenset[int]


class Region(Record, frozen=True, kw_only=True):
    """Where a table may be: its words and the rules between them."""

    words: tuple[Word, ...]
    horizontal: tuple[BBox, ...]
    vertical: tuple[BBox, ...]
    bbox: BBox


def build(region: Region) -> FoundTable | None:
    """The table in a region; None where it has no two rows and two columns."""
    upright_rules = sorted(region.vertical, key=lambda v: middle(v, 0))
    if len(positions([middle(v, 0) for v in upright_rules])) > MOST_COLUMNS + 1:
        return None
    lines = [_cut(line, upright_rules) for line in lines_of(region.words)]
    if not lines or len(lines) > MOST_ROWS:
        return None
    columns, xs, ruled_xs = _columns(region, lines)
    bands = _bands(region)
    if not 2 <= len(columns) <= MOST_COLUMNS or len(bands) > MOST_ROWS:
        return None
    on = [placed(line, columns) for line in lines]
    header = _header_lines(on, region, len(columns))
    on = widened(on, header, columns, region.horizontal)
    rows, ys, ruled_ys = _rows(on, columns, bands, header, region)
    if len(rows) < 2:
        return None
    grid = Lattice(
        ys=tuple(ys),
        xs=tuple(xs),
        ruled_ys=frozenset(ruled_ys),
        ruled_xs=frozenset(ruled_xs),
        horizontal=region.horizontal,
        vertical=region.vertical,
        lines=tuple(tuple(row) for row in rows),
    )
    above = sum(1 for row in rows if row and row[-1].y < on[header].y) if 0 < header < len(on) else 0
    return _found(grid, region, above)


def _cut(line: Line, vertical: Sequence[BBox]) -> Line:
    """Segments parted where a rule runs between two of their words; rules from the left."""
    cut: Line = []
    for segment in line:
        part: list[Word] = []
        for word in segment.words:
            if part and any(v[1] <= word.y <= v[3] for v in _between(vertical, part[-1].x, word.x)):
                cut.append(Segment(words=tuple(part)))
                part = []
            part.append(word)
        cut.append(Segment(words=tuple(part)))
    return cut


def _between(vertical: Sequence[BBox], left: float, right: float) -> Sequence[BBox]:
    start = bisect_right(vertical, left, key=lambda v: middle(v, 0))
    return vertical[start : bisect_left(vertical, right, lo=start, key=lambda v: middle(v, 0))]


def _columns(region: Region, lines: Sequence[Line]) -> tuple[list[Column], list[float], list[int]]:
    """The columns' ink, their edges, and which edges are drawn."""
    box = region.bbox
    drawn = positions([middle(v, 0) for v in region.vertical])
    edges = positions([*drawn, box[0], box[2]])
    inked = [
        (a, b) for a, b in pairwise(edges) if b - a > THIN_STRIP_POINTS or any(a <= w.x <= b for w in region.words)
    ]
    white = find_columns(lines)
    columns: list[Column] = []
    xs = [inked[0][0]] if inked else []
    ruled = [0]
    for a, b in inked:
        inner = [c for c in white if a - NEAR_POINTS <= c.left and c.right <= b + NEAR_POINTS]
        inner = _beside(inner)
        if len(inner) > 1:
            columns.extend(inner)
            xs.extend(bounds(inner))
        else:
            ink = [s for line in lines for s in line if a - NEAR_POINTS <= s.left and s.right <= b + NEAR_POINTS]
            left = min((s.left for s in ink), default=a + 1)
            right = max((s.right for s in ink), default=b - 1)
            on = {i for i, line in enumerate(lines) if any(s in ink for s in line)} if not ink else set[int]()
            columns.append(Column(left, right, on))
        xs.append(b)
        ruled.append(len(xs) - 1)
    kept = [k for k in ruled if any(abs(xs[k] - d) <= NEAR_POINTS for d in drawn)] if xs else []
    return columns, xs, kept


def _beside(columns: list[Column]) -> list[Column]:
    """Columns that have a neighbour on enough of their lines, or in the header; the others go with the one before."""
    kept: list[Column] = []
    for column in columns:
        if kept:
            both = kept[-1].lines & column.lines
            least = min(len(kept[-1].lines), len(column.lines))
            headed = min(both, default=HEADER_LINES) < HEADER_LINES
            if not both or (len(both) < BESIDE_SHARE * least and not headed):
                kept[-1] = Column(kept[-1].left, column.right, kept[-1].lines | column.lines)
                continue
        kept.append(column)
    return kept


def _bands(region: Region) -> list[float]:
    box = region.bbox
    return positions([*(middle(h, 1) for h in region.horizontal), box[1], box[3]])


def _header_lines(on: Sequence[Placed], region: Region, columns: int) -> int:
    """Lines above the first rule that runs across the whole table, or above the first with figures."""
    width = region.bbox[2] - region.bbox[0]
    full = sorted(middle(h, 1) for h in region.horizontal if h[2] - h[0] >= FULL_SHARE * width)
    inner = [y for y in full if any(p.y < y for p in on) and any(p.y > y for p in on)]
    if inner and len(inner) <= 2:
        return sum(p.y < inner[0] for p in on)
    counted = header_lines(on, columns)
    return max(counted, sum(p.y < inner[0] for p in on)) if inner and counted else counted


def _rows(
    on: Sequence[Placed], columns: Sequence[Column], bands: list[float], header: int, region: Region
) -> tuple[list[list[Placed]], list[float], list[int]]:
    """The lines of each row, the rows' edges, and which edges are drawn."""
    maker = RowMaker(on, columns, header)
    made = maker.rows()
    drawn = {k for k, y in enumerate(bands) if any(abs(middle(h, 1) - y) <= NEAR_POINTS for h in region.horizontal)}
    rows: list[list[Placed]] = []
    ys = [bands[0]]
    ruled = [0] if 0 in drawn else []
    filled = [k for k, (top, bottom) in enumerate(pairwise(bands)) if any(top <= p.y < bottom for p in on)]
    for k, (top, bottom) in enumerate(pairwise(bands)):
        groups = [g for row in made if (g := [p for p in row if top <= p.y < bottom])]
        if len(groups) > 1 and len(filled) > FEW_BANDS and not _stacked(groups):
            groups = [[p for g in groups for p in g]]
        if not groups and bottom - top <= THIN_STRIP_POINTS:
            ys[-1] = bottom if len(ys) > 1 else ys[-1]
            continue
        groups = groups or [[]]
        for above, below in pairwise(groups):
            ys.append((max(p.bottom for p in above) + min(p.top for p in below)) / 2)
        rows.extend(groups)
        ys.append(bottom)
        if k + 1 in drawn:
            ruled.append(len(ys) - 1)
    return rows, ys, ruled


def _stacked(groups: Sequence[Sequence[Placed]]) -> bool:
    """Whether a column has a figure in several of the groups: rows, for figures do not wrap."""
    figures = Counter(k for g in groups for k in {a for p in g for s, a, _ in p.segments if is_figure(s.text)})
    return max(figures.values(), default=0) > 1


def _found(grid: Lattice, region: Region, above: int) -> FoundTable | None:
    parted = upright(grid)
    owner = owners(grid, parted, level(grid, above))
    texts: dict[tuple[int, int], list[tuple[Placed, Segment]]] = {}
    for r, row in enumerate(grid.lines):
        for line in row:
            for segment, a, _ in line.segments:
                texts.setdefault(owner[r][min(a, grid.cols - 1)], []).append((line, segment))
    cells = [
        Cell(
            row=r,
            col=c,
            text=" ".join(s.text for _, s in sorted(texts.get((r, c), []), key=lambda t: (t[0].y, t[1].left))),
            row_span=max(k for k in range(grid.rows) if (r, c) in owner[k]) - r + 1,
            col_span=sum(o == (r, c) for o in owner[r]),
        )
        for r in range(grid.rows)
        for c in range(grid.cols)
        if owner[r][c] == (r, c)
    ]
    table = _trimmed(cells, above)
    if table is None:
        return None
    box = (round(grid.xs[0], 2), round(grid.ys[0], 2), round(grid.xs[-1], 2), round(grid.ys[-1], 2))
    return FoundTable(table=table, bbox=box, pieces=frozenset(w.piece for w in region.words))


def _trimmed(cells: list[Cell], above: int) -> Table | None:
    """The table without rows and columns in which nothing stands."""
    rows = sorted({k for c in cells if c.text for k in range(c.row, c.row + c.row_span)})
    cols = sorted({k for c in cells if c.text for k in range(c.col, c.col + c.col_span)})
    if len(rows) < 2 or len(cols) < 2:
        return None
    row_at, col_at = {k: i for i, k in enumerate(rows)}, {k: i for i, k in enumerate(cols)}
    kept: list[Cell] = []
    for cell in cells:
        over = [row_at[k] for k in range(cell.row, cell.row + cell.row_span) if k in row_at]
        beside = [col_at[k] for k in range(cell.col, cell.col + cell.col_span) if k in col_at]
        if over and beside:
            kept.append(Cell(row=over[0], col=beside[0], text=cell.text, row_span=len(over), col_span=len(beside)))
    marked = sum(k < above for k in rows)
    header = header_rows(kept, len(rows), marked)
    marked_cells = tuple(
        Cell(row=c.row, col=c.col, text=c.text, row_span=c.row_span, col_span=c.col_span, header=c.row < header)
        for c in kept
    )
    return Table(rows=len(rows), cols=len(cols), cells=marked_cells)
