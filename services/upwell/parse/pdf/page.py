"""A PDF page as we see it: pieces of lines, rules, pictures; points from the top left."""

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

from msgspec.structs import replace

from upwell.parse.limits import Limits
from upwell.parse.pdf.file import PdfFile
from upwell.parse.pdf.frame import BBox as BBox  # noqa: PLC0414 - what a page is measured in, for those who use one
from upwell.parse.pdf.frame import Frame, turned_back
from upwell.parse.pdf.glyphs import Word, page_words
from upwell.parse.pdf.lines import Line, line_words, lines, runs_left
from upwell.parse.pdf.shapes import page_shapes
from upwell.records import Record

MOST_STYLED = 0.5
SMALLEST_DOT, LARGEST_DOT, DOT_SIZES, MOST_DOTS = 1.5, 7.0, 2.0, 10
BULLET_SIGNS = frozenset("\u2022\u25cf\u25cb\u25e6\u25aa")


class Piece(Record, frozen=True, kw_only=True):
    """A run of words on one line. `size` is the font's, in points; `unknown` characters have no known meaning.

    `words` are its words with their boxes, left to right. `bold_start`: its first word is bold, whatever the rest is.
    `upright` False: it runs up or down the page. `raised_start`: it begins with an index, as footnotes do.
    `confidence`: how sure OCR is of it.
    """

    text: str
    bbox: BBox
    size: float
    bold: bool = False
    bold_start: bool = False
    italic: bool = False
    mono: bool = False
    math: bool = False
    upright: bool = True
    raised_start: bool = False
    unknown: int = 0
    confidence: float | None = None
    words: tuple[tuple[str, BBox], ...] = ()


class Page(Record, frozen=True, kw_only=True):
    """What stands on a page; rules are thin boxes, horizontal or vertical.

    A page whose text runs up or down is turned by `turn` degrees to be read: `on_paper` turns a box back.
    """

    number: int
    width: float
    height: float
    pieces: tuple[Piece, ...]
    horizontal: tuple[BBox, ...] = ()
    vertical: tuple[BBox, ...] = ()
    pictures: tuple[BBox, ...] = ()
    drawn: tuple[BBox, ...] = ()
    links: tuple[tuple[BBox, str], ...] = ()
    turn: int = 0

    def links_in(self, bbox: BBox) -> tuple[str, ...]:
        """Where the links point to whose middle is in this box."""
        return tuple(uri for box, uri in self.links if _middle_inside(box, bbox))

    def on_paper(self, bbox: BBox) -> BBox:
        """A box of this page as it shows, before it was turned."""
        width, height = (self.height, self.width) if self.turn in {90, 270} else (self.width, self.height)
        return turned_back(bbox, self.turn, width, height)

    @property
    def characters(self) -> int:
        return sum(len(piece.text) for piece in self.pieces)

    @property
    def unknown(self) -> int:
        return sum(piece.unknown for piece in self.pieces)


def read_pages(file: PdfFile, limits: Limits) -> Iterator[Page]:
    """The pages in order; one that cannot be loaded is noted in `file` and left out. Raises Unparsable."""
    characters = limits.characters
    for number, page in file.pages():
        links = file.links(page)
        settled = file.settled(page, number)
        try:
            read = _read(file, settled, number, links)
        finally:
            if settled is not page:
                settled.close()
        characters -= read.characters
        yield read
        if characters < 0:
            return  # the outline refuses it as too large


def _read(file: PdfFile, page: Any, number: int, links: Sequence[tuple[BBox, str]]) -> Page:
    frame = file.frame(page)
    text_page = file.text_page(page)
    try:
        words = page_words(text_page, frame, number)
    finally:
        text_page.close()
    turn = _most_run(words)
    frame = frame.turned(turn)
    shapes = page_shapes(page, frame)
    pieces = with_bullets(list(_pieces(words, turn, frame)), shapes.drawn)
    return Page(
        number=number,
        width=frame.width,
        height=frame.height,
        pieces=tuple(pieces),
        horizontal=shapes.horizontal,
        vertical=shapes.vertical,
        pictures=shapes.pictures,
        drawn=shapes.drawn,
        links=tuple((frame.bbox(*box), uri) for box, uri in links),
        turn=turn,
    )


def with_bullets(pieces: list[Piece], drawn: Sequence[BBox]) -> list[Piece]:
    """Lines with the dot that was drawn before them as a shape, as the character that it is."""
    dots: dict[int, list[BBox]] = {}
    for box in drawn:
        width, height = box[2] - box[0], box[3] - box[1]
        if SMALLEST_DOT <= width <= LARGEST_DOT and abs(width - height) <= 1:
            dots.setdefault(int((box[1] + box[3]) / 2), []).append(box)
    if not dots:
        return pieces
    out: list[Piece] = []
    for piece in pieces:
        near = [box for y in range(int(piece.bbox[1]), int(piece.bbox[3]) + 1) for box in dots.get(y, ())[:MOST_DOTS]]
        dot = next((b for b in near if 0 < piece.bbox[0] - b[2] < DOT_SIZES * piece.size), None)
        if dot is not None and piece.text[:1] not in BULLET_SIGNS:
            bbox, words = union([dot, piece.bbox]), (("\u2022", dot), *piece.words)
            out.append(replace(piece, text=f"\u2022 {piece.text}", bbox=bbox, words=words))
        else:
            out.append(piece)
    return out


def _most_run(words: dict[int, list[Word]]) -> int:
    counts = Counter({turn: sum(len(word.letters) for word in group) for turn, group in words.items()})
    return counts.most_common(1)[0][0] if counts else 0


def _pieces(words: dict[int, list[Word]], turn: int, frame: Frame) -> Iterator[Piece]:
    for degrees, group in words.items():
        leftwards = runs_left(group)
        for line in lines(group):
            piece = _piece(line, (degrees - turn) % 360, frame, leftwards=leftwards)
            if piece.text.strip():
                yield piece


def _piece(line: Line, degrees: int, frame: Frame, *, leftwards: bool) -> Piece:
    """One line; its box as high as its font is large."""
    read = line_words(line.words, leftwards=leftwards)
    words = sorted(line.words, key=lambda word: word.x0)
    letters = sum(len(word.letters) for word in words) or 1
    main = [word for word in words if word.size * 1.15 >= line.size]
    return Piece(
        text=" ".join(text for text, _, _ in read),
        bbox=_boxed(line.x0, line.x1, line, degrees, frame),
        size=round(line.size, 2),
        bold=all(word.font.bold or not _has_letters(word) for word in main) and any(w.font.bold for w in main),
        bold_start=main[0].font.bold if main else False,
        italic=_share(words, "italic", letters) > MOST_STYLED,
        mono=_share(words, "mono", letters) > 0.9,
        math=_share(words, "math", letters) > MOST_STYLED,
        upright=degrees == 0,
        raised_start=len(words) > 1 and words[0].size <= 0.87 * line.size and words[0].baseline < line.baseline - 0.5,
        unknown=sum(word.unknown for word in words),
        words=tuple((text, _boxed(x0, x1, line, degrees, frame)) for text, x0, x1 in sorted(read, key=lambda w: w[1])),
    )


def _boxed(x0: float, x1: float, line: Line, degrees: int, frame: Frame) -> BBox:
    """As high as the line's font is large."""
    bottom = line.baseline + 0.22 * line.size
    box = (round(x0, 2), round(bottom - line.size, 2), round(x1, 2), round(bottom, 2))
    return turned_back(box, degrees, frame.width, frame.height) if degrees else box


def _has_letters(word: Word) -> bool:
    return any(character.isalnum() for character in word.text)


def _share(words: list[Word], style: str, letters: int) -> float:
    return sum(len(word.letters) for word in words if getattr(word.font, style)) / letters


def _middle_inside(inner: BBox, outer: BBox) -> bool:
    x, y = (inner[0] + inner[2]) / 2, (inner[1] + inner[3]) / 2
    return outer[0] <= x <= outer[2] and outer[1] <= y <= outer[3]


def union(boxes: list[BBox]) -> BBox:
    """The box around boxes; at least one."""
    return (
        min(b[0] for b in boxes),
        min(b[1] for b in boxes),
        max(b[2] for b in boxes),
        max(b[3] for b in boxes),
    )
