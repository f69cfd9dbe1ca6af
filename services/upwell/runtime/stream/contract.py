"""The contract of every worker: a message in, messages out, nothing of Kafka in between.

    outputs = stage.handle(message)

`handle` runs off the event loop, in one thread of its process, one message at a time; the guard around it sends the
outputs, waits for the broker's acknowledgement and only then counts the message as done. Since that may have to happen
again after a crash, every `handle` may be called twice for one message.
"""

from typing import Any, Protocol, TypeVar

from upwell.messages import Dead, Member, Message
from upwell.ports import Fate
from upwell.records import DocKey, PrincipalKey, Record

Taken_contra = TypeVar("Taken_contra", bound=Message | Member, contravariant=True)


class Outgoing(Record, frozen=True, kw_only=True):
    """A message to send. `message` None is Kafka's tombstone: compaction forgets what the key had before."""

    topic: str
    key: DocKey | PrincipalKey
    message: Message | Member | Dead | None


class Stage(Protocol[Taken_contra]):
    """One stage of the pipeline, pure of Kafka."""

    def handle(self, message: Taken_contra) -> list[Outgoing]:
        """What the message leads to.

        Raises Retryable (the guard tries again in place, so that order is kept), Rejected (this message never will),
        Misconfigured (the process stops).
        """
        ...

    def reject(self, message: Any, fate: Fate) -> list[Outgoing]:
        """What to send when the message was given up with `fate` (outcome dead). Raises only Retryable.

        Of a message that could not be read whole there is a Message with no more than its event, without its words.
        """
        ...

    def close(self) -> None: ...
