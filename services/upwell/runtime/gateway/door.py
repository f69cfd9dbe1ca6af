"""Who may bring what: from a request's headers and body to events that the sink has taken. Knows no web framework."""

import re
import threading
import time
from collections.abc import Callable, Mapping, Sequence

import msgspec

from upwell import metrics as m
from upwell.clock import Clock
from upwell.config import KeySettings, SourceSettings
from upwell.errors import Reason
from upwell.ports import EventSink, Fate
from upwell.records import ChangeEvent, Record
from upwell.runtime.gateway.keys import Stranger, key_of
from upwell.sources.hooks import Delivery, Taken, genuine, read
from upwell.sources.offers import NotYours, events_of
from upwell.sources.terms import Terms, terms_of

TRACEPARENT = re.compile(r"[0-9a-f]{2}-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}")
"""w3.org/TR/trace-context, version 00."""
SLICE_S = 0.5
"""How long a closing gateway may have to wait for those who wait."""


class Accepted(Record, frozen=True, kw_only=True, omit_defaults=False):
    """What was taken, in the order in which it came: durable. `ignored` counts a hook's records that mean nothing."""

    accepted: tuple[str, ...]
    versions: tuple[int, ...]
    ignored: int = 0


class EndedEvent(Record, frozen=True, kw_only=True, omit_defaults=False):
    """How an accepted event ended: `applied`, `superseded`, or `dead` with its reason."""

    event_id: str
    outcome: str
    reason: str | None
    detail: str


class Waited(Record, frozen=True, kw_only=True, omit_defaults=False):
    """The answer of `?wait=applied`: what ended in time, and what has not."""

    accepted: tuple[str, ...]
    versions: tuple[int, ...]
    ended: tuple[EndedEvent, ...]
    pending: tuple[str, ...]


class Door:
    """Thread-safe. Raises Stranger, Rejected, NotYours, Overloaded and Retryable."""

    def __init__(
        self,
        sink: EventSink,
        *,
        keys: Sequence[KeySettings],
        sources: Mapping[str, SourceSettings],
        clock: Clock,
        metrics: Callable[[], m.Metrics],
    ) -> None:
        self._sink = sink
        self._keys = keys
        self._sources = sources
        self._clock = clock
        self._metrics = metrics
        self._closing = threading.Event()

    def admit(self, authorization: str) -> Terms:
        """The terms of whoever shows this Authorization header. Raises Stranger, NotYours for a directory's key."""
        key = key_of(authorization, self._keys)
        if not key.source:
            raise NotYours(Reason.INVALID_EVENT, "the key feeds a directory, and brings no events")
        return terms_of(key.source, self._sources.get(key.source), key.tenant)

    def offered(self, terms: Terms, body: bytes, traceparent: str = "") -> list[ChangeEvent]:
        """Take the events of a body, all or none."""
        events = [_traced(event, traceparent) for event in events_of(body, terms, self._clock())]
        self._take(events)
        return events

    def hooked(self, source: str, delivery: Delivery) -> Accepted:
        """Take what a hook of `source` delivers: its signature first."""
        settings = self._sources.get(source)
        hook, secret = (settings.hook, settings.secret) if settings is not None else (None, None)
        header = settings.signature_header if settings is not None else "X-Signature-256"
        known = genuine(delivery, hook or "hmac", secret.get_secret_value() if secret else "", header)
        if settings is None or hook is None or not known:
            raise Stranger("no such hook, or not its signature")
        taken: Taken = read(delivery, hook, terms_of(source, settings), self._clock())
        self._take(taken.events)
        if taken.ignored:
            self._metrics().count(m.HOOK_IGNORED, taken.ignored, source=source)
        return accepted(taken.events, taken.ignored)

    def expects(self, source: str) -> bool:
        """Whether a hook of that name is set up. For the log: whoever calls is never told."""
        settings = self._sources.get(source)
        return settings is not None and settings.hook is not None

    def waited(self, events: Sequence[ChangeEvent], timeout_s: float) -> Waited:
        """How the events ended, within `timeout_s`, or until the door closes."""
        deadline = time.monotonic() + timeout_s
        wanted = {event.event_id for event in events}
        while True:
            left = deadline - time.monotonic()
            fates = self._sink.fates(events, max(0.0, min(left, SLICE_S)))
            if wanted <= fates.keys() or left <= SLICE_S or self._closing.is_set():
                break
        said = accepted(events)
        return Waited(
            accepted=said.accepted,
            versions=said.versions,
            ended=tuple(_ended(name, fates[name]) for name in said.accepted if name in fates),
            pending=tuple(name for name in said.accepted if name not in fates),
        )

    def close(self) -> None:
        """Whoever waits is answered with what is known."""
        self._closing.set()

    def answered(self, route: str, status: int) -> None:
        """Count an answer."""
        self._metrics().count(m.GATEWAY_REQUESTS, route=route, status=str(status))

    def _take(self, events: Sequence[ChangeEvent]) -> None:
        if events:
            self._sink.accept(events)


def accepted(events: Sequence[ChangeEvent], ignored: int = 0) -> Accepted:
    """The answer for events that were taken."""
    return Accepted(
        accepted=tuple(event.event_id for event in events),
        versions=tuple(event.version for event in events),
        ignored=ignored,
    )


def _traced(event: ChangeEvent, traceparent: str) -> ChangeEvent:
    if event.traceparent is not None or not TRACEPARENT.fullmatch(traceparent):
        return event
    return msgspec.structs.replace(event, traceparent=traceparent)


def _ended(event_id: str, fate: Fate) -> EndedEvent:
    return EndedEvent(event_id=event_id, outcome=fate.outcome, reason=fate.reason, detail=fate.detail)
