"""The event log's port: what is accepted, and how each event ended."""

from collections.abc import Sequence
from typing import Protocol

from upwell.records import ChangeEvent, DocKey, Membership, Outcome, Record


class EventSink(Protocol):
    """Where a gateway puts what it accepts: the embedded engine, or Kafka."""

    def accept(self, events: Sequence[ChangeEvent]) -> None:
        """Durable, all of them, when it returns; an event accepted before is accepted and ignored.

        Raises Overloaded when the log cannot take more, Retryable while it is away."""
        ...

    def fates(self, events: Sequence[ChangeEvent], timeout_s: float) -> dict[str, "Fate"]:
        """event_id -> how it ended, of those that ended within `timeout_s`; returns as soon as all have."""
        ...


class MembershipSink(Protocol):
    """Where what directories say of principals is put: the registry's own directory, or Kafka in front of it."""

    def put(self, member: Membership) -> None:
        """Durable when it returns. Raises Overloaded when no more can be taken, Retryable while the log is away."""
        ...

    def version(self, tenant: str, principal: str) -> int:
        """The version of what is in force of a principal now, gone or not; -1 if nothing is."""
        ...

    def effective(self, member: Membership, timeout_s: float) -> bool:
        """True as soon as this, or something newer of its principal, is in force; False if not within `timeout_s`."""
        ...


class Fate(Record, frozen=True, kw_only=True):
    """How an event ended."""

    outcome: Outcome
    reason: str | None = None
    detail: str = ""
    stage: str = ""
    attempts: int = 1


class ChildFault(Record, frozen=True, kw_only=True):
    """A part inside a document (`key` is `parent!/name`) that will not parse, though the document did."""

    key: DocKey
    fate: Fate


class DeadLetter(Record, frozen=True, kw_only=True):
    """An input that was refused, kept with its reason until it is replayed or discarded. `replayable`: with its event,
    which one that never became an event (a file's name) has not.
    """

    id: int
    tenant: str
    source: str
    doc_id: str
    stage: str
    reason: str
    detail: str
    attempts: int
    at: int
    replayable: bool = True
