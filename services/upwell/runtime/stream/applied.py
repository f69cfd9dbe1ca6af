"""Hearing how events end, from the topic `applied`."""

from contextlib import suppress

from upwell.errors import Rejected
from upwell.messages import Ended
from upwell.ports import Blobs
from upwell.runtime.stream import topics
from upwell.runtime.stream.codec import decode
from upwell.runtime.stream.envelope import headers_of
from upwell.runtime.stream.tail import Tail


class AppliedEnds:
    """Implements `waiting.Ends`. Whatever ends after its making is heard. Raises as `Tail` does."""

    def __init__(self, brokers: str | None, blobs: Blobs) -> None:
        self._blobs = blobs
        self._tail = Tail(brokers, topics.APPLIED, "upwell-commands")

    def poll(self, timeout_s: float) -> list[Ended]:
        found = []
        for record in self._tail.poll(timeout_s):
            if record.value is None:
                continue
            with suppress(Rejected):  # another version's: the ledger says how that one ended
                headers = headers_of(record.headers)
                message = decode(record.value, headers, record.topic, key=record.key, blobs=self._blobs)
                if isinstance(message, Ended):
                    found.append(message)
        return found

    def close(self) -> None:
        self._tail.close()
