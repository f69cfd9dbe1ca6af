"""The audit's port: who did what, durable before the answer leaves, chained so that tampering shows."""

from collections.abc import Iterable, Sequence
from enum import StrEnum
from typing import Protocol

from upwell.records import DocKey, Record


class Act(StrEnum):
    """What an audit record is about."""

    PUBLISH = "publish"
    PERMISSION = "permission"
    DELETE = "delete"
    ERASE = "erase"
    MEMBERSHIP = "membership"
    SEARCH = "search"
    READ = "read"
    REFUSED = "refused"
    APPROVE = "approve"


class AuditEntry(Record, frozen=True, kw_only=True):
    """One act. `actor` is who did it (`user:ana`, `source:handbook`, `operator:ana`, or empty: nobody known).

    Of a read: `principals` are those it was checked for (of many, their digest in all but a day's first record),
    `query` the words or their hash by policy, `hits` the ids of what was shown (`source/doc_id#chunk_key`), `refused`
    how many hits the re-check refused. `outcome` is `ok`, `applied`, `superseded`, `dead`, or `refused` with its
    `reason`. No document's text stands here.
    """

    act: Act
    at: int
    tenant: str
    actor: str
    via: str = ""
    document: DocKey | None = None
    version: int = -1
    principals: tuple[str, ...] = ()
    query: str = ""
    hits: tuple[str, ...] = ()
    refused: int = 0
    outcome: str = "ok"
    reason: str = ""


class Audit(Protocol):
    """Where acts are written down."""

    def write(self, entry: AuditEntry) -> None:
        """Durable when it returns; concurrent callers share one commit. Raises Retryable: then nothing may be shown."""
        ...

    def close(self) -> None: ...


class Owed(Record, frozen=True, kw_only=True):
    """An act of publishing that is not audited yet. Whatever `id` says, `origin` is the act's own, for ever."""

    id: int
    entry: AuditEntry
    origin: str


class Outbox(Protocol):
    """The acts of publishing that the audit is owed."""

    def owed(self, most: int) -> Sequence[Owed]:
        """The oldest acts that are not audited yet, `most` at most."""
        ...

    def paid(self, ids: Iterable[int]) -> None:
        """These are audited."""
        ...


class NoAudit:
    """An audit that keeps nothing, for tests and for parts that are audited elsewhere."""

    def write(self, entry: AuditEntry) -> None: ...

    def close(self) -> None: ...
