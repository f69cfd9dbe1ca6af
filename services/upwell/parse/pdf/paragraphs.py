"""Lines in reading order to paragraphs: where the gap, the size, the weight, an indent or a marker says so."""

import re
from collections import Counter
from collections.abc import Collection, Sequence
from itertools import pairwise

from upwell.parse.pdf.frame import BBox
from upwell.parse.pdf.lines import DENSE
from upwell.parse.pdf.page import Piece, union
from upwell.records import Record

BULLETS = (
    "\u2022\u25cf\u25cb\u25aa\u25ab\u25a0\u25a1\u25e6\u2023\u2043\u2219\u00b7\u2756\u27a2\u2713\u2714\u25fb"
    "\u2666\u25c6\u25ba\u25b6\u2605\u203b"
)
BULLET = re.compile(rf"^\s*(?:[{BULLETS}]\s*|[-\u2013\u2014*]\s+)(?=\S)")
NUMBERED = re.compile(
    r"^\s*(?:\(?\d{1,2}[.)\uff09\u3001]|\(\d{1,2}\)|\(?[a-zA-Z][.)]|\(?[ivx]{1,5}[.)]|[\u2460-\u2473])(?:\s+\S|(?=[^\x00-\x7f]))"
)
SECTION_NUMBER = re.compile(r"^(?:(\d{1,2}(?:\.\d{1,2}){0,5})\.?|([A-Z](?:\.\d{1,2}){1,5})\.?|(?:[IVX]{1,5})\.)\s+\S")
ENDS = re.compile(r"[.!?:;\u3002\uff01\uff1f\u061f\u06d4\u0964][\"'\u2019\u201d)\]\u300d\u300f]*$")
# Tried once from each run's first dot: a line may be nothing but dots.
LEADERS = re.compile(r"(?<!\.)(?<!\.\s)(?:\.\s?){4,}+\s*+\d+\s*$")
INDENT_SIZES = 0.8
LEAST_CAPITALS, MOST_CAPITAL_LINES = 4, 2
TIGHT_LEADING, TIGHT_SHARE = 1.35, 0.2


class Paragraph(Record, frozen=True, kw_only=True):
    """Lines that belong together, in a column from `left` to `right`."""

    pieces: tuple[Piece, ...]
    page: int
    left: float
    right: float

    @property
    def bbox(self) -> BBox:
        return union([piece.bbox for piece in self.pieces])

    @property
    def size(self) -> float:
        """The size of most of its characters."""
        sizes: Counter[float] = Counter()
        for piece in self.pieces:
            sizes[piece.size] += len(piece.text)
        return sizes.most_common(1)[0][0]

    @property
    def bold(self) -> bool:
        return all(piece.bold for piece in self.pieces)

    @property
    def mono(self) -> bool:
        return all(piece.mono for piece in self.pieces)


def paragraphs(
    pieces: Sequence[Piece], page: int, within: tuple[float, float] | None = None, *, code: bool = True
) -> list[Paragraph]:
    """The paragraphs of one region, in a column that runs `within` these.

    `code`: whether fixed-pitch letters mean something in this document.
    """
    if not pieces:
        return []
    box = union([piece.bbox for piece in pieces])
    left, right = within or (box[0], box[2])
    parter = _Parter(left, right, _usual_leading(pieces), code=code)
    done: list[list[Piece]] = []
    for piece in pieces:
        if done and parter.continues(done[-1], piece):
            done[-1].append(piece)
        else:
            done.append([piece])
    return [Paragraph(pieces=tuple(group), page=page, left=left, right=right) for group in done]


def _usual_leading(pieces: Sequence[Piece]) -> float:
    """From one line to the next, most often, in sizes of the letters."""
    steps = [
        (b.bbox[3] - a.bbox[3]) / b.size for a, b in pairwise(pieces) if b.size and abs(a.size - b.size) < 0.1 * a.size
    ]
    lines = sorted(step for step in steps if 0.9 <= step <= 2.5)
    if not lines:
        return 1.25
    usual, tight = lines[len(lines) // 3], [step for step in lines if step <= TIGHT_LEADING]
    if usual > TIGHT_LEADING and len(tight) >= max(1.0, TIGHT_SHARE * len(lines)):
        return tight[len(tight) // 2]  # most steps are those between short paragraphs
    return usual


class _Parter:
    def __init__(self, left: float, right: float, leading: float, *, code: bool) -> None:
        self.left, self.right, self.leading, self.code = left, right, leading, code

    def continues(self, group: list[Piece], piece: Piece) -> bool:
        last = group[-1]
        if same_row(last, piece):
            return piece.bbox[0] - last.bbox[2] < (14 if piece.mono else 8) * piece.size
        if self.code and last.mono and piece.mono:
            return 0 < piece.bbox[1] - last.bbox[1] < 3.2 * piece.size
        if self.code and (last.mono or piece.mono) and (group[0].mono or not self._goes_on(last)):
            return False
        if piece.raised_start or BULLET.match(piece.text) or LEADERS.search(last.text):
            return False
        if piece.text.isdecimal() and len(piece.text) <= 2 and piece.bbox[0] < last.bbox[0] - INDENT_SIZES * piece.size:
            return False  # the number of the next item, hanging at its left
        if NUMBERED.match(piece.text) and not self._number_inside(group, piece):
            return False
        step = piece.bbox[3] - last.bbox[3]
        if step <= 0 or step > _widest(self.leading, piece) or self._stops(last, piece, step):
            return False
        if abs(piece.size - last.size) > 0.12 * max(piece.size, last.size):
            return False
        if piece.bold != last.bold and not self._bold_runs_on(last, piece):
            return False
        return not self._indented(group, piece) and not self._names_section(group, piece)

    def _stops(self, last: Piece, piece: Piece, step: float) -> bool:
        """Whether a line ends far from the column's edge, and a gap is below it: one of a letter's few words."""
        if step <= _widest(min(self.leading, TIGHT_LEADING), piece) or not self._ends_short(last):
            return False
        addressed = last.text.endswith(",") and last.text[:1].isupper()
        goes_on = piece.text[:1].islower() and not addressed and not ENDS.search(last.text)
        shifted = abs(last.bbox[0] - piece.bbox[0]) > 1
        return not goes_on and not (shifted and _centred(last, piece))

    def _names_section(self, group: list[Piece], piece: Piece) -> bool:
        """Whether all so far is a section's number and name, slanted or in capitals as what follows is not."""
        last = group[-1]
        if not SECTION_NUMBER.match(group[0].text) or len(group) > MOST_CAPITAL_LINES or ENDS.search(last.text):
            return False
        slanted = len(group) == 1 and last.italic and not piece.italic and not self._full(last)
        capitals = all(_in_capitals(p.text) for p in group) and not _in_capitals(piece.text) and self._ends_short(last)
        return (slanted or capitals) and not piece.text[:1].islower()

    def _ends_short(self, piece: Piece) -> bool:
        """Whether a line ends far from the column's edge."""
        return piece.bbox[2] < self.right - 0.25 * (self.right - self.left)

    def _full(self, piece: Piece) -> bool:
        return piece.bbox[2] > self.right - 0.12 * (self.right - self.left) - piece.size

    def _goes_on(self, last: Piece) -> bool:
        """Whether a line breaks off in the middle of a sentence, at the column's end."""
        return self._full(last) and not ENDS.search(last.text)

    def _number_inside(self, group: list[Piece], piece: Piece) -> bool:
        """Whether a number at a line's start belongs to the sentence that runs through it."""
        prose = not BULLET.match(group[0].text) and not NUMBERED.match(group[0].text)
        return prose and len(group) > 1 and self._goes_on(group[-1]) and abs(piece.bbox[0] - group[-1].bbox[0]) < 1

    def _bold_runs_on(self, last: Piece, piece: Piece) -> bool:
        """A change of weight inside a paragraph: the line before is full, and the words go on."""
        if not self._full(last):
            return False
        return piece.bold_start if last.bold else not ENDS.search(last.text)

    def _indented(self, group: list[Piece], piece: Piece) -> bool:
        """Whether a line starts a paragraph by where it begins, or the one before ended the last by where it ends."""
        last, step = group[-1], INDENT_SIZES * piece.size
        listed = BULLET.match(group[0].text) or NUMBERED.match(group[0].text)
        ended = ENDS.search(last.text) is not None
        short = self._ends_short(last)
        starts = [p.bbox[0] for p in group[1:] if not same_row(group[0], p)] or [min(self.left, last.bbox[0])]
        if not listed and piece.bbox[0] > min(starts) + step and (ended or not self._full(last)):
            return not _centred(last, piece)
        if listed and len(starts) > 1 and piece.bbox[0] < min(starts) - step:
            return ended or short
        if listed and not starts[1:] and piece.bbox[0] < group[0].bbox[0] - step:
            return ended or short
        return ended and short and not piece.text[:1].islower() and not _centred(last, piece)


def _widest(leading: float, piece: Piece) -> float:
    """How far, in points, a line may be below the one that it goes on with."""
    usual = leading * piece.size
    return max(1.2 * usual, usual + 1.5)


def same_row(last: Piece, piece: Piece) -> bool:
    """Whether a piece stands beside the one before it."""
    overlap = min(last.bbox[3], piece.bbox[3]) - max(last.bbox[1], piece.bbox[1])
    return overlap > 0.5 * min(last.size, piece.size)


def _in_capitals(text: str) -> bool:
    return text.upper() == text and any(w.isalpha() and len(w) >= LEAST_CAPITALS for w in text.split())


def _centred(a: Piece, b: Piece) -> bool:
    return abs((a.bbox[0] + a.bbox[2]) - (b.bbox[0] + b.bbox[2])) < a.size


def joined(texts: Sequence[str], vocabulary: Collection[str]) -> str:
    """The words of lines as one text, with words that were parted at line ends whole again.

    `vocabulary` holds the document's own words (lower case): what it writes with a hyphen elsewhere keeps it.
    """
    text = ""
    for line in texts:
        words = " ".join(line.split())
        if not text:
            text = words
        elif text.endswith(("-", "\u2010")) and len(text) > 1 and text[-2].isalpha() and words[:1].isalpha():
            text = text[:-1] + ("-" if _keeps_hyphen(text, words, vocabulary) else "") + words
        elif DENSE.match(text[-1]) and DENSE.match(words[:1]):
            text += words
        else:
            text = f"{text} {words}"
    return text


WORD_BEFORE = re.compile(r"([\w-]*?)(\w+)[-\u2010]$")
WORD_AFTER = re.compile(r"(\w+)(-?)")


def _keeps_hyphen(text: str, words: str, vocabulary: Collection[str]) -> bool:
    before, after = WORD_BEFORE.search(text[-80:]), WORD_AFTER.match(words)
    if before is None or after is None:
        return True
    first, second = before[2].lower(), after[1].lower()
    if words[0].isupper():
        return True  # a name such as Smith-Jones; broken words go on in small letters
    if f"{first}-{second}" in vocabulary or before[1] or after[2]:
        return True
    if first + second in vocabulary:
        return False
    return len(first) > 2 and len(second) > 2 and first in vocabulary and second in vocabulary


def words_of(pieces: Sequence[Piece]) -> frozenset[str]:
    """The words of lines, in lower case; those at a line's end with a hyphen left out."""
    found: set[str] = set()
    for piece in pieces:
        tokens = piece.text.lower().split()
        if tokens and tokens[-1].endswith(("-", "\u2010")):
            tokens.pop()
        found.update(token.strip(".,;:!?()[]\"'\u201c\u201d\u2018\u2019") for token in tokens)
    return frozenset(found)
