"""Where every character of a document went: into a chunk, left out with a reason, or nowhere (a defect)."""

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

from upwell.records import Record

IN_CHUNKS = ""


class Coverage(Record, frozen=True, kw_only=True):
    """Characters of a document's blocks; `dropped` by reason, the most first. Law L7: `unaccounted` is 0."""

    characters: int
    in_chunks: int
    dropped: dict[str, int]
    unaccounted: int


def coverage(answer: Mapping[str, Any]) -> Coverage:
    """Count one document of `upwell explain`, its children apart. What a chunk holds and a drop too is the chunk's."""
    lengths = [len(block.get("text") or "") for block in answer.get("blocks") or ()]
    held: list[dict[str, list[tuple[int, int]]]] = [{} for _ in lengths]
    for chunk in answer.get("chunks") or ():
        _collect(held, lengths, chunk.get("spans") or (), IN_CHUNKS)
    for drop in answer.get("dropped") or ():
        _collect(held, lengths, drop.get("spans") or (), str(drop["reason"]))
    counts: Counter[str] = Counter()
    for spans in held:
        counts.update(dict(_counted(spans)))
    in_chunks = counts.pop(IN_CHUNKS, 0)
    total = sum(lengths)
    return Coverage(
        characters=total,
        in_chunks=in_chunks,
        dropped=dict(counts.most_common()),
        unaccounted=total - in_chunks - counts.total(),
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


def _union(spans: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """Disjoint, in order."""
    union: list[tuple[int, int]] = []
    for start, end in sorted(spans):
        if union and start <= union[-1][1]:
            union[-1] = union[-1][0], max(union[-1][1], end)
        elif end > start:
            union.append((start, end))
    return union
