"""The embedded engine as a gateway's sink: accepted is in the log, ended is what the engine says of it."""

import threading
from collections.abc import Iterable, Sequence

import sqlalchemy as sa
from msgspec.structs import replace

from upwell.errors import Overloaded, Retryable
from upwell.ports import Fate
from upwell.records import ChangeEvent, Lane, Op, Outcome
from upwell.runtime.backlog import Ticket
from upwell.runtime.engine import Engine, Work
from upwell.runtime.eventlog import EventLog
from upwell.runtime.eventlog_tables import DEAD, EVENTS

RETRY_AFTER_S = 5.0


class EngineSink:
    """`ports.EventSink` over the engine and its log. Of more than `max_pending` unended events it takes no more."""

    def __init__(self, engine: Engine, log: EventLog, max_pending: int) -> None:
        self._engine = engine
        self._log = log
        self._max_pending = max_pending

    def accept(self, events: Sequence[ChangeEvent]) -> None:
        if self._engine.open_events() + len(events) > self._max_pending:
            raise Overloaded("too many events wait in the log", RETRY_AFTER_S)
        # An erasure from the network has nobody who rewrites files for many at once: each sees to its own.
        self._engine.submit([replace(e, lane=Lane.LIVE) if e.op is Op.ERASE else e for e in events])

    def fates(self, events: Sequence[ChangeEvent], timeout_s: float) -> dict[str, Fate]:
        wanted = {event.event_id for event in events}
        waiting = _Waiting(wanted)
        with self._engine.watching(waiting):
            waiting.learn(self._ended(wanted))  # after the watch began, so that no end falls between the two
            return waiting.wait(timeout_s)

    def _ended(self, wanted: set[str]) -> dict[str, Fate]:
        found = sa.select(EVENTS.c.event_id, EVENTS.c.outcome, EVENTS.c.reason, DEAD.c.detail)
        joined = found.select_from(EVENTS.outerjoin(DEAD, DEAD.c.event_id == EVENTS.c.event_id))
        query = joined.where(EVENTS.c.event_id.in_(wanted), EVENTS.c.outcome.is_not(None))
        with self._log.transaction(read_only=True) as connection:
            rows = connection.execute(query).all()
        return {
            event_id: Fate(outcome=Outcome(outcome), reason=reason, detail=detail or "")
            for event_id, outcome, reason, detail in rows
        }


class _Waiting:
    """An engine's watcher that waits for the fates of some events."""

    def __init__(self, wanted: set[str]) -> None:
        self._wanted = wanted
        self._fates: dict[str, Fate] = {}
        self._changed = threading.Condition()

    def expect(self, tickets: Iterable[Ticket]) -> None: ...

    def ended(self, ticket: Ticket, event: ChangeEvent, work: Work) -> None:  # noqa: ARG002 a watcher's form
        if event.event_id in self._wanted:
            self.learn({event.event_id: work.fate})

    def trouble(self, ticket: Ticket, error: Retryable) -> None: ...

    def learn(self, fates: dict[str, Fate]) -> None:
        with self._changed:
            self._fates = {**fates, **self._fates}
            self._changed.notify_all()

    def wait(self, timeout_s: float) -> dict[str, Fate]:
        with self._changed:
            self._changed.wait_for(lambda: self._wanted <= self._fates.keys(), timeout_s)
            return dict(self._fates)
