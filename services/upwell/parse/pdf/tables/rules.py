"""Ruling lines: pieces of one line joined, and those that touch put together."""

from collections.abc import Sequence

from upwell.parse.pdf.page import BBox

NEAR_POINTS = 3.0
SHORTEST_POINTS = 6.0
MOST_RULES = 2_000


class Rules:
    """Horizontal and vertical rules, each merged from the strokes and box edges it was drawn with."""

    def __init__(self, horizontal: Sequence[BBox], vertical: Sequence[BBox]) -> None:
        self.horizontal = joined(horizontal[:MOST_RULES], along=0)
        self.vertical = joined(vertical[:MOST_RULES], along=1)

    @property
    def box(self) -> BBox:
        rules = [*self.horizontal, *self.vertical]
        return (
            min(r[0] for r in rules),
            min(r[1] for r in rules),
            max(r[2] for r in rules),
            max(r[3] for r in rules),
        )

    def inside(self, box: BBox) -> "Rules":
        """The rules within a box, and what of them is within it."""
        return Rules(
            [r for r in self.horizontal if _within(r, box)],
            [r for r in self.vertical if _within(r, box)],
        )

    def components(self) -> list["Rules"]:
        """Rules that touch, together; a grid's rules do."""
        rules = [*self.horizontal, *self.vertical]
        groups: dict[int, tuple[list[BBox], list[BBox]]] = {}
        for i, group in enumerate(_touching(rules)):
            groups.setdefault(group, ([], []))[0 if i < len(self.horizontal) else 1].append(rules[i])
        return [Rules(*group) for group in groups.values()]


def _within(rule: BBox, box: BBox) -> bool:
    return (
        rule[0] >= box[0] - NEAR_POINTS
        and rule[2] <= box[2] + NEAR_POINTS
        and rule[1] >= box[1] - NEAR_POINTS
        and rule[3] <= box[3] + NEAR_POINTS
    )


def joined(rules: Sequence[BBox], along: int) -> list[BBox]:
    """Strokes on one line whose ends meet as one rule; `along` 0 horizontal, 1 vertical."""
    across = 1 - along
    levels: list[list[BBox]] = []
    for rule in sorted(rules, key=lambda r: r[across] + r[across + 2]):
        middle = (rule[across] + rule[across + 2]) / 2
        if levels and middle - (levels[-1][0][across] + levels[-1][0][across + 2]) / 2 <= NEAR_POINTS / 2:
            levels[-1].append(rule)
        else:
            levels.append([rule])
    merged: list[BBox] = []
    for level in levels:
        start = len(merged)
        for rule in sorted(level, key=lambda r: r[along]):
            if len(merged) > start and rule[along] <= merged[-1][along + 2] + NEAR_POINTS:
                merged[-1] = _around(merged[-1], rule)
            else:
                merged.append(rule)
    return [rule for rule in merged if rule[along + 2] - rule[along] >= SHORTEST_POINTS]


def _around(a: BBox, b: BBox) -> BBox:
    return (min(a[0], b[0]), min(a[1], b[1]), max(a[2], b[2]), max(a[3], b[3]))


def _touching(rules: Sequence[BBox]) -> list[int]:
    parent = list(range(len(rules)))

    def root(i: int) -> int:
        while parent[i] != i:
            parent[i] = parent[parent[i]]
            i = parent[i]
        return i

    active: list[int] = []
    for i in sorted(range(len(rules)), key=lambda i: rules[i][1]):
        active = [k for k in active if rules[k][3] + NEAR_POINTS >= rules[i][1]]
        for k in active:
            if rules[k][0] - NEAR_POINTS <= rules[i][2] and rules[i][0] - NEAR_POINTS <= rules[k][2]:
                parent[root(i)] = root(k)
        active.append(i)
    return [root(i) for i in range(len(rules))]


def positions(values: Sequence[float]) -> list[float]:
    """Values that differ by less than the width of a rule as one, ascending."""
    found: list[float] = []
    for value in sorted(values):
        if not found or value - found[-1] > NEAR_POINTS:
            found.append(value)
    return found


def middle(rule: BBox, across: int) -> float:
    """Where a rule stands: its y (`across` 1) or its x (`across` 0)."""
    return (rule[across] + rule[across + 2]) / 2
