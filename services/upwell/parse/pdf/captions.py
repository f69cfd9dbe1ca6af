"""Captions: what one looks like, which figure or table it is of, and diagrams that only their caption gives away."""

import re
from collections.abc import Sequence

from upwell.parse.pdf.frame import BBox
from upwell.parse.pdf.kinds import Item
from upwell.parse.pdf.page import Page, Piece, union
from upwell.records import Kind

LABEL = (
    r"(?:supplementary |extended data |appendix )?"
    r"(?:figure|fig\.?|table|tab\.|listing|algorithm|scheme|chart|plate|exhibit|map|graph|diagram|photo|box|illustration"
    r"|abbildung|abb\.|tabelle|tableau|figura|tabla|tabela|tabella|kuva|taulukko|rys\.|рис(?:\.|унок)|таблица"
    r"|图|圖|図|表|그림|표|شكل|جدول)"
)
NUMBER = r"(?:[A-Z]{0,3}[.-]?\d+(?:[.-]\d+)*[a-z]?|[IVX]+)"
CAPTION = re.compile(
    rf"[\[<(\u3010]?\s*{LABEL}\s*{NUMBER}\s*(?:[:.\u2014\u2013|\uff1a\])>\u3011-](?:\s|$|(?=[^\x00-\x7f]))|$)",
    re.IGNORECASE,
)
WEAK_CAPTION = re.compile(rf"{LABEL}\s*{NUMBER}\s+(?=\S)", re.IGNORECASE)
OF_FIGURES = re.compile(
    r"(?:supplementary |extended data )?(?:fig|abb|figura|kuva|rys|рис|图|圖|図|그림|شكل|chart|diagram)", re.IGNORECASE
)
LONGEST_CAPTION = 1_500
NEAR_POINTS = 45.0
CLUSTER_POINTS = 24.0
SMALLEST_FIGURE_POINTS = 40.0
LEAST_SHAPES = 4
MOST_SHAPES = 3_000
MOST_CLUSTERS = 60
MOST_CAPTIONS = 200


def is_caption(text: str) -> bool:
    """Whether it starts as captions do: a label, a number, and a colon or the like."""
    return len(text) <= LONGEST_CAPTION and CAPTION.match(text) is not None


def bind(items: list[Item]) -> list[Item]:
    """The items of a page with each caption next to the figure or table that it stands above or below."""
    for item in items:
        if item.kind is Kind.PARAGRAPH and WEAK_CAPTION.match(item.text) and _near(item, items) is not None:
            styled = item.paragraph is not None and (item.paragraph.bold or item.paragraph.pieces[0].bold_start)
            if styled or len(item.text) < 120:
                item.kind = Kind.CAPTION
    bound = list(items)
    for caption in [item for item in items if item.kind is Kind.CAPTION][:MOST_CAPTIONS]:
        host = _near(caption, items)
        if host is None:
            continue
        bound.remove(caption)
        at = bound.index(host)
        bound.insert(at if caption.bbox[1] < host.bbox[1] else at + 1, caption)
    return bound


def _near(caption: Item, items: Sequence[Item]) -> Item | None:
    """The figure or table right above or below, of the kind that the label names where both are there."""
    best: tuple[bool, float] | None = None
    host: Item | None = None
    figure = OF_FIGURES.match(caption.text.lstrip("[<( \u3010")) is not None
    for item in items:
        if item.kind not in {Kind.FIGURE, Kind.TABLE}:
            continue
        overlap = min(caption.bbox[2], item.bbox[2]) - max(caption.bbox[0], item.bbox[0])
        apart = max(caption.bbox[1] - item.bbox[3], item.bbox[1] - caption.bbox[3])
        if overlap <= 0 or apart > NEAR_POINTS:
            continue
        rank = ((item.kind is Kind.FIGURE) is not figure, max(0.0, apart))
        if best is None or rank < best:
            best, host = rank, item
    return host


def drawn_figures(page: Page, pieces: Sequence[Piece], others: Sequence[BBox]) -> list[tuple[BBox, frozenset[int]]]:
    """Clusters of strokes beside a figure's caption where there is no picture, and the pieces inside each."""
    captions = [p for p in pieces if is_caption(p.text) and OF_FIGURES.match(p.text)]
    captions = [c for c in captions[:MOST_CAPTIONS] if not any(_beside(c.bbox, other) for other in others)]
    if not captions or len(page.drawn) < LEAST_SHAPES:
        return []
    found: list[tuple[BBox, frozenset[int]]] = []
    shapes = [*page.drawn, *page.horizontal, *page.vertical][:MOST_SHAPES]
    for box in _clusters([s for s in shapes if not any(_overlap(s, other) for other in others)]):
        small = min(box[2] - box[0], box[3] - box[1]) < SMALLEST_FIGURE_POINTS
        if small or not any(_beside(c.bbox, box) for c in captions):
            continue
        inside = frozenset(i for i, p in enumerate(pieces) if _within(p.bbox, box) and not is_caption(p.text))
        found.append((union([box, *(pieces[i].bbox for i in inside)]), inside))
    return found


def _clusters(shapes: Sequence[BBox]) -> list[BBox]:
    """Boxes around shapes that nearly touch, of enough shapes each."""
    clusters: list[tuple[BBox, int]] = []
    for shape in sorted(shapes, key=lambda s: s[1]):
        box, count = shape, 1
        kept: list[tuple[BBox, int]] = []
        for other, n in clusters:
            if _overlap(_grown(box), other):
                box, count = union([box, other]), count + n
            else:
                kept.append((other, n))
        clusters = [*kept[-MOST_CLUSTERS:], (box, count)]
    return [box for box, count in clusters if count >= LEAST_SHAPES]


def _grown(box: BBox) -> BBox:
    return (box[0] - CLUSTER_POINTS, box[1] - CLUSTER_POINTS, box[2] + CLUSTER_POINTS, box[3] + CLUSTER_POINTS)


def _overlap(a: BBox, b: BBox) -> bool:
    return a[0] <= b[2] and b[0] <= a[2] and a[1] <= b[3] and b[1] <= a[3]


def _within(inner: BBox, outer: BBox) -> bool:
    x, y = (inner[0] + inner[2]) / 2, (inner[1] + inner[3]) / 2
    return outer[0] - 4 <= x <= outer[2] + 4 and outer[1] - 4 <= y <= outer[3] + 4


def _beside(caption: BBox, box: BBox) -> bool:
    overlap = min(caption[2], box[2]) - max(caption[0], box[0])
    apart = max(caption[1] - box[3], box[1] - caption[3])
    return overlap > 0 and -6 <= apart <= NEAR_POINTS
