"""What the commands of a distributed lake work with, as wiring puts it together."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from upwell.clock import Clock
from upwell.ports import (
    Audit,
    Blobs,
    DeadLetter,
    Directory,
    Embedder,
    EventSink,
    MembershipSink,
    NoAudit,
    Registry,
    Store,
)
from upwell.records import DocKey
from upwell.runtime.auditing import Queries
from upwell.runtime.erasing_parts import Certifying
from upwell.runtime.lazy import Lazy
from upwell.runtime.parts import ACL_MAX_AGE_US
from upwell.runtime.stream.intake import Ledger
from upwell.runtime.stream.waiting import Ends
from upwell.sources.folder.shrink import SHRINK_LIMIT


class LedgerApi(Ledger, Protocol):
    """The ledger: what was accepted, how it ended, and the dead letters."""

    def dead(self, tenant: str | None = None, source: str | None = None) -> list[DeadLetter]: ...

    def dead_counts(self) -> dict[tuple[str, str], int]: ...

    def discard(self, dead_ids: Sequence[int]) -> int: ...

    def pending_counts(self) -> dict[tuple[str, str], tuple[int, int]]: ...

    def read_through(self) -> int | None: ...

    def outcomes(self) -> dict[str, int]: ...

    def erase(self, key: DocKey) -> int: ...

    def rewrite(self) -> None: ...


@dataclass(frozen=True)
class LakeParts:
    """`name` is what `status` calls the lake; `folder` is where this machine keeps what its folders remember.

    `readers` is the registry as whoever answers askers sees it, one tenant at a time; None: as everybody does.
    `owed` counts acts that are not in the audit yet. `pipeline` raises Misconfigured for a lake that was never made.
    `ends` opens the topic `applied` at its end; `lag` says how many messages wait for each consumer group. `noted`
    takes the log's ends now and says, as often as it is asked, whether the ledger has read up to them. `certifying`
    signs certificates of erasure. A followed folder is compared as a whole every `rescan_s`. What `closers` close is
    closed last.
    """

    name: str
    folder: Path
    embedder_name: str
    pipeline: Callable[[], str]
    registry: Registry
    ledger: LedgerApi
    store: Lazy[Store]
    embedder: Lazy[Embedder]
    sink: EventSink
    memberships: MembershipSink
    directory: Directory
    blobs: Blobs
    ends: Callable[[], Ends]
    lag: Callable[[], Mapping[str, int]]
    clock: Clock
    readers: Registry | None = None
    audit: Audit = field(default_factory=NoAudit)
    owed: Callable[[], int] = lambda: 0
    acl_max_age_us: int = ACL_MAX_AGE_US
    shrink_limit: float = SHRINK_LIMIT
    audit_queries: Queries = "hash"
    certifying: Certifying | None = None
    noted: Callable[[], Callable[[], bool]] = lambda: lambda: True
    rescan_s: float = 600.0
    closers: Iterable[Callable[[], None]] = ()

    def close(self) -> None:
        """Close the store, if it was opened, and then the rest."""
        if self.store.made is not None:
            self.store.made.close()
        for close in self.closers:
            close()
