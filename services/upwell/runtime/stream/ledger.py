"""The ledger's consumer: every accepted event and every end, from the log into the database, in batches.

    poll -> one transaction -> commit the offsets

At least once, and the transaction may be repeated: what the ledger keeps is the same however often and in whatever
order it hears of it. While the database or the blob store is away the batch in hand is kept, the partitions are paused
and polling goes on, so that the group stays as it is. Rebalances happen inside poll() alone, and nothing is committed
in one.
"""

import threading
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Protocol

from kafka import KafkaConsumer, TopicPartition
from kafka.errors import KafkaError
from kafka.structs import OffsetAndMetadata

from upwell import logs
from upwell import metrics as m
from upwell.clock import Clock, now_us
from upwell.errors import Misconfigured, Rejected, Retryable
from upwell.messages import Change, Dead, Ended, Message
from upwell.metrics import Metrics
from upwell.records import ChangeEvent
from upwell.runtime.stream import topics
from upwell.runtime.stream.envelope import Taken, headers_of
from upwell.runtime.stream.progress import DEAD as UNREAD
from upwell.runtime.stream.progress import DONE, SKIPPED, Progress
from upwell.runtime.stream.topics import Line, Role
from upwell.runtime.stream.vendor import mapped, servers

POLL_S = 0.5
MOST_RECORDS = 1000
"""One transaction's size: a few hundred milliseconds of the database's time."""
FETCH_BYTES = 8 * 1024 * 1024
GATHER_S = 0.1
"""Between two batches: a transaction costs much the same however much it holds, and nobody waits for the ledger."""
REQUEST_S = 10.0
COMMIT_S = 5.0
COUNT_S = 10.0
"""How often the gauges of what is pending are set."""
FIRST_PAUSE_S = 0.1

TAKES = topics.taken_by(Role.LEDGER, Line.LIVE)
GROUP = topics.group_of(Role.LEDGER, Line.LIVE)
Decode = Callable[[Taken], Message | Dead]


class Storage(Protocol):
    """What the ledger writes to: `runtime.eventlog.EventLog`."""

    def end(self, ends: Sequence[Ended | Dead], accepted: Iterable[ChangeEvent] = ()) -> None: ...

    def pending_counts(self) -> dict[tuple[str, str], tuple[int, int]]: ...


class Ledger:
    """Consumes until it is stopped. `partitions` is how many it has; whether it gets on is in `progress`."""

    def __init__(
        self,
        brokers: str | None,
        storage: Storage,
        decode: Decode,
        *,
        progress: Progress,
        metrics: Metrics,
        session_timeout_s: float,
        retry_limit_s: float,
        clock: Clock = now_us,
    ) -> None:
        """Raises Misconfigured for `brokers` of the wrong form; nothing is connected yet."""
        self._servers = servers(brokers)
        self._storage = storage
        self._decode = decode
        self._progress = progress
        self._metrics = metrics
        self._session_timeout_s = session_timeout_s
        self._retry_limit_s = retry_limit_s
        self._clock = clock
        self._held: list[Taken] = []
        self._uncommitted: dict[TopicPartition, int] = {}
        self._pause_s = FIRST_PAUSE_S
        self._next_try = 0.0
        self._next_count = 0.0
        self._sources: set[str] = set()
        self.partitions = 0

    def run(self, stop: threading.Event) -> None:
        """Consume until `stop` is set; what is in hand then is delivered again to whoever comes next.

        Raises Misconfigured when brokers or database refuse us. Whatever passes with time is waited for.
        """
        while not stop.is_set():
            consumer = self._connected(stop)
            if consumer is None:
                return
            try:
                while not stop.is_set():
                    self._turn(consumer)
                    stop.wait(GATHER_S)
            except KafkaError as e:
                self._trouble(mapped(e))
                stop.wait(self._pause_s)
            finally:
                self._held.clear()
                self._uncommitted.clear()
                self.partitions = 0
                consumer.close(autocommit=False, timeout_ms=int(COMMIT_S * 1000))

    def _connected(self, stop: threading.Event) -> KafkaConsumer | None:
        while not stop.is_set():
            try:
                consumer = KafkaConsumer(
                    bootstrap_servers=self._servers,
                    client_id=GROUP,
                    group_id=GROUP,
                    enable_auto_commit=False,
                    auto_offset_reset="earliest",
                    allow_auto_create_topics=False,
                    max_poll_records=MOST_RECORDS,
                    fetch_max_bytes=FETCH_BYTES,
                    session_timeout_ms=int(self._session_timeout_s * 1000),
                    heartbeat_interval_ms=int(self._session_timeout_s * 1000 / 4),
                    request_timeout_ms=int(REQUEST_S * 1000),
                    bootstrap_timeout_ms=int(REQUEST_S * 1000),
                    reconnect_backoff_max_ms=1000,
                    metadata_max_age_ms=30_000,
                    metrics_enabled=False,
                )
            except (KafkaError, OSError) as e:
                self._trouble(mapped(e))
                stop.wait(self._pause_s)
                continue
            consumer.subscribe(list(TAKES))
            return consumer
        return None

    def _turn(self, consumer: KafkaConsumer) -> None:
        if self._held:  # a rebalance inside poll() may bring partitions that are not paused: once, and then they are
            consumer.pause(*consumer.assignment())
        self._held.extend(_taken(consumer.poll(timeout_ms=int(self._wait_s() * 1000))))
        self.partitions = len(consumer.assignment())
        if self._held and time.monotonic() >= self._next_try and self._write():
            consumer.resume(*consumer.paused())
        if self._uncommitted:
            self._commit(consumer)
        if time.monotonic() >= self._next_count and not self._held:
            self._count(consumer)

    def _wait_s(self) -> float:
        return min(POLL_S, max(0.0, self._next_try - time.monotonic())) if self._held else POLL_S

    def _write(self) -> bool:
        """The batch in hand, in one transaction. False when that has to be tried again later."""
        begun = time.monotonic()
        self._progress.runs()
        try:
            outcomes = self._store([taken for taken in self._held if taken.value is not None])
        except Retryable as e:
            self._trouble(e)
            self._next_try = time.monotonic() + self._pause_s
            return False
        finally:
            self._progress.ran()
        for taken in self._held:
            self._uncommitted[TopicPartition(taken.topic, taken.partition)] = taken.offset + 1
        outcomes[SKIPPED] = len(self._held) - sum(outcomes.values())
        self._progress.passed(outcomes, time.monotonic() - begun)
        self._held.clear()
        self._pause_s, self._next_try = FIRST_PAUSE_S, 0.0
        return True

    def _store(self, held: Sequence[Taken]) -> dict[str, int]:
        """Write what was taken: how much of it is done, and how much could not be read or kept and is passed over."""
        messages = [message for taken in held if (message := self._read(taken)) is not None]
        kept = len(messages)
        try:
            self._end(messages)
        except Rejected:  # the database will not have one of them: find out which
            kept = sum(self._kept(message) for message in messages)
        return {DONE: kept, UNREAD: len(held) - kept}

    def _kept(self, message: Message | Dead) -> bool:
        try:
            self._end([message])
        except Rejected as e:
            logs.warn("ledger_passed_over", reason=e.reason, why=str(e))
            return False
        return True

    def _end(self, messages: Sequence[Message | Dead]) -> None:
        accepted = [message.event for message in messages if isinstance(message, Change)]
        ends = [message for message in messages if isinstance(message, Ended | Dead)]
        self._storage.end(ends, accepted)

    def _read(self, taken: Taken) -> Message | Dead | None:
        """None for what nobody can read: the stage that takes it too dead-letters it."""
        try:
            return self._decode(taken)
        except Rejected as e:
            logs.warn("ledger_passed_over", topic=taken.topic, offset=taken.offset, reason=e.reason)
            return None

    def _commit(self, consumer: KafkaConsumer) -> None:
        """Only of partitions that are still ours; what fails is committed with the next batch, or delivered again."""
        ours = consumer.assignment()
        offsets = {
            partition: OffsetAndMetadata(offset, "", -1)
            for partition, offset in self._uncommitted.items()
            if partition in ours
        }
        try:
            if offsets:
                consumer.commit(offsets, timeout_ms=int(COMMIT_S * 1000))
        except KafkaError as e:
            error = mapped(e)
            if isinstance(error, Misconfigured):
                raise error from e
            logs.warn("ledger_not_committed", why=str(error))
            return
        self._uncommitted.clear()

    def _count(self, consumer: KafkaConsumer) -> None:
        """Set the gauges: what waits in the log, what is pending and how long, the tenant who is worse off a source."""
        self._next_count = time.monotonic() + COUNT_S
        ours = list(consumer.assignment())
        self._progress.assigned(len(ours))
        try:
            ends = consumer.end_offsets(ours, timeout_ms=int(COMMIT_S * 1000)) if ours else {}
            self._progress.lag(sum(max(0, end - (consumer.position(tp, 1000) or 0)) for tp, end in ends.items()))
            pending = self._storage.pending_counts()
        except (KafkaError, Retryable) as e:
            logs.warn("ledger_not_counted", why=str(mapped(e)) if isinstance(e, KafkaError) else str(e))
            return
        worst: dict[str, tuple[int, float]] = dict.fromkeys(self._sources, (0, 0.0))
        for (_, source), (count, oldest) in pending.items():
            known, age = worst.get(source, (0, 0.0))
            worst[source] = (max(known, count), max(age, (self._clock() - oldest) / 1e6))
        for source, (count, age) in worst.items():
            self._metrics.set(m.EVENTS_PENDING, count, source=source)
            self._metrics.set(m.EVENTS_OLDEST, age, source=source)
        self._sources = set(worst)

    def _trouble(self, error: Exception) -> None:
        if not isinstance(error, Retryable):
            raise error
        self._progress.failed()
        logs.warn("try_again", pause_s=self._pause_s, why=str(error))
        self._pause_s = min(self._retry_limit_s, self._pause_s * 2)


def _taken(polled: Mapping[Any, Sequence[Any]]) -> list[Taken]:
    return [
        Taken(
            topic=record.topic,
            partition=record.partition,
            offset=record.offset,
            key=record.key,
            value=record.value,
            headers=headers_of(record.headers),
        )
        for records in polled.values()
        for record in records
    ]
