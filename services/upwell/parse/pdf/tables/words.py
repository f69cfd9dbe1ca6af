"""Words, the lines they stand on, and segments: what of a line no wide gap parts."""

import re
from collections.abc import Iterable, Sequence

from upwell.parse.pdf.page import BBox, Page, union
from upwell.records import Record

ROW_OVERLAP = 0.5
GAP_SHARE = 0.75
NUMBERS_GAP_SHARE = 0.45
NUMBER = re.compile(
    r"[-+\u2212\u2013\u00b1~<>\u2264\u2265(\[]*\s*[$\u20ac\u00a3\u00a5]?\s*[-+\u2212]?\d[\d.,'\u2019\u00a0\u202f ]*"
    r"(?:[eE][-+]?\d+)?\s*[%\u2030\u00b0kKmMxX)\]*\u2020\u2021]*|[-\u2013\u2014\u2212.*\u2026]{1,3}|n/?a\.?",
    re.IGNORECASE,
)
YEAR = re.compile(r"(?:19|20)\d\d(?:[-/\u2013]\d{2,4})?")


class Word(Record, frozen=True, kw_only=True):
    """A word, and which piece of the page it is of."""

    text: str
    bbox: BBox
    piece: int
    size: float
    bold: bool = False
    mono: bool = False

    @property
    def x(self) -> float:
        return (self.bbox[0] + self.bbox[2]) / 2

    @property
    def y(self) -> float:
        return (self.bbox[1] + self.bbox[3]) / 2


class Segment(Record, frozen=True, kw_only=True):
    """Words of one line without a wide gap between them."""

    words: tuple[Word, ...]

    @property
    def bbox(self) -> BBox:
        return union([word.bbox for word in self.words])

    @property
    def left(self) -> float:
        return self.words[0].bbox[0]

    @property
    def right(self) -> float:
        return max(word.bbox[2] for word in self.words)

    @property
    def size(self) -> float:
        return self.words[0].size

    @property
    def text(self) -> str:
        return " ".join(word.text for word in self.words)


Line = list[Segment]


def words_of(page: Page, leave: frozenset[int] = frozenset()) -> list[Word]:
    """The words of the page's pieces, those of `leave` apart."""
    words: list[Word] = []
    for i, piece in enumerate(page.pieces):
        if i in leave or not piece.text.strip():
            continue
        for text, bbox in piece.words or ((piece.text, piece.bbox),):
            if text.strip():
                words.append(
                    Word(
                        text=" ".join(text.split()),
                        bbox=bbox,
                        piece=i,
                        size=max(piece.size, 1.0),
                        bold=piece.bold,
                        mono=piece.mono,
                    )
                )
    return words


def lines_of(words: Iterable[Word], gap_share: float = GAP_SHARE) -> list[Line]:
    """Words that stand on one line, as its segments from the left; lines from the top."""
    rows: list[list[Word]] = []
    for word in sorted(words, key=lambda w: w.y):
        last = rows[-1][0] if rows else None
        if last is not None and word.y - last.y <= ROW_OVERLAP * min(last.size, word.size):
            rows[-1].append(word)
        else:
            rows.append([word])
    return [segments(sorted(row, key=lambda w: w.bbox[0]), gap_share) for row in rows]


def segments(row: Sequence[Word], gap_share: float = GAP_SHARE) -> Line:
    """A line's words, from the left, parted where a gap is wide for letters of their size."""
    parts: list[list[Word]] = []
    for word in row:
        if parts:
            last = parts[-1][-1]
            numbers = is_number(last.text) and is_number(word.text)
            share = min(gap_share, NUMBERS_GAP_SHARE) if numbers else gap_share
            if word.bbox[0] - last.bbox[2] <= share * min(last.size, word.size):
                parts[-1].append(word)
                continue
        parts.append([word])
    return [Segment(words=tuple(part)) for part in parts]


def line_box(line: Line) -> BBox:
    return union([segment.bbox for segment in line])


def is_number(text: str) -> bool:
    """Whether a cell's text is a number, or a sign that stands for one that is missing."""
    return bool(NUMBER.fullmatch(text.strip()))


def is_figure(text: str) -> bool:
    """A number that is no year: what the body of a table holds and its header does not."""
    return is_number(text) and not YEAR.fullmatch(text.strip())
