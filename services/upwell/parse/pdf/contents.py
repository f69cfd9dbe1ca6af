"""Lines of a table of contents: words, leaders, and the number of a page at the line's end."""

import re
from collections.abc import Sequence

from msgspec.structs import replace

from upwell.parse.pdf.order import rows_of
from upwell.parse.pdf.page import Piece, union
from upwell.parse.pdf.paragraphs import LEADERS

LEADS = re.compile(r"(?<!\.)(?<!\.\s)(?:\.\s?){4,}+$")
ONLY_LEADS = re.compile(r"(?:\.\s?){4,}")
NUMBER = re.compile(r"\d{1,4}")


def is_entry(text: str) -> bool:
    """Whether a text ends with leaders and a number."""
    return LEADERS.search(text) is not None


def with_page_numbers(pieces: Sequence[Piece]) -> list[Piece]:
    """The pieces, those put together that leaders join: however far, a number stands at their end."""
    if not any(LEADS.search(piece.text) for piece in pieces):
        return list(pieces)
    joined: list[Piece] = []
    for row in rows_of(pieces):
        done: list[Piece] = []
        for piece in row:
            if done and _leads(done[-1], piece):
                done[-1] = _one(done[-1], piece)
            else:
                done.append(piece)
        joined.extend(done)
    return joined


def _leads(last: Piece, piece: Piece) -> bool:
    if not last.upright or not piece.upright:
        return False
    if LEADS.search(last.text):
        return NUMBER.fullmatch(piece.text.strip()) is not None
    return ONLY_LEADS.fullmatch(piece.text.strip()) is not None


def _one(last: Piece, piece: Piece) -> Piece:
    return replace(
        last,
        text=f"{last.text} {piece.text}",
        bbox=union([last.bbox, piece.bbox]),
        unknown=last.unknown + piece.unknown,
        words=(*last.words, *piece.words),
    )
