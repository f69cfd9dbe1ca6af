"""What every stage sends: its document onwards, or the news that there is none, which upsert tells the registry."""

from upwell.messages import Embedded, Message
from upwell.ports import Fate
from upwell.records import Outcome, ParseStatus, PreparedDocument
from upwell.runtime.stream import topics
from upwell.runtime.stream.contract import Outgoing
from upwell.runtime.stream.topics import Role

READ = frozenset({ParseStatus.OK, ParseStatus.EMPTY})
"""What a document is that can be published; beside a fate it says that the parse was not at fault."""


def onwards(step: str, message: Message) -> list[Outgoing]:
    """The message on `step`'s topic of its event's lane."""
    event = message.event
    return [Outgoing(topic=topics.laned(step, event.lane), key=event.key, message=message)]


def given_up(message: Message, fate: Fate, status: ParseStatus = ParseStatus.EMPTY) -> list[Outgoing]:
    """Straight to upsert, past the stages between: the event ends with `fate`. `status` is the parse's, where that
    is why."""
    document = PreparedDocument(status=status, reason=fate.detail or None)
    return onwards(
        topics.EMBEDDED, Embedded(event=message.event, attempts=message.attempts, document=document, fate=fate)
    )


def superseded(message: Message, stage: Role) -> list[Outgoing]:
    """The same for an event whose content nobody needs any more."""
    return given_up(message, Fate(outcome=Outcome.SUPERSEDED, stage=str(stage)))
