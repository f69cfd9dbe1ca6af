"""The order in which people read what stands on a slide: columns that a gap parts, then rows, the top left first."""

from collections.abc import Sequence

Box = tuple[float, float, float, float]
LEAST_GAP_POINTS = 4.0
DEEPEST = 20


def reading_order(boxes: Sequence[Box]) -> list[int]:
    """The numbers of the boxes (x0, y0, x1, y1; y grows downwards) in reading order."""
    return _cut(boxes, list(range(len(boxes))), DEEPEST)


def _cut(boxes: Sequence[Box], members: list[int], left: int) -> list[int]:
    if len(members) < 2 or left == 0:
        return _from_top_left(boxes, members)
    for axis in (0, 1):
        groups = _parted(boxes, members, axis)
        if axis == 1:
            groups = _with_columns(boxes, groups)
        # Two things beside each other are read as a row; a column is two things or more.
        if len(groups) > 1 and (axis == 1 or max(map(len, groups)) > 1):
            return [number for group in groups for number in _cut(boxes, group, left - 1)]
    return _from_top_left(boxes, members)


def _parted(boxes: Sequence[Box], members: list[int], axis: int) -> list[list[int]]:
    """The members in groups along an axis, wherever a gap goes through all of them."""
    groups: list[list[int]] = []
    end = 0.0
    for number in sorted(members, key=lambda n: boxes[n][axis]):
        if groups and boxes[number][axis] < end + LEAST_GAP_POINTS:
            groups[-1].append(number)
        else:
            groups.append([number])
        end = max(end, boxes[number][axis + 2])
    return groups


def _with_columns(boxes: Sequence[Box], rows: list[list[int]]) -> list[list[int]]:
    """The rows, with those joined through which the same gap goes from top to bottom: they are columns."""
    joined: list[list[int]] = []
    for row in rows:
        beside = len(_parted(boxes, row, 0)) > 1
        if joined and beside and len(_parted(boxes, joined[-1], 0)) > 1:
            both = [*joined[-1], *row]
            if len(_parted(boxes, both, 0)) > 1:
                joined[-1] = both
                continue
        joined.append(row)
    return joined


def _from_top_left(boxes: Sequence[Box], members: list[int]) -> list[int]:
    return sorted(members, key=lambda n: (round(boxes[n][1] / 12), boxes[n][0], n))
