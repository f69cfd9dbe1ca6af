"""Counting what the engine does, for Prometheus: a watcher like any other."""

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress

from upwell import metrics as m
from upwell.answers import StatusAnswer
from upwell.clock import Clock
from upwell.errors import Retryable, UpwellError
from upwell.ports import SourceCounts
from upwell.records import ChangeEvent, Op, Outcome
from upwell.runtime.backlog import Ticket
from upwell.runtime.engine import Work
from upwell.runtime.lazy import Lazy


def set_unconfirmed(metrics: m.Metrics, counts: Iterable[tuple[str, int, int]]) -> None:
    """Set the gauges of permissions that sources cannot confirm, from each one's name, missing and hidden documents; of
    two tenants' sources of one name the worse.
    """
    worst: dict[str, tuple[int, int]] = {}
    for source, missing, hidden in counts:
        known = worst.get(source, (0, 0))
        worst[source] = max(known[0], missing), max(known[1], hidden)
    for source, (missing, hidden) in worst.items():
        metrics.set(m.ACL_MISSING, missing, source=source)
        metrics.set(m.ACL_HIDDEN, hidden, source=source)


def exposed(metrics: m.Metrics, counts: Callable[[], Sequence[SourceCounts]], owed: Callable[[], int]) -> bytes:
    """All metrics in Prometheus' text format, with what the registry counts now where it can be asked; `owed`: acts
    that are not in the audit yet."""
    from prometheus_client import generate_latest  # noqa: PLC0415 as below

    with suppress(Retryable):
        set_unconfirmed(metrics, ((one.source, one.acl_missing, one.acl_hidden) for one in counts()))
        metrics.set(m.AUDIT_OWED, owed())
    return generate_latest(metrics.registry)


class Meter:
    """Hears of every event. What an earlier process accepted and left counts as accepted here too."""

    def __init__(self, metrics: Lazy[m.Metrics], clock: Clock) -> None:
        self._metrics = metrics
        self._clock = clock

    def expect(self, tickets: Iterable[Ticket]) -> None:
        for ticket in tickets:
            self._metrics().count(m.EVENTS_ACCEPTED, source=ticket.source, lane=str(ticket.lane), op=str(ticket.op))

    def ended(self, ticket: Ticket, event: ChangeEvent, work: Work) -> None:  # noqa: ARG002 a watcher's form
        metrics, source, lane = self._metrics(), event.source, str(event.lane)
        metrics.count(m.EVENTS_ENDED, source=source, lane=lane, outcome=str(work.fate.outcome))
        if work.fate.outcome is Outcome.APPLIED:
            kind = m.EVENT_TO_SEARCHABLE if event.op is Op.UPSERT else m.REVOCATION
            metrics.observe(kind, max(0.0, (self._clock() - event.received_at) / 1e6), source=source, lane=lane)
        for fate in (work.fate, *(fault.fate for fault in work.faults)):
            if fate.outcome is Outcome.DEAD:
                metrics.count(m.DEAD_LETTERS, stage=fate.stage, reason=str(fate.reason))
        for effect in ("kept", "reused", "embedded", "removed"):
            metrics.count(m.CHUNKS, getattr(work, effect), effect=effect)
        metrics.count(m.TOKENS_EMBEDDED, work.tokens_embedded)

    def trouble(self, ticket: Ticket, error: Retryable) -> None:  # noqa: ARG002 a watcher's form
        self._metrics().count(m.RETRIES, source=ticket.source, lane=str(ticket.lane))

    @contextmanager
    def searching(self) -> Iterator[Callable[[str, int], None]]:
        """Time a search; what it gives counts refusals. A one-shot command, which nobody scrapes, counts nothing."""
        metrics = self._metrics.made
        if metrics is None:
            yield lambda _cause, _hits: None
            return
        started = time.perf_counter()
        try:
            yield lambda cause, hits: metrics.count(m.RECHECK_REFUSALS, hits, cause=cause)
        except UpwellError:
            metrics.count(m.SEARCH_FAILURES)
            raise
        metrics.observe(m.SEARCH, time.perf_counter() - started)

    def exposition(self, status: StatusAnswer) -> bytes:
        """All metrics in Prometheus' text format, with the gauges as a status just taken says."""
        from prometheus_client import generate_latest  # noqa: PLC0415 a one-shot command need not pay for it

        self._refresh(status)
        return generate_latest(self._metrics().registry)

    def _refresh(self, status: StatusAnswer) -> None:
        """Of two tenants' sources of one name the gauges show the worse."""
        worst: dict[str, tuple[float, int]] = {}
        for source in status.sources:
            staleness, pending = worst.get(source.source, (0.0, 0))
            worst[source.source] = max(staleness, source.staleness_s or 0.0), pending + source.pending
        set_unconfirmed(self._metrics(), ((one.source, one.acl_missing, one.acl_hidden) for one in status.sources))
        self._metrics().set(m.AUDIT_OWED, status.audit_owed)
        now = self._clock() / 1e6
        for name, (staleness, pending) in worst.items():
            self._metrics().set(m.EVENTS_PENDING, pending, source=name)
            self._metrics().set(m.STALENESS, staleness, source=name)
            self._metrics().set(m.WATERMARK, now - staleness, source=name)
