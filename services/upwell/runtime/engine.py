"""The embedded runtime's threads: each event from the log through control and the stages to its end.

One thread makes effective, in the registry alone, what takes something away from readers (`runtime.binding`). Control
threads apply permissions, deletes and erasures, and the permission and the old id's tombstone of every upsert, before
any content waits for a parse. Worker threads then take content. Either way a document's events keep their order.
What the engine holds in memory is only tickets; the log is the truth, so a crash anywhere is a restart.
"""

import threading
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Protocol

import sqlalchemy as sa

from upwell import logs
from upwell.errors import Misconfigured, Reason, Rejected, Retryable
from upwell.ports import ChildFault, Fate
from upwell.records import ChangeEvent, Outcome, Record
from upwell.runtime.backlog import Backlog, Ticket
from upwell.runtime.binding import Binding
from upwell.runtime.eventlog import EventLog

FIRST_PAUSE_S = 0.1
UNEXPECTED_TRIES = 3
"""An error that nobody foresaw is tried again this often before the event is dead-lettered."""
LIVE_WORKERS = 2
"""Workers that take no backfill, so that an edit never waits until a long document has ended."""
CONTROL_WORKERS = 8
"""Their writes share the store's flushes: a permission over a large folder is applied in a fraction of the time."""


class Work(Record, frozen=True, kw_only=True):
    """What an event's way through the stages came to; `faults` are parts of its document that will not parse."""

    fate: Fate
    kept: int = 0
    reused: int = 0
    embedded: int = 0
    removed: int = 0
    tokens_embedded: int = 0
    faults: tuple[ChildFault, ...] = ()


Stage = Callable[[ChangeEvent, Ticket], Work | None]


class Stages(Protocol):
    """What the engine drives. Each may be called again for the same event, from several threads."""

    def warm(self) -> None:
        """Work is coming: make ready, in the background, what it will need."""
        ...

    def bind(self, events: Sequence[ChangeEvent]) -> Sequence[bool]:
        """Make effective what must not wait, in the registry alone and all together. True for each that has changed
        anything."""
        ...

    def control(self, event: ChangeEvent, *, bound: bool = False) -> Work | None:
        """Apply at once what must not wait, or (`bound`) the rest of it after `bind` has changed something.

        None if the event's content has still to go through the stages.
        """
        ...

    def process(self, event: ChangeEvent) -> Work:
        """Take the content through parse, chunk, prefix, embed and publish."""
        ...

    def reject(self, event: ChangeEvent, fate: Fate) -> None:
        """Note in the lake that the event ended as a dead letter."""
        ...


class Watcher(Protocol):
    """Somebody who waits for events to end. Called under the engine's lock, so it must be quick and never raise."""

    def expect(self, tickets: Iterable[Ticket]) -> None:
        """Events have been accepted, and none of them has ended yet."""
        ...

    def ended(self, ticket: Ticket, event: ChangeEvent, work: Work) -> None:
        """An event has ended for good, and the log has it."""
        ...

    def trouble(self, ticket: Ticket, error: Retryable) -> None:
        """An event has failed for now and will be tried again."""
        ...


class Engine:
    """Runs the stages over the log. Thread-safe; `close` stops after what is in hand."""

    def __init__(self, log: EventLog, stages: Stages, *, workers: int, pause_limit_s: float) -> None:
        self._log = log
        self._stages = stages
        self._pause_limit_s = pause_limit_s
        self._backlog = Backlog()
        self._control = Backlog()
        self._open: dict[int, Ticket] = {}
        self._watchers: list[Watcher] = []
        self._lock = threading.Lock()
        self._binding = Binding(event=log.event, bind=stages.bind, pass_on=self._control.put)
        control = [(self._control, _control(stages), False)] * CONTROL_WORKERS
        content = [(self._backlog, _content(stages), n >= workers) for n in range(workers + LIVE_WORKERS)]
        self._threads = [
            self._binding.thread,
            *(threading.Thread(target=self._run, args=how, name="stage", daemon=True) for how in (*control, *content)),
        ]
        self._started = False
        self._stopped = False

    def start(self) -> None:
        """Go on with every event that has not ended, and take new ones."""
        if self._started:
            return
        self._started = True
        self._admit(self._log.unended())
        for thread in self._threads:
            thread.start()

    def submit(
        self,
        events: Sequence[ChangeEvent],
        also: Callable[[sa.Connection], None] | None = None,
    ) -> list[Ticket]:
        """Accept events durably (with what `also` writes, in one transaction) and start on them."""
        self.start()
        with self._lock:
            tickets = self._log.append(events, also)
            self._note(tickets)
        if tickets:
            self._stages.warm()
        self._binding.put(tickets)
        return tickets

    def replay(self, dead_ids: Sequence[int]) -> int:
        """Accept dead letters again; returns how many."""
        self.start()
        with self._lock:
            tickets = self._log.replay(dead_ids)
            self._note(tickets)
        self._binding.put(tickets)
        return len(tickets)

    def apply_control(self) -> None:
        """In an owner that runs no engine: apply what the last one left of permissions, deletes and erasures."""
        if self._started:
            return
        for ticket in self._log.unended():
            event = self._log.event(ticket.seq)
            work = None if event is None else self._stages.control(event)
            if event is not None and work is not None:
                self._log.finish(event, work.fate)

    def in_hand(self) -> Counter[tuple[str, str]]:
        """How many events of each (tenant, source) the watchers have not yet been told the end of."""
        with self._lock:
            return Counter((ticket.tenant, ticket.source) for ticket in self._open.values())

    def open_events(self) -> int:
        """How many events have been accepted and have not ended."""
        with self._lock:
            return len(self._open)

    def watch(self, watcher: Watcher) -> None:
        """Tell `watcher` of every event that is open now or comes later, until `unwatch`."""
        with self._lock:
            self._watchers.append(watcher)
            watcher.expect(self._open.values())

    def unwatch(self, watcher: Watcher) -> None:
        with self._lock:
            self._watchers.remove(watcher)

    @contextmanager
    def watching(self, watcher: Watcher) -> Iterator[None]:
        """`watch` for the length of a block."""
        self.watch(watcher)
        try:
            yield
        finally:
            self.unwatch(watcher)

    def stop(self) -> None:
        """Start on nothing more. What is in hand goes on, or stays in the log if it is cut short from now on."""
        self._stopped = True
        self._binding.close()
        self._control.close()
        self._backlog.close()

    def ended(self, within_s: float) -> bool:
        """True once nothing is in hand any more; waits up to `within_s` for it."""
        deadline = time.monotonic() + within_s
        for thread in self._threads if self._started else ():
            thread.join(max(0.0, deadline - time.monotonic()))
        return not any(thread.is_alive() for thread in self._threads)

    def close(self) -> None:
        """Finish what is in hand and stop; what waits stays in the log."""
        self.stop()
        for thread in self._threads if self._started else ():
            thread.join()

    def _admit(self, tickets: list[Ticket]) -> None:
        with self._lock:
            self._note(tickets)
        self._binding.put(tickets)

    def _note(self, tickets: list[Ticket]) -> None:
        self._open.update((ticket.seq, ticket) for ticket in tickets)
        for watcher in self._watchers:
            watcher.expect(tickets)

    def _run(self, backlog: Backlog, stage: Stage, live_only: bool) -> None:
        while (ticket := backlog.take(live_only=live_only)) is not None:
            if self._attempt(ticket, stage, backlog):
                backlog.done(ticket)

    def _attempt(self, ticket: Ticket, stage: Stage, backlog: Backlog) -> bool:
        """The guard around every stage: an event ends or goes on (True), or is tried again (False); nothing escapes."""
        try:
            self._advance(ticket, stage)
        except Exception as e:  # noqa: BLE001 whatever it is, the event stays and is tried again
            if self._stopped:
                return False
            if not isinstance(e, Retryable):
                logs.unexpected("engine_failed", e, seq=ticket.seq)
            error = e if isinstance(e, Retryable) else Retryable(f"unexpected {type(e).__name__}")
            pause_s = min(self._pause_limit_s, FIRST_PAUSE_S * 2 ** min(ticket.attempts, 16))
            logs.warn("try_again", seq=ticket.seq, attempts=ticket.attempts + 1, pause_s=pause_s, why=str(error))
            self._tell_trouble(ticket, error)
            backlog.again(ticket, pause_s)
            return False
        return True

    def _advance(self, ticket: Ticket, stage: Stage) -> None:
        event = self._log.event(ticket.seq)
        if event is None:
            self._forget(ticket)
            return
        work = self._guarded(ticket, event, stage)
        if work is None:
            self._backlog.put([ticket])
            return
        self._log.finish(event, work.fate, work.faults)
        self._end(ticket, event, work)

    def _guarded(self, ticket: Ticket, event: ChangeEvent, stage: Stage) -> Work | None:
        """The stage's work; what it refuses is a dead letter. Raises only Retryable."""
        try:
            return stage(event, ticket)
        except Retryable:
            raise
        except Misconfigured as e:  # weights that are gone, a damaged registry: no fault of the document's
            raise Retryable(str(e)) from e
        except Rejected as e:
            fate = Fate(
                outcome=Outcome.DEAD, reason=e.reason, detail=e.detail, stage="parse", attempts=ticket.attempts + 1
            )
        except Exception as e:
            logs.unexpected("stage_failed", e, seq=ticket.seq)
            if ticket.attempts + 1 < UNEXPECTED_TRIES:
                raise Retryable(f"unexpected {type(e).__name__}") from e
            fate = Fate(
                outcome=Outcome.DEAD,
                reason=Reason.ATTEMPTS_EXHAUSTED,
                detail=f"unexpected {type(e).__name__} in {ticket.attempts + 1} tries",
                stage="process",
                attempts=ticket.attempts + 1,
            )
        self._stages.reject(event, fate)
        return Work(fate=fate)

    def _end(self, ticket: Ticket, event: ChangeEvent, work: Work) -> None:
        with self._lock:
            self._open.pop(ticket.seq, None)
            for watcher in self._watchers:
                watcher.ended(ticket, event, work)

    def _forget(self, ticket: Ticket) -> None:
        with self._lock:
            self._open.pop(ticket.seq, None)

    def _tell_trouble(self, ticket: Ticket, error: Retryable) -> None:
        with self._lock:
            for watcher in self._watchers:
                watcher.trouble(ticket, error)


def _control(stages: Stages) -> Stage:
    return lambda event, ticket: stages.control(event, bound=ticket.bound)


def _content(stages: Stages) -> Stage:
    return lambda event, _ticket: stages.process(event)
