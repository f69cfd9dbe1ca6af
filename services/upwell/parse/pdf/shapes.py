"""What a PDF page draws besides text: rules, boxes, pictures and the strokes of diagrams."""

import ctypes
from collections.abc import Iterator
from itertools import pairwise
from typing import Any

import msgspec

from upwell.parse.pdf.frame import BBox, Frame
from upwell.records import Record

MOST_OBJECTS = 20_000
MOST_SEGMENTS = 40_000
DEEPEST_FORM = 6
THIN_POINTS = 3.0
SMALLEST_PICTURE_POINTS = 30.0
TOUCHING_POINTS = 2.0
MOST_PICTURES = 200
ALMOST_WHITE = 250
Point = tuple[float, float]
Matrix = tuple[float, float, float, float, float, float]
IDENTITY: Matrix = (1.0, 0.0, 0.0, 1.0, 0.0, 0.0)


class Shapes(Record, frozen=True, kw_only=True):
    """Thin boxes by their direction, pictures, and the boxes of all else that is drawn."""

    horizontal: tuple[BBox, ...] = ()
    vertical: tuple[BBox, ...] = ()
    pictures: tuple[BBox, ...] = ()
    drawn: tuple[BBox, ...] = ()


class _Found(msgspec.Struct):
    horizontal: list[BBox] = msgspec.field(default_factory=list)
    vertical: list[BBox] = msgspec.field(default_factory=list)
    pictures: list[BBox] = msgspec.field(default_factory=list)
    drawn: list[BBox] = msgspec.field(default_factory=list)


def page_shapes(page: Any, frame: Frame) -> Shapes:
    """All of them, up to a bound that no page for people reaches."""
    import pypdfium2.raw as pdfium  # type: ignore[import-untyped]  # noqa: PLC0415 - a C library, only for PDFs

    found = _Found()
    reader = _Reader(pdfium, frame, found)
    count = pdfium.FPDFPage_CountObjects(page)
    reader.read((pdfium.FPDFPage_GetObject(page, i) for i in range(count)), IDENTITY, 0)
    width, height = frame.width, frame.height
    pictures = [clipped for box in found.pictures if (clipped := _clipped(box, width, height))]
    return Shapes(
        horizontal=tuple(found.horizontal),
        vertical=tuple(found.vertical),
        pictures=tuple(p for p in _joined(pictures) if min(p[2] - p[0], p[3] - p[1]) >= SMALLEST_PICTURE_POINTS),
        drawn=tuple(found.drawn),
    )


class _Reader:
    def __init__(self, pdfium: Any, frame: Frame, found: _Found) -> None:
        self.pdfium, self.frame, self.found = pdfium, frame, found
        self.objects, self.segments = MOST_OBJECTS, MOST_SEGMENTS
        self.matrix = pdfium.FS_MATRIX()
        self.edges = tuple(ctypes.c_float() for _ in range(4))
        self.x, self.y = ctypes.c_float(), ctypes.c_float()
        self.colour = tuple(ctypes.c_uint() for _ in range(4))
        self.mode, self.stroke = ctypes.c_int(), ctypes.c_int()

    def read(self, things: Iterator[Any], matrix: Matrix, depth: int) -> None:
        pdfium = self.pdfium
        for thing in things:
            self.objects -= 1
            if self.objects < 0:
                return
            kind = pdfium.FPDFPageObj_GetType(thing)
            if kind == pdfium.FPDF_PAGEOBJ_PATH:
                self._path(thing, matrix)
            elif kind in {pdfium.FPDF_PAGEOBJ_IMAGE, pdfium.FPDF_PAGEOBJ_SHADING}:
                box = self._bounds(thing, matrix)
                if box is not None:
                    (self.found.pictures if kind == pdfium.FPDF_PAGEOBJ_IMAGE else self.found.drawn).append(box)
            elif kind == pdfium.FPDF_PAGEOBJ_FORM and depth < DEEPEST_FORM:
                inner = _product(self._matrix_of(thing), matrix)
                count = pdfium.FPDFFormObj_CountObjects(thing)
                self.read((pdfium.FPDFFormObj_GetObject(thing, i) for i in range(max(0, count))), inner, depth + 1)

    def _matrix_of(self, thing: Any) -> Matrix:
        m = self.matrix
        if not self.pdfium.FPDFPageObj_GetMatrix(thing, m):
            return IDENTITY
        return (m.a, m.b, m.c, m.d, m.e, m.f)

    def _bounds(self, thing: Any, matrix: Matrix) -> BBox | None:
        if not self.pdfium.FPDFPageObj_GetBounds(thing, *self.edges):
            return None
        left, bottom, right, top = (edge.value for edge in self.edges)
        corners = [_moved(matrix, x, y) for x in (left, right) for y in (bottom, top)]
        return _around([self.frame.point(x, y) for x, y in corners])

    def _path(self, path: Any, matrix: Matrix) -> None:
        """Straight strokes and thin boxes as rules; the rest as something drawn."""
        if self.segments < 0 or not self._shows(path):
            return
        whole = _product(self._matrix_of(path), matrix)
        for points, straight in self._runs(path, whole):
            box = _around(points)
            if not straight:
                self.found.drawn.append(box)
                continue
            upright = sum(self._rule(a, b) for a, b in _edges(points, box))
            if not upright:
                self.found.drawn.append(box)

    def _shows(self, path: Any) -> bool:
        """Whether it is drawn at all, in anything but white."""
        pdfium = self.pdfium
        if not pdfium.FPDFPath_GetDrawMode(path, self.mode, self.stroke):
            return False
        if self.stroke.value:
            return True
        if not self.mode.value or not pdfium.FPDFPageObj_GetFillColor(path, *self.colour):
            return bool(self.mode.value)
        return any(part.value < ALMOST_WHITE for part in self.colour[:3])

    def _runs(self, path: Any, matrix: Matrix) -> Iterator[tuple[list[Point], bool]]:
        """The points of each part of a path on the page, and whether all its lines are straight."""
        pdfium = self.pdfium
        points: list[Point] = []
        straight = True
        for i in range(min(max(0, pdfium.FPDFPath_CountSegments(path)), self.segments)):
            self.segments -= 1
            segment = pdfium.FPDFPath_GetPathSegment(path, i)
            kind = pdfium.FPDFPathSegment_GetType(segment)
            if kind == pdfium.FPDF_SEGMENT_MOVETO and points:
                yield points, straight
                points, straight = [], True
            pdfium.FPDFPathSegment_GetPoint(segment, self.x, self.y)
            points.append(self.frame.point(*_moved(matrix, self.x.value, self.y.value)))
            straight = straight and kind != pdfium.FPDF_SEGMENT_BEZIERTO
            if pdfium.FPDFPathSegment_GetClose(segment) and len(points) > 2:
                points.append(points[0])
        if len(points) > 1:
            yield points, straight

    def _rule(self, a: Point, b: Point) -> bool:
        x0, y0, x1, y1 = _around([a, b])
        if y1 - y0 <= THIN_POINTS < x1 - x0:
            self.found.horizontal.append((x0, y0, x1, y1))
        elif x1 - x0 <= THIN_POINTS < y1 - y0:
            self.found.vertical.append((x0, y0, x1, y1))
        else:
            return max(x1 - x0, y1 - y0) <= THIN_POINTS
        return True


def _edges(points: list[Point], box: BBox) -> Iterator[tuple[Point, Point]]:
    if min(box[2] - box[0], box[3] - box[1]) <= THIN_POINTS:  # a line, or a rectangle drawn as one
        yield (box[0], box[1]), (box[2], box[3])
        return
    yield from pairwise(points)


def _product(inner: Matrix, outer: Matrix) -> Matrix:
    a, b, c, d, e, f = inner
    A, B, C, D, E, F = outer  # noqa: N806 - the letters that the PDF standard (ISO 32000, 8.3.4) uses
    return (a * A + b * C, a * B + b * D, c * A + d * C, c * B + d * D, e * A + f * C + E, e * B + f * D + F)


def _moved(matrix: Matrix, x: float, y: float) -> Point:
    a, b, c, d, e, f = matrix
    return a * x + c * y + e, b * x + d * y + f


def _around(points: list[Point]) -> BBox:
    xs, ys = [x for x, _ in points], [y for _, y in points]
    return (round(min(xs), 2), round(min(ys), 2), round(max(xs), 2), round(max(ys), 2))


def _clipped(box: BBox, width: float, height: float) -> BBox | None:
    clipped = (max(0.0, box[0]), max(0.0, box[1]), min(width, box[2]), min(height, box[3]))
    return clipped if clipped[0] < clipped[2] and clipped[1] < clipped[3] else None


def _joined(pictures: list[BBox]) -> list[BBox]:
    """Strips and tiles of one picture as one: those of one width or height whose edges touch."""
    done: list[BBox] = []
    for box in sorted(pictures, key=lambda b: (b[1], b[0]))[:MOST_PICTURES]:
        for i, other in enumerate(done):
            if _same_picture(box, other):
                done[i] = _around([(box[0], box[1]), (box[2], box[3]), (other[0], other[1]), (other[2], other[3])])
                break
        else:
            done.append(box)
    return done


def _same_picture(a: BBox, b: BBox) -> bool:
    def near(i: int, k: int) -> bool:
        return abs(a[i] - b[k]) <= TOUCHING_POINTS

    below = near(0, 0) and near(2, 2) and (near(1, 3) or near(3, 1))
    beside = near(1, 1) and near(3, 3) and (near(0, 2) or near(2, 0))
    inside = (a[0] >= b[0] and a[1] >= b[1] and a[2] <= b[2] and a[3] <= b[3]) or a == b
    return below or beside or inside
