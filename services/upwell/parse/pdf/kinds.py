"""What a paragraph is by its own looks: code, a formula, an item of a list, a footnote, or plain."""

import re
import unicodedata
from collections import Counter
from collections.abc import Sequence
from itertools import pairwise

import msgspec

from upwell.parse.pdf.frame import BBox
from upwell.parse.pdf.page import Page, Piece
from upwell.parse.pdf.paragraphs import BULLET, NUMBERED, Paragraph, words_of
from upwell.records import Kind, Record, Table

SMALLER = 0.93
HANGING_POINTS = 4.0
MOSTLY, MOST_OF_A_LISTING = 0.5, 0.7
CODE_SIGNS = re.compile(r"[;{}=<>$#|\\]|\(\)|->|::|^\s*(?:def|class|import|return|for|if|public|const|let|var)\b")
RELATIONS = re.compile(
    r"[=<>\u2264\u2265\u2248\u2260\u2261\u221d\u2211\u220f\u222b\u2208\u2192\u21d2\u223c\u2202\u221a]"
)
EQUATION_NUMBER = re.compile(r"\(\d{1,3}(?:\.\d{1,3})?[a-z]?\)\s*$")
LONG_WORD = re.compile(r"[^\W\d_]{4,}")
NOTE_MARK = re.compile(r"^\s*(?:\d{1,3}\)?|[*\u2217\u2020\u2021\u00a7\u00b6]+|\[\d{1,3}\])\s*(?=\S)")


class Reading(Record, frozen=True, kw_only=True):
    """What holds for the whole document: the size of its body, whether that is bold, whether fixed pitch means code."""

    body: float
    bold: bool
    code: bool
    vocabulary: frozenset[str]


class Item(msgspec.Struct, eq=False):
    """A thing of a page in reading order, on its way to a block. `ends`: the last part of one joined over a break."""

    kind: Kind
    page: int
    bbox: BBox
    text: str = ""
    paragraph: Paragraph | None = None
    table: Table | None = None
    level: int | None = None
    ends: Paragraph | None = None
    confidence: float | None = None


def read_as(pieces: Sequence[Piece]) -> Reading:
    """From all lines of a document that are no furniture."""
    sizes: Counter[float] = Counter()
    bold, mono, total = 0, 0, 1
    for piece in pieces:
        length = len(piece.text)
        sizes[round(piece.size * 4) / 4] += length
        bold += length * piece.bold
        mono += length * piece.mono
        total += length
    return Reading(
        body=sizes.most_common(1)[0][0] if sizes else 10.0,
        bold=bold > MOSTLY * total,
        code=mono <= MOSTLY * total or _is_listing(pieces),
        vocabulary=words_of(pieces),
    )


def _is_listing(pieces: Sequence[Piece]) -> bool:
    """Whether a document in fixed-pitch letters is a program, and not typewritten: most lines look like one."""
    return sum(CODE_SIGNS.search(piece.text) is not None for piece in pieces) > MOST_OF_A_LISTING * len(pieces)


def plain_kind(paragraph: Paragraph, text: str, page: Page, reading: Reading) -> Kind:
    """What it is, headings and captions apart."""
    if reading.code and paragraph.mono and _is_code(paragraph, text):
        return Kind.CODE
    if is_formula(paragraph, text):
        return Kind.FORMULA
    if _is_footnote(paragraph, page, reading):
        return Kind.FOOTNOTE
    if is_bullet(paragraph) or NUMBERED.match(text) or _hangs_on_number(paragraph):
        return Kind.LIST_ITEM
    return Kind.PARAGRAPH


def _is_code(paragraph: Paragraph, text: str) -> bool:
    """Fixed-pitch letters; a single line has to look like a program, not like an address."""
    if "@" in text and ";" not in text and len(paragraph.pieces) < 4:
        return False
    return len(paragraph.pieces) > 2 or CODE_SIGNS.search(text) is not None


def code_text(paragraph: Paragraph) -> str:
    """The lines of a program, each indented as on the page."""
    pieces = paragraph.pieces
    left = min(piece.bbox[0] for piece in pieces)
    widths = sorted((p.bbox[2] - p.bbox[0]) / len(p.text) for p in pieces if p.text)
    width = widths[len(widths) // 2] if widths else 1.0
    steps = sorted(b.bbox[3] - a.bbox[3] for a, b in pairwise(pieces) if b.bbox[3] - a.bbox[3] > 1)
    usual = steps[len(steps) // 4] if steps else 0.0
    lines: list[str] = []
    last: Piece | None = None
    for piece in pieces:
        column = max(0, round((piece.bbox[0] - left) / max(width, 0.5)))
        step = piece.bbox[3] - last.bbox[3] if last is not None else 0.0
        if last is not None and step <= 1 and lines:
            lines[-1] += " " * max(1, column - len(lines[-1])) + piece.text
        else:
            if usual and step > 1.6 * usual:
                lines.append("")
            lines.append(" " * column + piece.text)
        last = piece
    return "\n".join(lines)


def is_formula(paragraph: Paragraph, text: str) -> bool:
    """A displayed formula: indented, with a relation or in letters of mathematics, and without words."""
    if len(text) > 300 or len(LONG_WORD.findall(text)) > 1:
        return False
    signs = [c for c in text if not c.isspace()]
    letters = sum(unicodedata.category(c).startswith("L") for c in signs)
    maths = sum(piece.math * len(piece.text) for piece in paragraph.pieces) > MOSTLY * len(text)
    related = RELATIONS.search(text) is not None
    if not signs or not (maths or related) or (not related and not EQUATION_NUMBER.search(text)):
        return False
    indented = paragraph.bbox[0] - paragraph.left > 1.5 * paragraph.size or maths
    return indented or letters < MOSTLY * len(signs)


def is_bullet(paragraph: Paragraph) -> bool:
    """A known mark, or any lone sign with a gap behind it and the words at a hanging indent."""
    pieces = paragraph.pieces
    if BULLET.match(pieces[0].text):
        return True
    words = pieces[0].words
    first = pieces[0].text.split(" ", 1)[0]
    if len(first) != 1 or first.isalnum() or unicodedata.category(first)[0] not in {"S", "P"} or first in "\"'([{<&@$":
        return False
    second = words[1][1][0] if len(words) > 1 else pieces[1].bbox[0] if len(pieces) > 1 else None
    if second is None or not words:
        return False
    return second - words[0][1][2] > 0.6 * pieces[0].size


def _hangs_on_number(paragraph: Paragraph) -> bool:
    """A bare number with a gap behind it, under which none of the lines goes."""
    words = [word for piece in paragraph.pieces[:2] for word in piece.words]
    if len(words) < 2 or not (words[0][0].isdecimal() and len(words[0][0]) <= 2):
        return False
    text = words[1][1][0]
    below = [p.bbox[0] for p in paragraph.pieces[1:] if p.bbox[1] > paragraph.pieces[0].bbox[1] + 0.5 * p.size]
    gap = text - words[0][1][2] > 0.7 * paragraph.pieces[0].size
    return gap and all(abs(left - text) < HANGING_POINTS for left in below)


def without_bullet(text: str) -> str:
    """The item's own words."""
    shorter = BULLET.sub("", text, count=1)
    return shorter if shorter != text else text.split(" ", 1)[-1]


def _is_footnote(paragraph: Paragraph, page: Page, reading: Reading) -> bool:
    """Small letters low on the page, with a mark, and nothing of the body's size below in the same column."""
    box = paragraph.bbox
    if paragraph.size > SMALLER * reading.body or box[1] < 0.45 * page.height:
        return False
    first = paragraph.pieces[0]
    marked = first.raised_start or NOTE_MARK.match(first.text) is not None
    if not marked and (box[1] < 0.8 * page.height or paragraph.size > 0.88 * reading.body):
        return False
    return not any(
        piece.size > SMALLER * reading.body
        and piece.bbox[1] > box[1]
        and min(piece.bbox[2], box[2]) - max(piece.bbox[0], box[0]) > 0
        and len(piece.text) > 20
        for piece in page.pieces
    )
