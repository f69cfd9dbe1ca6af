"""The parts of an open lake, as wiring puts them together: light ones at once, heavy ones when they are needed."""

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from upwell.clock import Clock
from upwell.lake.publish import Publisher
from upwell.lake.registry import SqlRegistry
from upwell.metrics import Metrics
from upwell.ports import Audit, Embedder, NoAudit, Preparer, Store
from upwell.records import Record
from upwell.runtime.auditing import Queries
from upwell.runtime.engine import Engine
from upwell.runtime.erasing_parts import Certifying
from upwell.runtime.eventlog import EventLog
from upwell.runtime.lazy import Lazy
from upwell.sources.folder.shrink import SHRINK_LIMIT

ACL_MAX_AGE_US = 86_400_000_000
"""How long a permission holds that its source cannot confirm, where no setting says."""


class Identity(Record, frozen=True, kw_only=True):
    """What a lake is made with, and refuses to be opened without: its embedder, the model's fingerprint and width, and
    the pipeline (fingerprint of model, chunker and prefixer) whose collection is searched."""

    embedder: str
    model: str
    dim: int
    pipeline: str


@dataclass
class Parts:
    """Everything that the local lake works with. `identity()` makes a new lake's; `known()` never does.

    `audit_rest` audits what was published up to the end.
    """

    folder: Path
    owner: str
    embedder_name: str
    clock: Clock
    log: EventLog
    registry: SqlRegistry
    metrics: Lazy[Metrics]
    known: Callable[[], Identity | None]
    identity: Lazy[Identity]
    store: Lazy[Store]
    embedder: Lazy[Embedder]
    preparer: Lazy[Preparer]
    publisher: Lazy[Publisher]
    engine: Engine
    audit: Audit = field(default_factory=NoAudit)
    audit_rest: Callable[[], None] = lambda: None
    acl_max_age_us: int = ACL_MAX_AGE_US
    shrink_limit: float = SHRINK_LIMIT
    audit_queries: Queries = "hash"
    certifying: Certifying | None = None
    followed: set[tuple[str, str]] = field(default_factory=set)
    closers: list[Callable[[], None]] = field(default_factory=list)

    def close(self) -> None:
        """Let what is being published end, then close from the top down. A parse in hand is not waited for: its event
        stays in the log.
        """
        self.engine.stop()
        while not self.engine.ended(within_s=0.1):
            if self.preparer.made is not None:
                self.preparer.made.close()
        for lazy in (self.preparer, self.store):
            if lazy.made is not None:
                lazy.made.close()
        self.audit_rest()
        self.audit.close()
        self.registry.close()
        self.log.close()
        for close in self.closers:
            close()
