"""Reading order of one to three columns: where a gutter stays free, what is left of it is read first."""

from collections.abc import Sequence
from typing import Protocol, TypeVar

from upwell.parse.pdf.page import BBox

LEAST_PAIRS = 3
STEPS = 60
GUTTER_POINTS = 6.0
DEEPEST = 2
MOST_CROSSING = 0.5


class Placed(Protocol):
    """Anything with a box."""

    @property
    def bbox(self) -> BBox: ...


T = TypeVar("T", bound=Placed)


def reading_order(things: Sequence[T], depth: int = 0) -> list[T]:
    """Top to bottom; between full-width things, column by column."""
    down = sorted(things, key=lambda t: (t.bbox[1], t.bbox[0]))
    gutter = _gutter(down) if depth < DEEPEST else None
    if gutter is None:
        return _lines(down)
    ordered: list[T] = []
    band: list[T] = []
    for thing in [*down, None]:
        if thing is not None and not thing.bbox[0] < gutter < thing.bbox[2]:
            band.append(thing)
            continue
        left = [t for t in band if t.bbox[2] <= gutter]
        right = [t for t in band if t.bbox[0] >= gutter]
        ordered.extend(reading_order(left, depth + 1))
        ordered.extend(reading_order(right, depth + 1))
        band = []
        if thing is not None:
            ordered.append(thing)
    return ordered


def _lines(down: list[T]) -> list[T]:
    """Things on one line from left to right, though their tops differ by a little."""
    ordered: list[T] = []
    line: list[T] = []
    for thing in down:
        if line and thing.bbox[1] >= (line[0].bbox[1] + line[0].bbox[3]) / 2:
            ordered.extend(sorted(line, key=lambda t: t.bbox[0]))
            line = []
        line.append(thing)
    ordered.extend(sorted(line, key=lambda t: t.bbox[0]))
    return ordered


def _gutter(down: Sequence[T]) -> float | None:
    """The x that the fewest things cross, if beside it enough things stand side by side."""
    if len(down) < 2 * LEAST_PAIRS:
        return None
    low, high = min(t.bbox[0] for t in down), max(t.bbox[2] for t in down)
    best: tuple[int, float, float] | None = None
    for step in range(STEPS // 6, STEPS - STEPS // 6):
        x = low + (high - low) * step / STEPS
        crossing = sum(t.bbox[0] < x + GUTTER_POINTS / 2 and t.bbox[2] > x - GUTTER_POINTS / 2 for t in down)
        score = (crossing, abs(step - STEPS / 2), x)
        if best is None or score < best:
            best = score
    if best is None or best[0] > MOST_CROSSING * len(down):
        return None
    x = best[2]
    left = [t for t in down if t.bbox[2] <= x]
    right = [t for t in down if t.bbox[0] >= x]
    pairs = sum(any(a.bbox[1] < b.bbox[3] and b.bbox[1] < a.bbox[3] for b in right) for a in left)
    return x if pairs >= LEAST_PAIRS and len(right) >= LEAST_PAIRS else None
