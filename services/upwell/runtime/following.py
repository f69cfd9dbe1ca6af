"""Following a folder: the first look, then a look at whatever changes, and a full one every so often."""

import threading
import time
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

from upwell import logs
from upwell.answers import Progress
from upwell.clock import Clock
from upwell.errors import Retryable
from upwell.messages import Ended
from upwell.records import ChangeEvent, Lane, Op, Outcome
from upwell.runtime.backlog import Ticket
from upwell.runtime.engine import Work
from upwell.runtime.scanning import Looked, Scanning
from upwell.runtime.tally import Tally
from upwell.sources.folder.watch import FolderWatch

if TYPE_CHECKING:
    from upwell.runtime.parts import Parts

PAUSE_S = 1.0
"""How long to wait before looking again when a look itself failed (a full disk)."""

SWEEP_S = 3600.0
Say = Callable[[str], None]


class Leisure:
    """Asked after each piece of work: rests four times as long as that took. False once `stop` is set."""

    def __init__(self, stop: threading.Event) -> None:
        self._stop = stop
        self._began = time.monotonic()

    def __call__(self) -> bool:
        stopped = self._stop.wait(4 * (time.monotonic() - self._began))
        self._began = time.monotonic()
        return not stopped


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
        tally, announcer = Tally(patience_tries=None), Announcer(on_change, self._parts.clock)
        source, engine = self._scanning.source, self._parts.engine
        engine.watch(tally)
        engine.watch(announcer)
        try:
            with FolderWatch(source.root, stop, excluded=source.excluded, rescan_s=self._rescan_s) as watch:
                first = self._scanning.look(Lane.BACKFILL, also=watch.notices)
                self._parts.followed.add(self._place)

                def ready() -> None:
                    if tally.wait(progress, stop):
                        on_ready(first, tally, time.monotonic() - started)
                    engine.unwatch(tally)
                    self._sweep(stop)

                waiting = threading.Thread(target=ready, name="first-pass")
                waiting.start()
                clock = self._parts.clock
                follow_changes(watch, self._scanning, stop, first.recheck_at, say=on_change, clock=clock)
                waiting.join()
        finally:
            self._parts.followed.discard(self._place)
            engine.unwatch(announcer)

    def _sweep(self, stop: threading.Event) -> None:
        """Converge the whole lake now and every hour, at a fifth of a core; read again what has lost a point."""
        while not stop.is_set():
            try:
                self._scanning.mend(self._parts.publisher(), Leisure(stop))
            except Retryable as e:
                logs.warn("sweep_failed", why=str(e))
            stop.wait(SWEEP_S)


def follow_changes(
    watch: FolderWatch, scanning: Scanning, stop: threading.Event, recheck_at: int | None, *, say: Say, clock: Clock
) -> None:
    """Look at whatever `watch` notices until `stop` is set; a look that failed is made again, with what it missed."""
    missed: frozenset[str] = frozenset()
    while (evidence := watch.wait(recheck_at)) is not None:
        try:
            looked = scanning.look(Lane.LIVE, evidence | missed, watch.notices)
            recheck_at = looked.recheck_at
            missed = frozenset()
            if looked.alarm is not None:
                say(looked.alarm)
        except Retryable as e:
            say(f"{e}; looking again")
            missed |= evidence
            recheck_at = clock()
            stop.wait(PAUSE_S)


def line_of(event: ChangeEvent, work: Work | Ended, seconds: float) -> str:
    """`guide/a.md: searchable in 0.31 s (kept 12, embedded 1, removed 1)`."""
    if work.fate.outcome is Outcome.DEAD:
        return f"{event.doc_id}: not indexed: {work.fate.reason} ({work.fate.detail})"
    done = {Op.UPSERT: "searchable", Op.DELETE: "gone", Op.ERASE: "erased", Op.ACL: "permissions in force"}[event.op]
    named = {"kept": work.kept, "reused": work.reused, "embedded": work.embedded, "removed": work.removed}
    counts = ", ".join(f"{name} {count}" for name, count in named.items() if count)
    moved = f" (was {event.previous_doc_id})" if event.previous_doc_id else ""
    return f"{event.doc_id}{moved}: {done} in {seconds:.2f} s" + (f" ({counts})" if counts else "")
