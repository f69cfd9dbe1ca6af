"""What the end of an event does to the dead letters: writes its own, takes away those that it makes pointless.

Functions on a connection, in the caller's transaction. They give the same letters in whatever order the ends of a
document's events come, and however often each does: what is newer is a matter of content (`order_of`), not of arrival.
"""

from collections.abc import Iterable, Sequence
from typing import Any

import sqlalchemy as sa

from upwell.database import insert
from upwell.errors import Reason
from upwell.lake.decide import RANKS
from upwell.messages import Dead
from upwell.ports import ChildFault, Fate
from upwell.records import ENCODER, ChangeEvent, DocKey, Op, Outcome
from upwell.runtime.eventlog_tables import (
    DEAD,
    FAMILIES,
    FORGET_EVENT,
    FORGET_EVENTS,
    FORGET_FAMILY,
    FORGET_PARTS_UNLESS_GONE_ON,
    GONE_ON,
    TRIED,
)

NOBODY = DocKey(tenant="", source="", doc_id="")
"""Whose letter it is when the message could not be read."""


def order_of(event: ChangeEvent) -> int:
    """A document's content events in one number: by version, ties upsert < delete < erase."""
    return event.version * 4 + RANKS.get(event.op, 0)


def families(connection: sa.Connection, keys: Iterable[DocKey]) -> frozenset[DocKey]:
    """Those of the documents that have any letter, their own or a part's."""
    known = {key.digest: key for key in keys}
    if not known:
        return frozenset()
    return frozenset(known[digest] for (digest,) in connection.execute(FAMILIES, {"digests": sorted(known)}))


def settle(
    connection: sa.Connection, event: ChangeEvent, fate: Fate, at: int, faults: Sequence[ChildFault] = ()
) -> None:
    """Bring the letters to what this end says. `faults` are the parts, as published, that get letters of their own."""
    if fate.outcome is Outcome.DEAD:
        if not _gone_on(connection, event):
            bury(connection, event.key, fate, at, event)
    else:
        connection.execute(FORGET_EVENT, {"digest": event.key.digest, "event": event.event_id})
        if fate.outcome is Outcome.APPLIED and event.op is not Op.ACL:
            connection.execute(FORGET_EVENTS, {"digest": event.key.digest, "order": order_of(event)})
    if event.op is not Op.ACL:
        _settle_parts(connection, event, fate, at, faults)


def bury(
    connection: sa.Connection,
    key: DocKey,
    fate: Fate,
    at: int,
    event: ChangeEvent | None = None,
    *,
    part_of: DocKey | None = None,
) -> None:
    """Write a letter, or refresh the one that stands for the same reason. Without an event it cannot be replayed.

    `part_of` is the document whose part `key` is.
    """
    values = _values(key, fate, at) | {"family": (part_of or key).digest}
    fresh: dict[str, Any] = {"detail": fate.detail}
    if event is not None:
        before = connection.execute(TRIED, {"event": event.event_id}).scalar_one_or_none() or 0
        fresh |= {
            "event_id": event.event_id,
            "attempts": fate.attempts + before,
            "at": at,
            "content_order": order_of(event),
            "body": ENCODER.encode(event),
        }
    _write(connection, values | fresh, fresh)


def bury_unread(connection: sa.Connection, dead: Dead) -> None:
    """Write a letter for a message that nobody could read: its bytes, and where they came from."""
    origin = dead.origin
    place = f"{origin.topic}/{origin.partition}/{origin.offset}" if origin else ""
    values = _values(NOBODY, dead.fate, dead.at) | {"origin": place, "raw": dead.raw}
    _write(connection, values, {"detail": dead.fate.detail})


def unbury(connection: sa.Connection, key: DocKey, stage: str, reason: str) -> None:
    """Forget a letter that was written without an event: its cause has gone."""
    same = (DEAD.c.document == key.digest, DEAD.c.stage == stage, DEAD.c.reason == reason)
    connection.execute(sa.delete(DEAD).where(*same, DEAD.c.event_id.is_(None)))


def forget(connection: sa.Connection, key: DocKey) -> int:
    """Forget every letter of a document and of its parts; how many there were."""
    return connection.execute(FORGET_FAMILY, {"digest": key.digest}).rowcount


def _settle_parts(
    connection: sa.Connection, event: ChangeEvent, fate: Fate, at: int, faults: Sequence[ChildFault]
) -> None:
    """Letters of parts go with the version that had them; a document that has gone on keeps its newer ones."""
    replaced = fate.outcome is Outcome.APPLIED or fate.reason == Reason.ENCRYPTED
    if replaced:
        _forget_parts(connection, event.key, order_of(event))
    if event.previous_key is not None and fate.outcome is not Outcome.SUPERSEDED:
        _forget_parts(connection, event.previous_key, order_of(event))
    if faults and replaced and not _gone_on(connection, event):
        for fault in faults:
            bury(connection, fault.key, fault.fate, at, part_of=event.key)


def _forget_parts(connection: sa.Connection, key: DocKey, order: int) -> None:
    connection.execute(FORGET_PARTS_UNLESS_GONE_ON, {"digest": key.digest, "order": order})


def _gone_on(connection: sa.Connection, event: ChangeEvent) -> bool:
    return connection.execute(GONE_ON, {"digest": event.key.digest, "order": order_of(event)}).first() is not None


def _values(key: DocKey, fate: Fate, at: int) -> dict[str, Any]:
    return {
        "document": key.digest,
        "family": key.digest,
        "tenant": key.tenant,
        "source": key.source,
        "doc_id": key.doc_id,
        "stage": fate.stage,
        "reason": fate.reason or "",
        "detail": fate.detail,
        "attempts": fate.attempts,
        "at": at,
        "origin": "",
    }


def _write(connection: sa.Connection, values: dict[str, Any], fresh: dict[str, Any]) -> None:
    once = ["document", "stage", "reason", "origin"]
    put = insert(connection, DEAD).values(values)
    connection.execute(put.on_conflict_do_update(index_elements=once, set_=fresh))
