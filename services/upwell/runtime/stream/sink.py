"""The gateway's end of the log: events in, acknowledged by the brokers before they count as accepted."""

import threading
import time
from collections.abc import Callable, Sequence

import msgspec

from upwell.errors import Overloaded, Reason, Rejected
from upwell.messages import Change, without_words
from upwell.ports import Blobs, Fate
from upwell.records import ChangeEvent, Inline, Lane, Op
from upwell.runtime.stream import topics
from upwell.runtime.stream.bounds import flaw
from upwell.runtime.stream.contract import Outgoing
from upwell.runtime.stream.producer import LogProducer

LARGE_BYTES = 64 * 1024
"""Content over this size goes by the blob store: the log keeps it for days, and each stage would carry it."""
COUNT_S = 1.0
"""How old the count of pending events may be."""
FIRST_LOOK_S, LAST_LOOK_S = 0.01, 0.25


class KafkaSink:
    """Implements `ports.EventSink`. `pending` counts events that have not ended, `ended` says how one did.

    `binds` is asked of a backfill's upsert: whether its control half would change anything. A flood of those that would
    not must not stand before somebody's permission.
    """

    def __init__(
        self,
        producer: LogProducer,
        blobs: Blobs,
        *,
        pending: Callable[[], int],
        max_pending: int,
        ended: Callable[[ChangeEvent], Fate | None],
        binds: Callable[[ChangeEvent], bool] = lambda _event: True,
    ) -> None:
        self._producer = producer
        self._blobs = blobs
        self._pending = pending
        self._max_pending = max_pending
        self._ended = ended
        self._binds = binds
        self._lock = threading.Lock()
        self._counted: tuple[float, int] | None = None

    def accept(self, events: Sequence[ChangeEvent]) -> None:
        """Raises Rejected `invalid_event` for an unsound one, and then none of them is accepted."""
        for event in events:
            wrong = flaw(event)
            if wrong is not None:
                raise Rejected(Reason.INVALID_EVENT, f"an unsound event: {wrong}")
        count = self._count()
        if count >= self._max_pending:
            raise Overloaded(f"{count} events are waiting; at most {self._max_pending} may", retry_after_s=5.0)
        self._producer.send([outgoing for event in events for outgoing in self._outgoings(event)])

    def fates(self, events: Sequence[ChangeEvent], timeout_s: float) -> dict[str, Fate]:
        found: dict[str, Fate] = {}
        deadline = time.monotonic() + timeout_s
        pause = FIRST_LOOK_S
        while True:
            for event in events:
                if event.event_id not in found and (fate := self._ended(event)) is not None:
                    found[event.event_id] = fate
            left = deadline - time.monotonic()
            if left <= 0 or all(event.event_id in found for event in events):
                return found
            time.sleep(min(pause, left))
            pause = min(pause * 1.5, LAST_LOOK_S)

    def _outgoings(self, event: ChangeEvent) -> list[Outgoing]:
        """An upsert goes both ways: its permission must not wait behind its parse."""
        control = Outgoing(topic=topics.CONTROL, key=event.key, message=Change(event=without_words(event)))
        if event.op is not Op.UPSERT:
            return [control]
        topic = topics.laned(topics.CHANGES, event.lane)
        content = Outgoing(topic=topic, key=event.key, message=Change(event=self._lightened(event)))
        return [content] if event.lane is Lane.BACKFILL and not self._binds(event) else [content, control]

    def _lightened(self, event: ChangeEvent) -> ChangeEvent:
        if isinstance(event.content, Inline) and len(event.content.data) > LARGE_BYTES:
            return msgspec.structs.replace(event, content=self._blobs.put(event.key, event.content.data, event.version))
        return event

    def _count(self) -> int:
        now = time.monotonic()
        with self._lock:
            if self._counted is None or now - self._counted[0] > COUNT_S:
                self._counted = (now, self._pending())
            return self._counted[1]
