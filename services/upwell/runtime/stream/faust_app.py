"""The Faust application of one worker: how it consumes and produces. What it does with a record is the guard's.

Measured on Faust 0.15.3: with `concurrency` 1, `stream_wait_empty` and at-least-once nothing is lost in kills and
rebalances, as long as no message after an unacknowledged one of its partition is ever acknowledged, and no agent is
cancelled with a message in hand: Faust would acknowledge it. `forget` keeps the second, the guard's sessions the first.

The producer is not idempotent: once a batch of aiokafka 0.14 has failed (a broker restarted), each later one is refused
with OutOfOrderSequenceNumber until the process ends. Order is kept without: one message is in hand, and one batch of a
partition is under way at a time; what a lost acknowledgement doubles, the next stage takes twice.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from typing import Any, cast

import faust
from aiokafka.errors import (
    ConsumerStoppedError,
    IllegalStateError,
    InvalidTopicError,
    KafkaError,
    MessageSizeTooLargeError,
    RecordListTooLargeError,
    TopicAuthorizationFailedError,
)
from faust.exceptions import ConsumerNotStarted, NotReady, ProducerSendError
from faust.transport.drivers.aiokafka import AIOKafkaConsumerThread, Consumer, Transport
from faust.types import TP, StreamT
from faust.types import Message as FaustMessage
from yarl import URL

from upwell.config import Settings
from upwell.errors import Misconfigured, Retryable, UpwellError
from upwell.runtime.stream.envelope import HeaderPairs, Sending, Taken, headers_of
from upwell.runtime.stream.vendor import servers

BUFFERED_MESSAGES = 4
"""How many records wait between the consumer and the stage; each may be as large as the log allows."""
POLLED_MESSAGES = 8
"""How many records leave the consumer at a time."""
FETCH_BYTES = 256 * 1024
"""What is fetched ahead of each partition; a larger record comes alone."""
FRAMING_BYTES = 64 * 1024
TOO_LARGE = (MessageSizeTooLargeError, RecordListTooLargeError)
REFUSED = (TopicAuthorizationFailedError, InvalidTopicError)
COMMIT_S = 1.0
SEND_TIMEOUT_S = 30.0
IDLE_LIMIT_S = 24 * 3600.0
"""How long a message may be in hand before the group takes the partitions away; liveness ends a stuck one earlier."""


class LineApp(faust.App):
    """An app that takes from its topics and nothing else: no web server, no tables, no folders, no topics of its own.

    Set before it starts: `take(record)` is awaited for one record at a time and says whether it is done;
    `on_revoked(session)` is called, on the event loop, when the partitions of a session are being taken away;
    `on_crash(error)`, on any thread, when a part of Faust has failed. That must end the process: Faust's own way down
    acknowledges what is in hand.
    """

    take: Callable[[Taken], Awaitable[bool]]
    on_revoked: Callable[[int], None]
    on_crash: Callable[[BaseException], None]
    host: asyncio.AbstractEventLoop

    def on_rebalance_start(self) -> None:
        super().on_rebalance_start()
        self.host.call_soon_threadsafe(self.on_revoked, self.consumer_generation_id)

    def assigned(self) -> frozenset[TP]:
        """The partitions that it has; none while the group makes up its mind."""
        try:
            return frozenset() if self.rebalancing else frozenset(self.consumer.assignment())
        except ConsumerNotStarted:
            return frozenset()

    def waiting(self, done: Mapping[tuple[str, int], int]) -> int:
        """Records known to wait in its partitions, where `done` says (topic, partition) -> next offset."""
        ends = ((tp, self.consumer.highwater(tp)) for tp in self.assigned())
        return sum(max(0, end - done.get((tp.topic, tp.partition), end)) for tp, end in ends if end is not None)

    async def note_emptied(self) -> bool:
        """Commit where those of its partitions stand that hold nothing any more and of which nothing is committed.

        False: it could not be done now.
        """
        try:
            await cast("_Consumer", self.consumer).note_emptied()
        except (ConsumerNotStarted, ConsumerStoppedError, KafkaError):
            return False
        return True

    def _crash(self, reason: BaseException) -> None:
        self.on_crash(reason)

    def _create_directories(self) -> None:
        pass


class _ConsumerThread(AIOKafkaConsumerThread):
    async def seek_to_committed(self) -> Mapping[TP, int]:
        """Where nothing is committed yet, too: aiokafka leaves such a partition where it was read to, and what Faust
        dropped of it in a rebalance would never be delivered."""
        committed = await super().seek_to_committed()
        await self.call_thread(self._rewind, [partition for partition, offset in committed.items() if not offset])
        return committed

    async def _rewind(self, partitions: Sequence[TP]) -> None:
        """To offset 0, without asking a broker: where that is gone the fetcher goes to the first there is."""
        for partition in partitions:
            with suppress(IllegalStateError):  # another's by now
                self._ensure_consumer().seek(partition, 0)

    async def note_emptied(self) -> None:
        """See `LineApp.note_emptied`."""
        await self.call_thread(self._note_emptied)

    async def _note_emptied(self) -> None:
        consumer = self._ensure_consumer()
        here = list(consumer.assignment())
        begins, ends = await consumer.beginning_offsets(here), await consumer.end_offsets(here)
        emptied = [one for one in here if 0 < begins[one] == ends[one] and await consumer.committed(one) is None]
        if emptied:
            await consumer.commit({one: ends[one] for one in emptied})


class _Consumer(Consumer):
    """Pauses all partitions while the buffer is full, by not polling. Faust's own way, partition by partition, polls
    again only a second later when all of them were full."""

    def _new_consumer_thread(self) -> AIOKafkaConsumerThread:
        return _ConsumerThread(self, loop=self.loop, beacon=self.beacon)

    async def note_emptied(self) -> None:
        """See `LineApp.note_emptied`."""
        await cast("_ConsumerThread", self._thread).note_emptied()

    def on_buffer_full(self, tp: Any) -> None:
        pass


class _Transport(Transport):
    Consumer = _Consumer


def make(settings: Settings, group: str, consumed: Sequence[str]) -> LineApp:
    """The app, not started, on the running event loop."""
    session_s = settings.session_timeout_s
    app = LineApp(
        group,
        broker=[URL(f"kafka://{server}") for server in servers(settings.brokers)],
        web_enabled=False,
        topic_disable_leader=True,
        topic_allow_declare=False,
        processing_guarantee="at_least_once",
        stream_wait_empty=True,
        stream_buffer_maxsize=BUFFERED_MESSAGES,
        stream_recovery_delay=0.0,
        consumer_auto_offset_reset="earliest",
        consumer_max_fetch_size=FETCH_BYTES,
        consumer_metadata_max_age_ms=30_000,
        broker_max_poll_records=POLLED_MESSAGES,
        broker_max_poll_interval=IDLE_LIMIT_S,
        broker_commit_interval=COMMIT_S,
        broker_session_timeout=session_s,
        broker_heartbeat_interval=session_s / 4,
        broker_rebalance_timeout=settings.drain_s + session_s,
        broker_request_timeout=max(session_s + 5.0, 15.0),
        producer_acks=-1,
        producer_linger=0.0,
        producer_request_timeout=SEND_TIMEOUT_S,
        producer_max_request_size=settings.message_bytes + FRAMING_BYTES,
    )
    app.transport = _Transport(app.conf.broker_consumer, app)
    app.producer_transport = _Transport(app.conf.broker_producer, app)
    raw = app.topic(
        *consumed, key_type=bytes, value_type=bytes, key_serializer="raw", value_serializer="raw", allow_empty=True
    )

    @app.agent(raw, name=group, concurrency=1)
    async def agent(stream: StreamT[bytes]) -> None:
        async for event in stream.events():
            await _through(app, event.message)

    app.host = asyncio.get_running_loop()
    return app


async def start(app: LineApp) -> None:
    """Connect and join the group. Raises Retryable when the brokers went away meanwhile; the process must end then."""
    try:
        await app.start()
    except (KafkaError, OSError) as e:
        raise Retryable(f"Kafka went away while the worker started ({type(e).__name__})") from e


async def _through(app: LineApp, message: FaustMessage) -> None:
    taken = Taken(
        topic=message.topic,
        partition=message.partition,
        offset=message.offset,
        key=message.key,
        value=message.value,
        headers=headers_of(cast("HeaderPairs", message.headers)),
        session=message.generation_id or 0,
    )
    done = False
    try:
        done = await app.take(taken)
    except Exception as e:  # the guard is broken, and Faust would acknowledge the message
        app.on_crash(e)
        raise
    finally:
        if not done:
            forget(message)


def forget(message: FaustMessage) -> None:
    """Let Faust drop a message without acknowledging it: it neither counts it as done nor waits for it.

    Nothing after it in its partition may be acknowledged before the partition has been assigned anew.
    """
    message.acked = True


def sender(app: LineApp) -> Callable[[Sending], Awaitable[None]]:
    """Produces a record and waits for the acknowledgement of all in-sync replicas. Errors as `guard.Send` has them."""

    async def send(sending: Sending) -> None:
        try:
            await app.producer.send_and_wait(
                sending.topic, sending.key, sending.value, None, None, list(sending.headers) or None
            )
        except (KafkaError, ProducerSendError, NotReady) as e:
            cause = e.__cause__ if isinstance(e, ProducerSendError) else e
            raise _mapped(cause or e, sending) from e

    return send


def _mapped(error: BaseException, sending: Sending) -> UpwellError:
    kind = type(error).__name__
    if isinstance(error, TOO_LARGE):  # what is over `message_bytes` went by the blob store
        return Misconfigured(f"{sending.topic} takes less than setting message_bytes says: see `upwell topics check`")
    if isinstance(error, REFUSED):
        return Misconfigured(f"Kafka refuses to write {sending.topic} ({kind}): check the user's rights and the topic")
    return Retryable(f"Kafka did not take a message for {sending.topic} ({kind})")


def quiet() -> None:
    """Faust, mode and aiokafka log through our own lines or not at all."""
    for name in ("faust", "mode", "aiokafka", "asyncio", __name__):  # what is derived from theirs logs by this name
        logger = logging.getLogger(name)
        logger.handlers[:] = [logging.NullHandler()]
        logger.propagate = False
