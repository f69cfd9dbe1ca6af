"""What publishing owes the audit: a line for each act, written in the act's own transaction, removed once audited.

So no crash loses one and none is audited before it has happened; publishing never waits for the audit. A line holds
no word of a document, and outlives its history when the document is erased. Lines are found by being there, never by
"number greater than the last": PostgreSQL's numbers become visible out of order.
"""

from collections.abc import Iterable, Mapping
from typing import Any

import sqlalchemy as sa

from upwell.database import transaction
from upwell.errors import Reason
from upwell.lake.changes import MOVE
from upwell.lake.schema import APPLIED, OUTBOX
from upwell.lake.statements import INSERT_APPLIED
from upwell.ports import Act, AppliedEntry, AuditEntry, Owed
from upwell.records import DocKey, Membership, Op, Outcome, ParseStatus, stable_hash

MEMBERSHIP = "membership"
"""The `op` of a line that is no document's: what was told of a principal, whose name stands in `doc_id`."""

_ACTS = {
    str(Op.UPSERT): Act.PUBLISH,
    str(Op.ACL): Act.PERMISSION,
    str(Op.DELETE): Act.DELETE,
    str(Op.ERASE): Act.ERASE,
    MOVE: Act.DELETE,
}
_CODES = frozenset(str(code) for code in (*Reason, *ParseStatus))
_COLUMNS = tuple(c.name for c in OUTBOX.columns if c.name != "id")

_INSERT = sa.insert(OUTBOX)
_ENDED = INSERT_APPLIED.returning(APPLIED.c.seq).cte("ended")
_INSERT_BOTH = sa.insert(OUTBOX).from_select(
    _COLUMNS,
    sa.select(*(sa.bindparam(name, type_=OUTBOX.c[name].type) for name in _COLUMNS)).select_from(_ENDED),
)
_OWED = sa.select(OUTBOX).order_by(OUTBOX.c.id).limit(sa.bindparam("most"))
_LENGTH = sa.select(sa.func.count()).select_from(OUTBOX)
_PAID = sa.delete(OUTBOX).where(OUTBOX.c.id.in_(sa.bindparam("ids", expanding=True)))


class SqlOutbox:
    """`ports.Outbox` in the registry's database. Raises what `SqlRegistry` raises."""

    def __init__(self, engine: sa.Engine) -> None:
        self._engine = engine

    def owed(self, most: int) -> list[Owed]:
        with transaction(self._engine, "registry", read_only=True) as connection:
            return [_owed(line) for line in connection.execute(_OWED, {"most": most}).mappings()]

    def length(self) -> int:
        """How many acts are not audited yet."""
        with transaction(self._engine, "registry", read_only=True) as connection:
            return int(connection.execute(_LENGTH).scalar_one())

    def paid(self, ids: Iterable[int]) -> None:
        with transaction(self._engine, "registry") as connection:
            connection.execute(_PAID, {"ids": list(ids)})


def put_ended(connection: sa.Connection, values: Mapping[str, object], entry: AppliedEntry) -> None:
    """The history line `values` of `entry`, and what it owes the audit; neither if the line is there."""
    both = {**values, **outbox_values(entry)}
    if connection.dialect.name == "postgresql":  # one way to the server and back
        connection.execute(_INSERT_BOTH, both)
    elif connection.execute(INSERT_APPLIED, values).rowcount:
        connection.execute(_INSERT, outbox_values(entry))


def put_act(connection: sa.Connection, entry: AppliedEntry) -> None:
    """What an act owes that ends no event."""
    connection.execute(_INSERT, outbox_values(entry))


def put_membership(connection: sa.Connection, member: Membership) -> None:
    """What a directory's change owes, in its own transaction; the groups stand in the directory."""
    line = {
        "tenant": member.tenant,
        "source": "",
        "doc_id": member.principal,
        "at": member.received_at,
        "event_id": "",
        "op": MEMBERSHIP,
        "version": member.version,
        "acl_version": -1,
        "outcome": str(Outcome.APPLIED),
        "reason": "gone" if member.gone else "",
    }
    connection.execute(_INSERT, line)


def origin_of(entry: AppliedEntry) -> str:
    """By which the audit knows the act again (`ports.Owed`)."""
    return _origin(entry.key, entry.event_id, entry.op, str(entry.outcome))


def _origin(key: DocKey, event_id: str, op: str, outcome: str) -> str:
    return stable_hash(key.canonical, event_id, op, outcome)


def outbox_values(entry: AppliedEntry) -> dict[str, object]:
    """The columns of what an act owes."""
    reason = entry.detail if entry.detail in _CODES else ""
    if entry.op == MOVE:
        reason = "moved"
    return {
        "tenant": entry.key.tenant,
        "source": entry.key.source,
        "doc_id": entry.key.doc_id,
        "at": entry.at,
        "event_id": entry.event_id,
        "op": entry.op,
        "version": entry.version,
        "acl_version": entry.acl_version,
        "outcome": str(entry.outcome),
        "reason": reason,
    }


def _owed(line: Mapping[Any, Any]) -> Owed:
    if line["op"] == MEMBERSHIP:
        return _owed_membership(line)
    key = DocKey(tenant=line["tenant"], source=line["source"], doc_id=line["doc_id"])
    act = _ACTS.get(line["op"], Act.PUBLISH)
    entry = AuditEntry(
        act=act,
        at=line["at"],
        tenant=key.tenant,
        actor=f"source:{key.source}",
        document=key,
        version=line["acl_version"] if act is Act.PERMISSION else line["version"],
        outcome=str(Outcome(line["outcome"])),
        reason=line["reason"],
    )
    return Owed(id=line["id"], entry=entry, origin=_origin(key, line["event_id"], line["op"], line["outcome"]))


def _owed_membership(line: Mapping[Any, Any]) -> Owed:
    entry = AuditEntry(
        act=Act.MEMBERSHIP,
        at=line["at"],
        tenant=line["tenant"],
        actor="directory",
        version=line["version"],
        principals=(line["doc_id"],),
        outcome=str(Outcome(line["outcome"])),
        reason=line["reason"],
    )
    return Owed(id=line["id"], entry=entry, origin=stable_hash(MEMBERSHIP, entry.tenant, line["doc_id"], entry.version))
