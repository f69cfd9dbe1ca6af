"""The pieces that are never cut further, and how good a cut before each of them is."""

from enum import IntEnum

from upwell.records import Record


class Border(IntEnum):
    """How good a cut before a piece is. BOUND is cut only when nothing else brings a chunk under the limit."""

    BOUND = 0
    CHARACTER = 1
    WORD = 2
    SENTENCE = 3
    ROW = 4
    ITEM = 5
    BLOCK = 6


class Piece(Record, frozen=True, kw_only=True):
    """Characters [start, end) of a block. `lead` is what a chunk that begins with this piece repeats before it.

    A chunk always begins with a piece that is `apart`: the lead of none before it says what it is.
    """

    block: int
    start: int
    end: int
    tokens: int
    weight: int
    border: Border
    lead: str = ""
    lead_tokens: int = 0
    apart: bool = False
