"""Which neighbours in a grid of rows and columns a rule, or whitespace, parts; the others are one cell."""

from collections.abc import Sequence

from upwell.parse.pdf.page import BBox
from upwell.parse.pdf.tables.rows import Placed
from upwell.parse.pdf.tables.rules import NEAR_POINTS, middle
from upwell.records import Record

MOST_ROWS_SHARE = 0.5
FULL_SHARE = 0.95


class Lattice(Record, frozen=True, kw_only=True):
    """The edges of rows and columns from the top left, and which of them are drawn at least in part."""

    ys: tuple[float, ...]
    xs: tuple[float, ...]
    ruled_ys: frozenset[int]
    ruled_xs: frozenset[int]
    horizontal: tuple[BBox, ...]
    vertical: tuple[BBox, ...]
    lines: tuple[tuple[Placed, ...], ...]

    @property
    def rows(self) -> int:
        return len(self.ys) - 1

    @property
    def cols(self) -> int:
        return len(self.xs) - 1


def _near(rules: Sequence[BBox], at: Sequence[float], across: int) -> list[list[BBox]]:
    """For each edge the rules that are drawn at it."""
    return [[rule for rule in rules if abs(middle(rule, across) - edge) <= NEAR_POINTS] for edge in at]


def _drawn(rules: Sequence[BBox], point: float, along: int) -> bool:
    """Whether one of an edge's rules runs over a point of it."""
    return any(rule[along] - NEAR_POINTS <= point <= rule[along + 2] + NEAR_POINTS for rule in rules)


def upright(grid: Lattice) -> list[list[bool]]:
    """For each row whether the column edge left of each column parts it from its neighbour."""
    near = _near(grid.vertical, grid.xs, 0)
    drawn = [
        [c in grid.ruled_xs and _drawn(near[c], (grid.ys[r] + grid.ys[r + 1]) / 2, 1) for c in range(grid.cols)]
        for r in range(grid.rows)
    ]
    often = [sum(row[c] for row in drawn) > MOST_ROWS_SHARE * grid.rows for c in range(grid.cols)]
    parted = [list(row) for row in drawn]
    for r in range(grid.rows):
        start = 0
        for c in range(1, grid.cols + 1):
            if c < grid.cols and not drawn[r][c]:
                continue
            _part_run(grid, r, (start, c), often, parted)
            start = c
    return parted


def _part_run(grid: Lattice, r: int, run: tuple[int, int], often: list[bool], parted: list[list[bool]]) -> None:
    """Parts columns between which nothing is drawn in this row where its words leave them apart."""
    start, end = run
    if end - start < 2:
        return
    inside = [(s, a, b) for line in grid.lines[r] for s, a, b in line.segments if start <= a and b < end]
    starts = {a for _, a, _ in inside}
    boxed = end - start < grid.cols
    spanned = len(starts) < 2 and (boxed or all(often[c] for c in range(start + 1, end)))
    for c in range(start + 1, end):
        parted[r][c] = not spanned and not any(a < c <= b for _, a, b in inside)


def level(grid: Lattice, header: int) -> list[list[bool]]:
    """For each row whether the row edge above it parts each of its columns from the row above."""
    upright_rules, level_rules = _near(grid.vertical, grid.xs, 0), _near(grid.horizontal, grid.ys, 1)
    edges = [[True] * grid.cols]
    for r in range(1, grid.rows):
        if r not in grid.ruled_ys:
            down = frozenset().union(*(line.columns for line in grid.lines[r - 1] if line.down))
            edges.append([c not in down for c in range(grid.cols)])
            continue
        drawn = [_drawn(level_rules[r], (grid.xs[c] + grid.xs[c + 1]) / 2, 0) for c in range(grid.cols)]
        heading = r <= header and not all(drawn)
        edges.append(
            [
                drawn[c] or not (_boxed(grid, upright_rules, r, c) or (heading and not _both(grid, r, c)))
                for c in range(grid.cols)
            ]
        )
    return edges


def _boxed(grid: Lattice, near: Sequence[Sequence[BBox]], r: int, c: int) -> bool:
    """Whether rules stand left and right of a cell and of the one above it."""
    sides = [k for k in (c, c + 1) if 0 < k < grid.cols]
    middles = [(grid.ys[k] + grid.ys[k + 1]) / 2 for k in (r - 1, r)]
    return bool(sides) and all(_drawn(near[k], y, 1) for k in sides for y in middles)


def _both(grid: Lattice, r: int, c: int) -> bool:
    """Whether a cell and the one above it have text."""
    return _has_text(grid, r, c) and _has_text(grid, r - 1, c)


def _has_text(grid: Lattice, r: int, c: int) -> bool:
    return any(a <= c <= b for line in grid.lines[r] for _, a, b in line.segments)


def owners(grid: Lattice, parted: list[list[bool]], edges: list[list[bool]]) -> list[list[tuple[int, int]]]:
    """For each place in the grid the first place of the cell it belongs to; cells are rectangles."""
    owner = [[(r, c) for c in range(grid.cols)] for r in range(grid.rows)]
    for r in range(grid.rows):
        runs: list[list[int]] = []
        for c in range(grid.cols):
            if c and not parted[r][c]:
                runs[-1].append(c)
            else:
                runs.append([c])
        for run in runs:
            first = (r, run[0])
            if r and not any(edges[r][c] for c in run):
                above = owner[r - 1][run[0]]
                same = [c for c in range(grid.cols) if owner[r - 1][c] == above]
                first = above if same == run else first
            for c in run:
                owner[r][c] = first
    return owner
