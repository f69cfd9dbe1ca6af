"""Following a folder: the first look, then a look at whatever changes, and a full one every so often."""

import queue
import threading
import time
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

from msgspec.structs import replace

from upwell.answers import IngestAnswer, Progress
from upwell.errors import Retryable
from upwell.records import ChangeEvent, Lane, Op, Outcome
from upwell.runtime.backlog import Ticket
from upwell.runtime.engine import Work
from upwell.runtime.scanning import Looked, Scanning
from upwell.runtime.tally import Tally
from upwell.sources.folder.watch import watch_folder

if TYPE_CHECKING:
    from upwell.runtime.parts import Parts

PAUSE_S = 1.0
"""How long to wait before looking again when a look itself failed (a full disk)."""

Say = Callable[[str], None]


class Announcer:
    """Tells of each live event's end, in a line for a person."""

    def __init__(self, say: Say, clock: Callable[[], int]) -> None:
        self._say = say
        self._clock = clock

    def expect(self, tickets: Iterable[Ticket]) -> None: ...

    def ended(self, ticket: Ticket, event: ChangeEvent, work: Work) -> None:
        if ticket.lane is Lane.LIVE and work.fate.outcome is not Outcome.SUPERSEDED:
            self._say(line_of(event, work, (self._clock() - event.received_at) / 1e6))

    def trouble(self, ticket: Ticket, error: Retryable) -> None:
        if ticket.attempts == 0:
            self._say(f"{error}; trying again")


class Following:
    """One folder followed by this process, from its first look until it is told to stop."""

    def __init__(self, parts: "Parts", scanning: Scanning, rescan_s: float) -> None:
        self._parts = parts
        self._scanning = scanning
        self._rescan_s = rescan_s
        self._changed: queue.Queue[frozenset[str]] = queue.Queue()
        self._place = scanning.source.tenant, scanning.source.source

    def run(
        self,
        stop: threading.Event,
        progress: Callable[[Progress], None] | None,
        on_ready: Callable[[Looked, Tally, float], None],
        on_change: Say,
    ) -> None:
        """Returns when `stop` is set. Raises only what the first look raises."""
        started = time.monotonic()
        tally, announcer = Tally(), Announcer(on_change, self._parts.clock)
        watching = threading.Thread(target=self._watch, args=(stop, on_change), name="watch", daemon=True)
        self._parts.engine.watch(tally)
        self._parts.engine.watch(announcer)
        watching.start()
        try:
            first = self._scanning.look(Lane.BACKFILL)
            self._parts.followed.add(self._place)

            def ready() -> None:
                if tally.wait(progress, stop):
                    on_ready(first, tally, time.monotonic() - started)
                self._parts.engine.unwatch(tally)

            waiting = threading.Thread(target=ready, name="first-pass")
            waiting.start()
            self._follow(stop, first.recheck_at, on_change)
            waiting.join()
        finally:
            stop.set()
            self._parts.followed.discard(self._place)
            self._parts.engine.unwatch(announcer)
            watching.join()

    def _watch(self, stop: threading.Event, say: Say) -> None:
        for evidence in watch_folder(self._scanning.source, stop, say):
            self._changed.put(evidence)

    def _follow(self, stop: threading.Event, recheck_at: int | None, say: Say) -> None:
        full_at = time.monotonic() + self._rescan_s
        while not stop.is_set():
            due_s = full_at - time.monotonic()
            if recheck_at is not None:
                due_s = min(due_s, (recheck_at - self._parts.clock()) / 1e6)
            evidence = self._gathered(stop, due_s)
            if stop.is_set():
                return
            if time.monotonic() >= full_at:
                full_at = time.monotonic() + self._rescan_s
            try:
                recheck_at = self._scanning.look(Lane.LIVE, evidence).recheck_at
            except Retryable as e:
                say(f"{e}; looking again")
                self._changed.put(evidence)
                stop.wait(PAUSE_S)

    def _gathered(self, stop: threading.Event, due_s: float) -> frozenset[str]:
        """Everything that changed by now, after waiting for a first change, the time or the stop."""
        deadline = time.monotonic() + max(0.0, due_s)
        found: frozenset[str] = frozenset()
        while not stop.is_set():
            left = deadline - time.monotonic()
            try:
                found |= self._changed.get(timeout=max(0.0, min(0.2, left))) if left > 0 else self._changed.get_nowait()
            except queue.Empty:
                if found or left <= 0:
                    return found
                continue
            deadline = time.monotonic()
        return found


def first_answer(looked: Looked, tally: Tally, seconds: float) -> IngestAnswer:
    """What the first look of `run` came to, in the shape of an ingest's answer."""
    return IngestAnswer(
        documents=replace(looked.counts, dead=looked.counts.dead + tally.dead),
        chunks=tally.chunks,
        tokens_embedded=tally.tokens_embedded,
        seconds=round(seconds, 3),
        warnings=looked.notices,
    )


def line_of(event: ChangeEvent, work: Work, seconds: float) -> str:
    """`guide/a.md: searchable in 0.31 s (kept 12, embedded 1, removed 1)`."""
    if work.fate.outcome is Outcome.DEAD:
        return f"{event.doc_id}: not indexed: {work.fate.reason} ({work.fate.detail})"
    done = {Op.UPSERT: "searchable", Op.DELETE: "gone", Op.ERASE: "erased", Op.ACL: "permissions in force"}[event.op]
    named = {"kept": work.kept, "reused": work.reused, "embedded": work.embedded, "removed": work.removed}
    counts = ", ".join(f"{name} {count}" for name, count in named.items() if count)
    moved = f" (was {event.previous_doc_id})" if event.previous_doc_id else ""
    return f"{event.doc_id}{moved}: {done} in {seconds:.2f} s" + (f" ({counts})" if counts else "")
