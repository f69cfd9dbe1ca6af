"""A PDF page as we see it: pieces of lines, rules, pictures; points from the top left."""

import io
import re
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Any

from msgspec.structs import replace

from upwell.parse.failures import corrupt, encrypted, too_large
from upwell.parse.limits import Limits
from upwell.records import Record

BBox = tuple[float, float, float, float]
LIGATURES = str.maketrans(
    {"\ufb00": "ff", "\ufb01": "fi", "\ufb02": "fl", "\ufb03": "ffi", "\ufb04": "ffl", "\u00ad": "-", "\0": ""}
)
BOLD = re.compile(r"bold|black|heavy|semibold|medi\b|-bd\b|cmbx", re.IGNORECASE)
MOST_CELLS_A_PAGE = 50_000
MOST_SHAPES_A_PAGE = 20_000
MOST_LINKS_A_PAGE = 500
THIN_POINTS = 3.0
SMALLEST_PICTURE_POINTS = 30.0
BUCKET_POINTS = 10.0
GAP_SHARE = 1.0


class Piece(Record, frozen=True, kw_only=True):
    """A run of words on one line. `size` is the height of its box, near the font's size.

    `words` are its words with their boxes, left to right, for those who must part it; empty where none were found.
    """

    text: str
    bbox: BBox
    size: float
    bold: bool = False
    words: tuple[tuple[str, BBox], ...] = ()


class Page(Record, frozen=True, kw_only=True):
    """What stands on a page; rules are thin boxes, horizontal or vertical."""

    number: int
    width: float
    height: float
    pieces: tuple[Piece, ...]
    horizontal: tuple[BBox, ...] = ()
    vertical: tuple[BBox, ...] = ()
    pictures: tuple[BBox, ...] = ()
    links: tuple[tuple[BBox, str], ...] = ()

    def links_in(self, bbox: BBox) -> tuple[str, ...]:
        """Where the links point to whose middle is in this box."""
        return tuple(uri for box, uri in self.links if _middle_inside(box, bbox))


def read_pages(data: bytes, limits: Limits) -> Iterator[Page]:
    """The pages in order. Raises Unparsable."""
    from docling_parse.pdf_parser import DoclingPdfParser  # noqa: PLC0415 - seconds of imports, and only for PDFs

    try:
        document = DoclingPdfParser(loglevel="fatal").load(io.BytesIO(data))
        count = document.number_of_pages()
    except (RuntimeError, ValueError, OSError) as e:
        if "password" in str(e).lower() or "encrypt" in str(e).lower():
            raise encrypted("the PDF is encrypted; its password is not known") from e
        raise corrupt("the PDF cannot be read") from e
    if count > limits.pages:
        raise too_large(f"{count} pages; at most {limits.pages} are read")
    for number in range(1, count + 1):
        try:
            page = _page(document.get_page(number), number)
        except (RuntimeError, ValueError, OSError) as e:
            raise corrupt(f"page {number} of the PDF cannot be read") from e
        document.unload_pages((number, number + 1))
        yield page


def _page(page: Any, number: int) -> Page:
    box = page.dimension.crop_bbox
    width, height = box.r - box.l, box.t - box.b
    if len(page.textline_cells) > MOST_CELLS_A_PAGE:
        raise too_large(f"page {number} has too many pieces of text")
    words = WordIndex([_piece(cell, height) for cell in page.word_cells])
    pieces = [
        part
        for cell in page.textline_cells
        if (line := _piece(cell, height)).text.strip() and line.bbox[2] > line.bbox[0]
        for part in words.parted(line)
    ]
    horizontal, vertical = _rules(page.shapes[:MOST_SHAPES_A_PAGE], height)
    pictures = (_box(picture.rect.to_bounding_box(), height) for picture in page.bitmap_resources)
    return Page(
        number=number,
        width=width,
        height=height,
        pieces=tuple(pieces),
        horizontal=tuple(horizontal),
        vertical=tuple(vertical),
        pictures=tuple(p for p in pictures if min(p[2] - p[0], p[3] - p[1]) >= SMALLEST_PICTURE_POINTS),
        links=tuple(
            (_box(link.rect.to_bounding_box(), height), str(link.uri))
            for link in page.hyperlinks[:MOST_LINKS_A_PAGE]
            if link.uri is not None
        ),
    )


def _piece(cell: Any, height: float) -> Piece:
    bbox = _box(cell.rect.to_bounding_box(), height)
    return Piece(
        text=cell.text.translate(LIGATURES),
        bbox=bbox,
        size=bbox[3] - bbox[1],
        bold=bool(BOLD.search(cell.font_name or "")),
    )


class WordIndex:
    """Words by their height on the page, to part lines that run across the columns of a table."""

    def __init__(self, words: Sequence[Piece]) -> None:
        self._rows: dict[int, list[Piece]] = {}
        for word in words:
            if word.text.strip():
                self._rows.setdefault(int((word.bbox[1] + word.bbox[3]) / 2 / BUCKET_POINTS), []).append(word)

    def parted(self, line: Piece) -> list[Piece]:
        """The line as it is, or its parts where a gap is wider than its letters are high."""
        inside = sorted(
            (
                word
                for row in range(int(line.bbox[1] / BUCKET_POINTS), int(line.bbox[3] / BUCKET_POINTS) + 1)
                for word in self._rows.get(row, ())
                if _middle_inside(word.bbox, line.bbox)
            ),
            key=lambda word: word.bbox[0],
        )
        parts: list[list[Piece]] = []
        for word in inside:
            if parts and word.bbox[0] - parts[-1][-1].bbox[2] <= GAP_SHARE * line.size:
                parts[-1].append(word)
            else:
                parts.append([word])
        if len(parts) < 2:
            return [replace(line, words=_words(inside))]
        return [
            replace(line, text=" ".join(w.text for w in part), bbox=union([w.bbox for w in part]), words=_words(part))
            for part in parts
        ]


def _words(pieces: Sequence[Piece]) -> tuple[tuple[str, BBox], ...]:
    return tuple((piece.text, piece.bbox) for piece in pieces)


def _middle_inside(inner: BBox, outer: BBox) -> bool:
    x, y = (inner[0] + inner[2]) / 2, (inner[1] + inner[3]) / 2
    return outer[0] <= x <= outer[2] and outer[1] <= y <= outer[3]


def _rules(shapes: Any, height: float) -> tuple[list[BBox], list[BBox]]:
    horizontal: list[BBox] = []
    vertical: list[BBox] = []
    for shape in shapes:
        points = [(point.x, height - point.y) for point in shape.points]
        if len(points) < 2:
            continue
        for (ax, ay), (bx, by) in _edges(points):
            box = (min(ax, bx), min(ay, by), max(ax, bx), max(ay, by))
            if box[3] - box[1] <= THIN_POINTS < box[2] - box[0]:
                horizontal.append(box)
            elif box[2] - box[0] <= THIN_POINTS < box[3] - box[1]:
                vertical.append(box)
    return horizontal, vertical


def _edges(points: list[tuple[float, float]]) -> Iterator[tuple[tuple[float, float], tuple[float, float]]]:
    xs, ys = [x for x, _ in points], [y for _, y in points]
    thin = min(max(xs) - min(xs), max(ys) - min(ys)) <= THIN_POINTS
    if thin:  # a line, or a rectangle drawn as one
        yield (min(xs), min(ys)), (max(xs), max(ys))
        return
    yield from pairwise(points)


def _box(box: Any, height: float) -> BBox:
    top = box.to_top_left_origin(height)
    return (round(top.l, 2), round(top.t, 2), round(top.r, 2), round(top.b, 2))


def union(boxes: list[BBox]) -> BBox:
    """The box around boxes; at least one."""
    return (
        min(b[0] for b in boxes),
        min(b[1] for b in boxes),
        max(b[2] for b in boxes),
        max(b[3] for b in boxes),
    )
