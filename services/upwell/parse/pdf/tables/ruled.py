"""Regions that rules mark: grids whose rules touch, and rules of one width below each other."""

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from itertools import pairwise

from upwell.parse.pdf.page import BBox
from upwell.parse.pdf.tables.build import FoundTable, Region, build
from upwell.parse.pdf.tables.grow import grown_box
from upwell.parse.pdf.tables.likely import likely, tabular_lines
from upwell.parse.pdf.tables.prose import without_prose
from upwell.parse.pdf.tables.rules import NEAR_POINTS, Rules, middle
from upwell.parse.pdf.tables.words import Word, lines_of

SAME_EXTENT_POINTS = 6.0
SHORTEST_RULE_POINTS = 60.0
DOUBLE_RULE_POINTS = 6.0
TALLEST_EMPTY_SIZES = 2.5
SMALLEST_POINTS = 12.0
FEW_DRAWN = 3
MOST_REGIONS = 150


class Remaining:
    """Words of a page that no table has taken yet, from the top."""

    def __init__(self, words: Sequence[Word]) -> None:
        self.words = sorted(words, key=lambda w: w.y)

    def inside(self, box: BBox) -> tuple[Word, ...]:
        """Those whose middle is in the box."""
        start = bisect_left(self.words, box[1], key=lambda w: w.y)
        end = bisect_right(self.words, box[3], lo=start, key=lambda w: w.y)
        return tuple(w for w in self.words[start:end] if box[0] <= w.x <= box[2])

    def take(self, words: Sequence[Word]) -> None:
        """Leave these to their table."""
        taken = {id(word) for word in words}
        self.words = [word for word in self.words if id(word) not in taken]


def ruled_tables(rules: Rules, left: Remaining, drawn: Sequence[BBox] = ()) -> list[FoundTable]:
    """Tables in grids, the smallest first; then between rules of one width. What they hold is taken from `left`.

    Frames around what is `drawn` are a figure's.
    """
    found: list[FoundTable] = []
    grids = sorted((c for c in rules.components() if _is_grid(c)), key=lambda c: _area(c.box))
    for grid in grids[-MOST_REGIONS:]:
        if any(_inside(table.bbox, grid.box) for table in found):
            continue
        interior = _interior(grid)
        if interior or not is_drawing(grid.box, drawn):
            _try(_region(grid.box, rules, left), left, found, drawn=interior)
    loose, count = without_prose(left.words), len(found)
    for box in _stacks(rules, left)[:MOST_REGIONS]:
        if any(_inside(table.bbox, box) or _inside(box, table.bbox) for table in found):
            continue
        if len(found) > count:
            loose, count = without_prose(left.words), len(found)
        grown = grown_box(box, loose)
        if grown is not None and not is_drawing(grown, drawn):
            _try(_region(grown, rules, left), left, found, drawn=False)
    return found


def _try(region: Region, left: Remaining, found: list[FoundTable], *, drawn: bool) -> None:
    if len(region.words) < 4:
        return
    table = build(region)
    if table is not None and likely(table.table, drawn=drawn):
        found.append(table)
        left.take(region.words)


def _is_grid(rules: Rules) -> bool:
    box = rules.box
    tall, wide = box[3] - box[1] > SMALLEST_POINTS, box[2] - box[0] > 2 * SMALLEST_POINTS
    return tall and wide and bool(rules.horizontal) and bool(rules.vertical)


def _interior(rules: Rules) -> bool:
    """Whether rules part the inside both ways."""
    box = rules.box
    upright = any(box[0] + SAME_EXTENT_POINTS < middle(v, 0) < box[2] - SAME_EXTENT_POINTS for v in rules.vertical)
    level = any(box[1] + SAME_EXTENT_POINTS < middle(h, 1) < box[3] - SAME_EXTENT_POINTS for h in rules.horizontal)
    return upright and level


def _region(box: BBox, rules: Rules, left: Remaining) -> Region:
    inner = rules.inside(box)
    return Region(words=left.inside(box), horizontal=tuple(inner.horizontal), vertical=tuple(inner.vertical), bbox=box)


def _stacks(rules: Rules, left: Remaining) -> list[BBox]:
    """Boxes between rules of one left and right end where what is between looks like rows of a table."""
    groups: list[list[BBox]] = []
    for rule in sorted(rules.horizontal, key=lambda r: middle(r, 1)):
        if rule[2] - rule[0] < SHORTEST_RULE_POINTS:
            continue
        for group in groups:
            if abs(group[0][0] - rule[0]) <= SAME_EXTENT_POINTS and abs(group[0][2] - rule[2]) <= SAME_EXTENT_POINTS:
                group.append(rule)
                break
        else:
            groups.append([rule])
    boxes: list[BBox] = []
    for group in groups:
        run: list[BBox] = [group[0]]
        for above, below in pairwise(group):
            if _goes_on(above, below, left):
                run.append(below)
            else:
                _close(run, boxes)
                run = [below]
        _close(run, boxes)
    return boxes


def _close(run: list[BBox], boxes: list[BBox]) -> None:
    if len(run) > 1:
        boxes.append((run[0][0], middle(run[0], 1), run[0][2], middle(run[-1], 1)))


def _goes_on(above: BBox, below: BBox, left: Remaining) -> bool:
    box = (above[0] - NEAR_POINTS, middle(above, 1), above[2] + NEAR_POINTS, middle(below, 1))
    height = box[3] - box[1]
    words = left.inside(box)
    if not words:
        return height <= DOUBLE_RULE_POINTS
    lines = lines_of(words)
    if len(lines) == 1 and height <= TALLEST_EMPTY_SIZES * words[0].size:
        return True
    return tabular_lines(lines, box[2] - box[0])


def _inside(inner: BBox, outer: BBox) -> bool:
    x, y = (inner[0] + inner[2]) / 2, (inner[1] + inner[3]) / 2
    return outer[0] <= x <= outer[2] and outer[1] <= y <= outer[3]


def is_drawing(box: BBox, drawn: Sequence[BBox]) -> bool:
    """Whether several things that are no rules are drawn in a box."""
    return sum(_inside(thing, box) for thing in drawn) >= FEW_DRAWN


def _area(box: BBox) -> float:
    return (box[2] - box[0]) * (box[3] - box[1])
