"""What a worker takes from the log and what it puts there: bytes, and where they stand."""

from collections.abc import Callable, Sequence
from functools import partial

from upwell.clock import Clock
from upwell.messages import Dead, Member, Message, Origin
from upwell.ports import Blobs, Fate
from upwell.records import Lane, Record
from upwell.runtime.stream import codec, topics
from upwell.runtime.stream.contract import Outgoing

Header = tuple[str, bytes]
HeaderPairs = Sequence[tuple[str, bytes | None]] | None


class Taken(Record, frozen=True, kw_only=True):
    """A record of the log as it was consumed. `value` None is a tombstone.

    `session` numbers the assignment of partitions under which it was taken (the group's generation): after the next
    one its partition may be another worker's, and it is delivered again to whoever has it then.
    """

    topic: str
    partition: int
    offset: int
    key: bytes | None
    value: bytes | None
    headers: tuple[Header, ...] = ()
    session: int = 0

    @property
    def origin(self) -> Origin:
        return Origin(topic=self.topic, partition=self.partition, offset=self.offset)


class Sending(Record, frozen=True, kw_only=True):
    """A record to be produced."""

    topic: str
    key: bytes | None
    value: bytes | None
    headers: tuple[Header, ...] = ()


NO_KEY = b"unread"
"""The topic of the dead is compacted, where a record without a key is refused."""

Decode = Callable[[Taken], Message | Member]
Encode = Callable[[Outgoing], Sending]
Bury = Callable[[Taken, Fate], Sending]
Spend = Callable[[Taken], Callable[[], None] | None]

LAST = frozenset(topics.laned(topics.EMBEDDED, lane) for lane in Lane)
"""The topics of what upsert takes: the largest messages, and whoever took one has ended its event."""


class Wire:
    """The codec of one worker. Every method but `spend` may ask the blob store and belongs into the worker's thread."""

    def __init__(self, blobs: Blobs, limit_bytes: int, clock: Clock) -> None:
        self._blobs = blobs
        self._limit_bytes = limit_bytes
        self._clock = clock

    def decode(self, taken: Taken) -> Message | Member:
        """The message of a record that is no tombstone. Raises what `codec.decode` raises."""
        assert taken.value is not None
        message = codec.decode(taken.value, taken.headers, taken.topic, key=taken.key, blobs=self._blobs)
        assert not isinstance(message, Dead)  # no stage consumes the dead
        return message

    def encode(self, outgoing: Outgoing) -> Sending:
        """Raises what `codec.encode` raises."""
        key = topics.key_of(outgoing.key)
        if outgoing.message is None:
            return Sending(topic=outgoing.topic, key=key, value=None)
        value, headers = codec.encode(outgoing.message, limit_bytes=self._limit_bytes, blobs=self._blobs)
        return Sending(topic=outgoing.topic, key=key, value=value, headers=tuple(headers))

    def spend(self, taken: Taken) -> Callable[[], None] | None:
        """What is left to do when all that a record led to is acknowledged: the vectors that it lay in may go. None is
        nothing. Should the record be delivered again, the registry knows how its event ended.
        """
        ref = codec.blob_of(taken.value, taken.headers) if taken.topic in LAST else None
        return None if ref is None else partial(self._blobs.remove, ref)

    def bury(self, taken: Taken, fate: Fate) -> Sending:
        """The dead letter of a record that no stage could take, with its bytes as they were."""
        letter = Dead(fate=fate, at=self._clock(), raw=taken.value or b"", origin=taken.origin)
        value, headers = codec.encode(letter, limit_bytes=self._limit_bytes, blobs=self._blobs)
        return Sending(topic=topics.DEAD, key=taken.key or NO_KEY, value=value, headers=tuple(headers))


def headers_of(raw: HeaderPairs) -> tuple[Header, ...]:
    """A consumer's headers; one without a value is an empty one."""
    return tuple((name, value or b"") for name, value in raw or ())
