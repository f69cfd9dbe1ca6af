"""Ranges of characters that a text falls into: lines, sentences, words, and signs of several characters."""

import re
from collections.abc import Iterator
from unicodedata import category, combining

Range = tuple[int, int]
CLOSERS = "\"'\u2019\u201d\\)\\]\u00bb\u300d\u300f\uff09"
ENDS = ".!?\u061f\u06d4\u0964\u0965\u0589\u1362\u104b\u17d4\u0f0d\u2026"
# Latin, Greek, Arabic, Urdu, Devanagari, Armenian, Ethiopic, Burmese, Khmer, Tibetan ends stand before white space; the
# wide ones of Chinese and Japanese need none. Nothing is tried twice: a text may be a million full stops.
SENTENCE_END = re.compile(
    rf"(?:(?<![{ENDS}])[{ENDS}]++[{CLOSERS}]*+(?=\s)|[\u3002\uff01\uff1f\uff0e\uff61]++[{CLOSERS}]*+)\s*"
)
LINE_END = re.compile(r"\n\s*")
WORD_END = re.compile(r"\s+|[\u3001\uff0c\uff1b\uff1a]")
SLICE_CHARACTERS = 64
MARKS = 16
JOINER = "\u200d"
JOINED = frozenset({"Mn", "Mc", "Me", "Cf"})
STACKING = 9  # the combining class of signs that put the next letter below or beside the one before
VOWELS_BEFORE = frozenset("\u0e40\u0e41\u0e42\u0e43\u0e44\u0ec0\u0ec1\u0ec2\u0ec3\u0ec4")  # Thai, Lao: written first
VOWELS_AFTER = frozenset("\u0e30\u0e32\u0e33\u0e45\u0eb0\u0eb2\u0eb3")


def lines_of(text: str) -> list[Range]:
    """Each line without its end, those without a word too."""
    found: list[Range] = []
    start = 0
    while start < len(text):
        stop = text.find("\n", start)
        stop = len(text) if stop < 0 else stop
        found.append((start, stop))
        start = stop + 1
    return found


def ranges(ends: re.Pattern[str], text: str, start: int, end: int) -> Iterator[Range]:
    """The ranges of [start, end) between the matches of `ends`, each without the white space around it."""
    at = start
    for found in ends.finditer(text, start, end):
        yield from _trimmed(text, at, found.end())
        at = found.end()
    yield from _trimmed(text, at, end)


def slices(text: str, start: int, end: int) -> Iterator[Range]:
    """Ranges of 64 characters; accents and joined signs stay with what they belong to, at most 16 of them."""
    while start < end:
        stop = min(end, start + SLICE_CHARACTERS)
        last = min(end, stop + MARKS)
        while stop < last and _is_joined(text[stop - 1], text[stop]):
            stop += 1
        yield start, stop
        start = stop


def _is_joined(before: str, after: str) -> bool:
    """Whether a reader takes two characters for parts of one sign."""
    return (
        category(after) in JOINED
        or after in VOWELS_AFTER
        or before == JOINER
        or before in VOWELS_BEFORE
        or combining(before) == STACKING
    )


def _trimmed(text: str, start: int, end: int) -> Iterator[Range]:
    while start < end and text[start].isspace():
        start += 1
    while end > start and text[end - 1].isspace():
        end -= 1
    if start < end:
        yield start, end
