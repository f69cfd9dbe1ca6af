"""What the layout model says of a table that its words leave in doubt."""

from collections.abc import Callable, Sequence

from upwell.parse.pdf.frame import BBox
from upwell.parse.pdf.layout import LookRegion

Looks = Callable[[], Sequence[LookRegion]]
SURE = 0.8
COVERED = 0.7
ALIKE = 0.5
TOUCHED = 0.25
WORDS = frozenset({"text", "title", "reference", "equation"})


def looks_so(box: BBox, regions: Sequence[LookRegion], *, otherwise: bool) -> bool:
    """Whether a box is a table: where a region of that kind is about the same, yes; where words cover it, no.

    A figure says nothing: large tables without rules look like one to the model.
    """
    tables = [r for r in regions if r.kind == "table"]
    if any(r.confidence >= SURE and _shared(box, r.bbox) >= ALIKE * _union(box, r.bbox) for r in tables):
        return True
    if any(_shared(box, r.bbox) > TOUCHED * _area(box) for r in tables):
        return otherwise
    covered = sum(_shared(box, r.bbox) for r in regions if r.kind in WORDS and r.confidence >= SURE)
    return otherwise and covered < COVERED * _area(box)


def _area(box: BBox) -> float:
    return max(0.0, box[2] - box[0]) * max(0.0, box[3] - box[1])


def _shared(a: BBox, b: BBox) -> float:
    return _area((max(a[0], b[0]), max(a[1], b[1]), min(a[2], b[2]), min(a[3], b[3])))


def _union(a: BBox, b: BBox) -> float:
    return _area(a) + _area(b) - _shared(a, b)
