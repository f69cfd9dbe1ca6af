"""Sending to the log from outside the workers: the gateway's and the commands' producer.

Idempotent, acknowledged by all in-sync replicas, bounded in memory. Keys go to the partition that aiokafka, and so each
worker, would choose too (murmur2 of the key), or one document's events would lose their order.
"""

import threading
import time
from collections.abc import Sequence
from contextlib import suppress
from typing import Any

from kafka import KafkaProducer
from kafka.errors import KafkaError, KafkaTimeoutError

from upwell.errors import Overloaded, Retryable
from upwell.ports import Blobs
from upwell.runtime.stream import topics
from upwell.runtime.stream.codec import Headers, encode
from upwell.runtime.stream.contract import Outgoing
from upwell.runtime.stream.vendor import connected, mapped, servers

BUFFER_BYTES = 32 * 1024 * 1024
ROOM_S = 1.0
"""How long a sender waits for room in a full buffer before it is told to come again."""
CONNECT_S = 10.0
QUIET_S = 1.0
"""After brokers could not be reached nobody tries again for so long."""
JOIN_S = 5.0
RECORD_BYTES = 512
"""What a record in the buffer costs beyond its key and value."""


class LogProducer:
    """Connects when it first sends; thread-safe. `delivery_s`: how long a message may wait for its acknowledgement."""

    def __init__(
        self,
        brokers: str | None,
        *,
        blobs: Blobs,
        message_bytes: int,
        buffer_bytes: int = BUFFER_BYTES,
        delivery_s: float = 30.0,
        client: str = "upwell",
    ) -> None:
        self._servers = servers(brokers)
        self._blobs = blobs
        self._message_bytes = message_bytes
        self._delivery_s = delivery_s
        self._client = client
        self._room = Room(max(buffer_bytes, 2 * message_bytes))
        self._lock = threading.Lock()
        self._producer: Any = None
        self._quiet_until = 0.0
        self._closed = False

    def send(self, outgoings: Sequence[Outgoing]) -> None:
        """Returns when the brokers have acknowledged all of them; after an error some may have been.

        Raises Overloaded when the buffer stays full, Retryable when the brokers do not answer in time, Misconfigured
        when they refuse, Rejected for a message that cannot be encoded; what `Blobs.put` does.
        """
        producer = self._connected()
        sent = [(outgoing.topic, self._buffered(producer, outgoing)) for outgoing in outgoings]
        deadline = time.monotonic() + self._delivery_s + CONNECT_S
        for topic, future in sent:
            try:
                future.get(timeout=max(deadline - time.monotonic(), 0.001))
            except KafkaError as e:
                self._replace(producer)
                raise mapped(e, topic) from e

    def close(self) -> None:
        """Nothing that `send` has returned for is lost by it."""
        with self._lock:
            self._closed = True
            producer, self._producer = self._producer, None
        if producer is not None:
            _let_go(producer, 0.5)

    def _buffered(self, producer: Any, outgoing: Outgoing) -> Any:
        key = topics.key_of(outgoing.key)
        value: bytes | None = None
        headers: Headers = []
        if outgoing.message is not None:
            value, headers = encode(outgoing.message, limit_bytes=self._message_bytes, blobs=self._blobs)
        size = len(key) + len(value or b"") + RECORD_BYTES
        self._room.take(size)
        try:
            future = producer.send(outgoing.topic, value=value, key=key, headers=headers)
        except BaseException as e:
            self._room.give(size)
            if isinstance(e, KafkaTimeoutError):  # it waited for what the brokers know of the topic
                raise Retryable(f"no topic {outgoing.topic} is to be seen; upwell topics create makes it") from e
            if isinstance(e, KafkaError):
                raise mapped(e, outgoing.topic) from e
            raise
        future.add_both(lambda _: self._room.give(size))
        return future

    def _connected(self) -> Any:
        with self._lock:
            if self._closed:
                raise Retryable("this producer was closed")
            if self._producer is None:
                if time.monotonic() < self._quiet_until:  # all who waited for the lock learn it at once
                    raise Retryable(f"no broker answers at {','.join(self._servers)}")
                self._producer = self._connect()
            return self._producer

    def _connect(self) -> Any:
        try:
            return connected(
                KafkaProducer,
                self._servers,
                client_id=self._client,
                acks="all",
                enable_idempotence=True,
                allow_auto_create_topics=False,
                delivery_timeout_ms=int(self._delivery_s * 1000),
                request_timeout_ms=int(self._delivery_s * 500),
                max_block_ms=int(CONNECT_S * 500),
                bootstrap_timeout_ms=int(CONNECT_S * 1000),
                reconnect_backoff_max_ms=1000,
                max_request_size=self._message_bytes + RECORD_BYTES,
                metrics_enabled=False,
            )
        except Retryable:
            self._quiet_until = time.monotonic() + QUIET_S
            raise

    def _replace(self, producer: Any) -> None:
        """The next send makes a new one. Seen in kafka-python 3.0.12: after one batch of an idempotent producer has
        expired nothing more of its partition is ever sent."""
        with self._lock:
            if self._producer is not producer:
                return
            self._producer = None
        # Behind the sender's back: others may still get their acknowledgements from it.
        threading.Thread(target=_let_go, args=(producer, self._delivery_s), name="let go", daemon=True).start()


class Room:
    """Bytes in a bounded buffer."""

    def __init__(self, size: int) -> None:
        self._free = size
        self._changed = threading.Condition()

    def take(self, size: int) -> None:
        """Raises Overloaded when there is no room within ROOM_S."""
        with self._changed:
            if not self._changed.wait_for(lambda: self._free >= size, ROOM_S):
                raise Overloaded("the brokers are slower than what comes in; the buffer is full", retry_after_s=1.0)
            self._free -= size

    def give(self, size: int) -> None:
        with self._changed:
            self._free += size
            self._changed.notify_all()


def _let_go(producer: Any, patience_s: float) -> None:
    """End a producer: after what it still sends, or by force, for its own `close` gives up when that does not end."""
    try:
        producer.close(timeout=patience_s)
    except KafkaTimeoutError:
        producer._sender.force_close()  # noqa: SLF001  fails what is left, or a stuck thread and its sockets would stay
        producer._sender.join(JOIN_S)  # noqa: SLF001
        with suppress(KafkaError):
            producer.close(timeout=JOIN_S)
