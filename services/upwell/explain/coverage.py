"""Where every character of a document went: into a chunk, left out with a reason, or nowhere (a defect)."""

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

from upwell.records import Record

IN_CHUNKS = ""


class Coverage(Record, frozen=True, kw_only=True):
    """Characters of a document's blocks; `dropped` by reason, the most first; `at_cuts` is white space where a block
    was cut into chunks. Law L7: `unaccounted` is 0.
    """

    characters: int
    in_chunks: int
    dropped: dict[str, int]
    at_cuts: int
    unaccounted: int

    @property
    def left_out(self) -> int:
        """Characters that are dropped, whatever the reason."""
        return sum(self.dropped.values())

    @property
    def line(self) -> str:
        """`2,918 characters = 2,818 in chunks + 98 left out + 2 white space at cuts + 0 unaccounted`."""
        cuts = f"{self.at_cuts:,} white space at cuts + " if self.at_cuts else ""
        return (
            f"{self.characters:,} characters = {self.in_chunks:,} in chunks + {self.left_out:,} left out + {cuts}"
            f"{self.unaccounted:,} unaccounted"
        )


def coverage(answer: Mapping[str, Any]) -> Coverage:
    """Count one document of `upwell explain`, its children apart. What a chunk holds and a drop too is the chunk's."""
    texts = [block.get("text") or "" for block in answer.get("blocks") or ()]
    lengths = list(map(len, texts))
    held: list[dict[str, list[tuple[int, int]]]] = [{} for _ in lengths]
    for chunk in answer.get("chunks") or ():
        _collect(held, lengths, chunk.get("spans") or (), IN_CHUNKS)
    for drop in answer.get("dropped") or ():
        _collect(held, lengths, drop.get("spans") or (), str(drop["reason"]))
    counts: Counter[str] = Counter()
    at_cuts = 0
    for text, spans in zip(texts, held, strict=True):
        counts.update(dict(_counted(spans)))
        at_cuts += _white_space(text, _union([span for found in spans.values() for span in found]))
    in_chunks = counts.pop(IN_CHUNKS, 0)
    total = sum(lengths)
    return Coverage(
        characters=total,
        in_chunks=in_chunks,
        dropped=dict(counts.most_common()),
        at_cuts=at_cuts,
        unaccounted=total - in_chunks - counts.total() - at_cuts,
    )


def _collect(
    held: list[dict[str, list[tuple[int, int]]]], lengths: list[int], found: Iterable[Mapping[str, int]], reason: str
) -> None:
    for span in found:
        block = span["block"]
        if block < len(lengths):
            held[block].setdefault(reason, []).append((span["start"], min(span["end"], lengths[block])))


def _counted(spans: dict[str, list[tuple[int, int]]]) -> Iterable[tuple[str, int]]:
    """Characters of one block by reason, each counted once: chunks were collected first, so they come first."""
    taken: list[tuple[int, int]] = []
    for reason, found in spans.items():
        before = sum(end - start for start, end in taken)
        taken = _union([*taken, *found])
        yield reason, sum(end - start for start, end in taken) - before


def _white_space(text: str, held: list[tuple[int, int]]) -> int:
    """White space between the spans, where there are any: a block that nothing holds is not cut but lost."""
    gaps = zip([0, *(end for _, end in held)], [*(start for start, _ in held), len(text)], strict=True) if held else ()
    return sum(len(gap) - len("".join(gap.split())) for gap in (text[start:end] for start, end in gaps))


def _union(spans: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """Disjoint, in order."""
    union: list[tuple[int, int]] = []
    for start, end in sorted(spans):
        if union and start <= union[-1][1]:
            union[-1] = union[-1][0], max(union[-1][1], end)
        elif end > start:
            union.append((start, end))
    return union
