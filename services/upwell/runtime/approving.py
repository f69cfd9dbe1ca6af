"""What a person says of deletes that wait: they pass, or their documents stay. It is written down, then carried out by
whoever scans the folder.
"""

from pathlib import Path

import sqlalchemy as sa

from upwell.answers import WaitingDeletes
from upwell.clock import rfc3339
from upwell.config import login_name
from upwell.ports import Act, Audit, AuditEntry
from upwell.records import DocKey, Record
from upwell.runtime import looks
from upwell.sources.folder import state
from upwell.sources.folder.records import Verdict
from upwell.sources.folder.shrink import CODES

ALL = "*"
"""In an audit's record: all documents of the source whose deletion waits."""


class Decided(Record, frozen=True, kw_only=True):
    """A folder of whose waiting deletes somebody has decided, and what they were."""

    folder: Path
    owner: str
    deletes: WaitingDeletes


def decide(
    connection: sa.Connection, audit: Audit, now: int, *, tenant: str, source: str | None, discard: bool
) -> tuple[Decided, ...]:
    """Write down what becomes of all deletes that wait, of the tenant's folders or of one, in the caller's transaction.

    What to say of them is forgotten with it: it no longer holds. Raises Retryable, and nothing is decided, when it
    cannot be audited.
    """
    owners = {(known, name): owner for known, name, _, owner in state.bound(connection)}
    found = tuple(
        Decided(
            folder=Path(path),
            owner=owners[tenant, name],
            deletes=WaitingDeletes(tenant=tenant, source=name, documents=count, since=rfc3339(since) or ""),
        )
        for name, path, count, since in state.waiting(connection, tenant, source)
    )
    for one in found:
        name = one.deletes.source
        state.decide(connection, tenant, name, Verdict.STAYS if discard else Verdict.PASSES)
        looks.quiet(connection, tenant, name, CODES)
        audit.write(
            AuditEntry(
                act=Act.APPROVE,
                at=now,
                tenant=tenant,
                actor=f"operator:{login_name()}",
                via="cli",
                document=DocKey(tenant=tenant, source=name, doc_id=ALL),
                reason="discarded" if discard else "",
            )
        )
    return found
