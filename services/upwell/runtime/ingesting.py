"""Reading a folder once, until it rests: the same for both runtimes, which differ in how they wait."""

import time
from collections.abc import Callable
from typing import Protocol

from msgspec.structs import replace

from upwell.answers import ChunkCounts, DocumentCounts, IngestAnswer
from upwell.clock import Clock
from upwell.records import Lane
from upwell.runtime.scanning import Looked, Scanning

MAX_ROUNDS = 20
"""A folder that never rests is left to the next ingest after so many looks."""


class Counted(Protocol):
    """What the events of a look came to."""

    @property
    def dead(self) -> int: ...

    @property
    def chunks(self) -> ChunkCounts: ...

    @property
    def tokens_embedded(self) -> int: ...


def look_until_rested(scanning: Scanning, wait: Callable[[], object], clock: Clock) -> list[Looked]:
    """Look, `wait` for what was found to end, and look again while something had yet to rest; at least once."""
    looked = [scanning.look(Lane.BACKFILL)]
    wait()
    while looked[-1].recheck_at is not None and len(looked) < MAX_ROUNDS:
        time.sleep(max(0.0, (looked[-1].recheck_at - clock()) / 1e6))
        looked.append(scanning.look(Lane.BACKFILL))
        wait()
    return looked


def ingested(looked: list[Looked], counted: Counted, seconds: float) -> IngestAnswer:
    """Counts of all looks together; what was seen and is dead as the last one found it."""
    total = {
        name: sum(getattr(one.counts, name) for one in looked)
        for name in ("new", "changed", "renamed", "acl_changed", "deleted")
    }
    last = looked[-1].counts
    counts = DocumentCounts(seen=last.seen, unchanged=looked[0].counts.unchanged, dead=last.dead, **total)
    return first_answer(replace(looked[-1], counts=counts), counted, seconds)


def first_answer(looked: Looked, counted: Counted, seconds: float) -> IngestAnswer:
    """What one look came to, in the shape of an ingest's answer."""
    return IngestAnswer(
        documents=replace(looked.counts, dead=looked.counts.dead + counted.dead),
        chunks=counted.chunks,
        tokens_embedded=counted.tokens_embedded,
        seconds=round(seconds, 3),
        warnings=looked.notices,
    )
