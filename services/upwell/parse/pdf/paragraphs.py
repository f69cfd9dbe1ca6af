"""Lines in reading order to paragraphs, headings, lists, captions and footnotes."""

import re
from collections import Counter
from collections.abc import Sequence

from upwell.parse.outline import Outline
from upwell.parse.pdf.page import BBox, Page, Piece, union
from upwell.records import Kind, Record

BULLET = re.compile(r"^\s*[\u2022\u25cf\u25aa\u25e6\u2023\u2043\u2219\uf0b7\u00b7\u2013-]\s+")
NUMBERED = re.compile(r"^\s*(?:\(?\d{1,2}[.)]|\(?[a-z][.)])\s+\S")
CAPTION = re.compile(r"(?:figure|fig\.|table|listing|abbildung|tabelle|exhibit)\s*\d+\s*[:.\u2014-]", re.IGNORECASE)
SECTION_NUMBER = re.compile(r"^(\d{1,2}(?:\.\d{1,2})*)\.?\s+\S")
LARGER, SMALLER = 1.12, 0.92
LONGEST_HEADING = 150
GAP_SHARE = 0.75
INDENT_POINTS = 6.0


class Sizes(Record, frozen=True, kw_only=True):
    """The body's size, and the larger ones from the largest down."""

    body: float
    larger: tuple[float, ...]


class Paragraph(Record, frozen=True, kw_only=True):
    """Lines that belong together."""

    pieces: tuple[Piece, ...]
    page: int

    @property
    def text(self) -> str:
        return joined(self.pieces)

    @property
    def bbox(self) -> BBox:
        return union([piece.bbox for piece in self.pieces])


def measure_sizes(pieces: Sequence[Piece]) -> Sizes:
    """The size that most characters have is the body's; distinct larger ones may be headings'."""
    counts: Counter[float] = Counter()
    for piece in pieces:
        counts[round(piece.size * 2) / 2] += len(piece.text)
    body = counts.most_common(1)[0][0] if counts else 10.0
    larger: list[float] = []
    for size in sorted((s for s in counts if s > LARGER * body), reverse=True):
        if not larger or size < 0.93 * larger[-1]:
            larger.append(size)
    return Sizes(body=body, larger=tuple(larger))


def paragraphs(ordered: Sequence[Piece], page: int) -> list[Paragraph]:
    """Parts pieces in reading order where the gap, the size, the weight or an indent says so."""
    done: list[list[Piece]] = []
    for piece in ordered:
        if done and _continues(done[-1], piece):
            done[-1].append(piece)
        else:
            done.append([piece])
    return [Paragraph(pieces=tuple(pieces), page=page) for pieces in done]


def _continues(paragraph: list[Piece], piece: Piece) -> bool:
    last = paragraph[-1]
    overlap = min(last.bbox[3], piece.bbox[3]) - max(last.bbox[1], piece.bbox[1])
    if overlap > 0.5 * min(last.size, piece.size) and piece.bbox[0] >= last.bbox[2] - 1:
        return piece.bbox[0] - last.bbox[2] < 3 * piece.size  # the same line goes on
    if BULLET.match(piece.text) or NUMBERED.match(piece.text):
        return False
    gap = piece.bbox[1] - last.bbox[3]
    if gap > GAP_SHARE * piece.size or piece.bbox[1] < last.bbox[1]:
        return False
    if abs(piece.size - last.size) > 0.15 * max(piece.size, last.size) or piece.bold != last.bold:
        return overlap > 0 or (
            piece.bold != last.bold and abs(piece.size - last.size) < 1 and gap < 0.2 * piece.size and not _ends(last)
        )
    left = min(p.bbox[0] for p in paragraph)
    indented = piece.bbox[0] - left > INDENT_POINTS and _ends(last)
    return not indented or bool(BULLET.match(paragraph[0].text))


def _ends(piece: Piece) -> bool:
    return piece.text.rstrip().endswith((".", "!", "?", ":", "\u3002"))


def joined(pieces: Sequence[Piece]) -> str:
    """The words of lines, with words that were parted at line ends whole again."""
    text = ""
    for piece in pieces:
        words = " ".join(piece.text.split())
        if text.endswith("-") and len(text) > 1 and text[-2].isalpha() and words[:1].islower():
            text = text[:-1] + words
        else:
            text = f"{text} {words}" if text else words
    return text


def add_paragraph(paragraph: Paragraph, sizes: Sizes, on: Page, outline: Outline) -> None:
    """One block, of the kind that its size, place and first characters say."""
    text, page, bbox = paragraph.text, paragraph.page, paragraph.bbox
    links = on.links_in(bbox)
    size = max(piece.size for piece in paragraph.pieces)
    level = _heading_level(paragraph, text, size, sizes)
    if CAPTION.match(text):
        outline.add(Kind.CAPTION, text, page=page, bbox=bbox, links=links)
    elif level == 0:
        outline.title(text, page=page, bbox=bbox)
    elif level is not None:
        outline.heading(text, level, page=page, bbox=bbox)
    elif BULLET.match(text):
        outline.add(Kind.LIST_ITEM, BULLET.sub("", text, count=1), level=1, page=page, bbox=bbox, links=links)
    elif NUMBERED.match(text):
        outline.add(Kind.LIST_ITEM, text, level=1, page=page, bbox=bbox, links=links)
    elif size < SMALLER * sizes.body and bbox[1] > 0.7 * on.height:
        outline.add(Kind.FOOTNOTE, text, page=page, bbox=bbox, links=links)
    else:
        outline.add(Kind.PARAGRAPH, text, page=page, bbox=bbox, links=links)


def _heading_level(paragraph: Paragraph, text: str, size: float, sizes: Sizes) -> int | None:
    """0 the title, from 1 a heading, None neither."""
    if len(text) > LONGEST_HEADING or not any(c.isalpha() for c in text):
        return None
    number = SECTION_NUMBER.match(text)
    if size > LARGER * sizes.body:
        rank = sum(larger > size * 1.03 for larger in sizes.larger)
        if rank == 0 and paragraph.page == 1 and len(sizes.larger) > 1 and not number:
            return 0
        return number.group(1).count(".") + 1 if number else max(1, rank)
    all_bold = all(piece.bold for piece in paragraph.pieces)
    if all_bold and len(paragraph.pieces) <= 2 and not text.endswith((".", ",", ";")) and size >= SMALLER * sizes.body:
        return number.group(1).count(".") + 1 if number else max(1, len(sizes.larger) + (0 if sizes.larger else 1))
    return None
