"""How good a reading of a document is, measured against the raw text of its container. Pure functions."""

import re
from bisect import bisect_left
from collections.abc import Iterable, Sequence

from upwell.records import Block, Kind, Record

# Letters of scripts without spaces are words of their own: runs of them end wherever a tag or a line does.
WORD = re.compile("[\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff]|[^\\W_\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff]{2,}")
ASCII_WORD = re.compile("[a-z0-9]{2,}")  # of a text in small letters; the same words in half the time
# A UTF-8 letter read as Windows-1252 or Latin-1: a capital A or a with a sign, then one of the second bytes.
BROKEN = re.compile("[\ufffd\x00-\x08\x0e-\x1f\x80-\x9f]|[ÂÃ][\u0080-\u00bf€‚ƒ„…†‡ˆ‰Š‹Œ‘’“”•–—˜™š›œžŸ]|â€")
BROKEN_START = re.compile("[\ufffd\x00-\x08\x0e-\x1f\x80-\x9fÂÃâ]")  # found fast, and most texts have none
MOST_WORDS = 200_000
CLEAN_COVERAGE, CLEAN_ORDER, CLEAN_BROKEN = 0.95, 0.85, 0.001
WEIGHTS = {"coverage": 0.45, "order": 0.2, "letters": 0.15, "tables": 0.1, "headings": 0.1}
MARGIN = 0.05
MOST_BROKEN = 0.05


class Signals(Record, frozen=True, kw_only=True):
    """Shares from 0 to 1, but for the counts.

    `coverage` of the raw text's words that were read; `order`: how far they stand in the order of the raw text;
    `broken` of the letters (mojibake, control characters), beyond as many as the raw text has, which no parser mends;
    `tables`: how full and how headed their grids are. `headings` counts them, but none where most blocks are called so:
    then the name says nothing.
    """

    coverage: float
    order: float
    broken: float
    tables: float
    headings: int
    table_count: int

    @property
    def clean(self) -> bool:
        """Whether nothing makes one doubt this reading."""
        return self.coverage >= CLEAN_COVERAGE and self.order >= CLEAN_ORDER and self.broken <= CLEAN_BROKEN

    def doubts(self) -> str:
        """What is doubtful, in words; "" when it is clean."""
        found = [
            f"text coverage {self.coverage:.0%}" if self.coverage < CLEAN_COVERAGE else "",
            f"reading order {self.order:.2f}" if self.order < CLEAN_ORDER else "",
            f"{self.broken:.1%} broken letters" if self.broken > CLEAN_BROKEN else "",
        ]
        return ", ".join(filter(None, found))


def is_broken(raw: str) -> bool:
    """Whether so many letters of a text are none that no parser could make sense of it."""
    return broken_letters(raw) > MOST_BROKEN * len(raw)


def broken_letters(text: str) -> int:
    """How many letters of a text are mojibake, replacement marks or control characters."""
    first = BROKEN_START.search(text)
    return len(BROKEN.findall(text, first.start())) if first else 0


def signals(blocks: Sequence[Block], raw: str, *, ordered: bool = True) -> Signals:
    """The signals of a reading; `raw` is all text of the container, `ordered` as people read it."""
    text = "\n".join(block.text for block in blocks)
    wanted, got = words_of(raw), words_of(text)
    tables = [block.table for block in blocks if block.table is not None]
    fullness = [
        0.7 * min(1.0, sum(c.row_span * c.col_span for c in t.cells if c.text) / max(1, t.rows * t.cols))
        + 0.3 * any(c.header for c in t.cells)
        for t in tables
    ]
    broken = broken_letters(text)
    headings = sum(block.kind in {Kind.TITLE, Kind.HEADING} for block in blocks)
    return Signals(
        coverage=coverage(wanted, got),
        order=order_agreement(wanted, got) if ordered else 1.0,
        broken=max(0, broken - broken_letters(raw)) / len(text) if broken else 0.0,
        tables=sum(fullness) / len(fullness) if fullness else 1.0,
        headings=headings if headings * 2 <= len(blocks) or headings < 3 else 0,
        table_count=len(tables),
    )


def words_of(text: str) -> list[str]:
    """The words of a text in small letters, in order, at most as many as are compared."""
    text = text[: MOST_WORDS * 10]
    if text.isascii():
        return ASCII_WORD.findall(text.lower())[:MOST_WORDS]
    return [word.lower() for word in WORD.findall(text)[:MOST_WORDS]]


def coverage(wanted: Iterable[str], got: Iterable[str]) -> float:
    """The share of the distinct words of `wanted` that are in `got`; 1.0 when nothing is wanted."""
    words = set(wanted)
    return len(words & set(got)) / len(words) if words else 1.0


def order_agreement(wanted: Sequence[str], got: Sequence[str]) -> float:
    """The longest run of words in the same order, as a share of those that stand once in both; 1.0 for under ten.

    Words that stand once say where they belong; the longest increasing subsequence takes n log n.
    """
    places = _once(wanted)
    at = [places[word] for word in _once(got) if word in places]
    if len(at) < 10:
        return 1.0
    tails: list[int] = []
    for place in at:
        where = bisect_left(tails, place)
        tails[where : where + 1] = [place]
    return len(tails) / len(at)


def _once(words: Sequence[str]) -> dict[str, int]:
    """The words that stand once, with their places, in their order."""
    seen: set[str] = set()
    twice: set[str] = set()
    for word in words:
        (twice if word in seen else seen).add(word)
    return {word: at for at, word in enumerate(words) if word not in twice}


def scores(readings: Sequence[Signals]) -> list[float]:
    """A score for each reading of one document, 0 to 1; counts of headings and tables are judged against the most."""
    headings = max((s.headings for s in readings), default=0) or 1
    tables = max((s.table_count for s in readings), default=0) or 1
    any_tables = any(s.table_count for s in readings)
    return [
        WEIGHTS["coverage"] * s.coverage
        + WEIGHTS["order"] * s.order
        + WEIGHTS["letters"] * max(0.0, 1 - 50 * s.broken)
        + WEIGHTS["tables"] * s.tables * (s.table_count / tables if any_tables else 1.0)
        + WEIGHTS["headings"] * min(1.0, s.headings / headings)
        for s in readings
    ]


def best(readings: Sequence[Signals]) -> int:
    """Which reading to keep: the first, unless another is better by more than MARGIN."""
    rated = scores(readings)
    leader = max(range(len(rated)), key=rated.__getitem__)
    return leader if rated[leader] > rated[0] + MARGIN else 0
