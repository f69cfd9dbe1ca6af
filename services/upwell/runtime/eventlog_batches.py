"""Accepting and ending many events at a time: what a ledger does with what it has read of the log.

Functions on a connection, in the caller's transaction. Rows are written in the order of their ids, so that two ledgers
that write the same ones wait for each other and do not lock each other out.
"""

from collections.abc import Iterable, Sequence
from typing import Any

import sqlalchemy as sa

from upwell.database import insert
from upwell.messages import Dead, Ended
from upwell.records import ChangeEvent, DocKey, Outcome
from upwell.runtime import letterbox
from upwell.runtime.eventlog_tables import EVENTS, UNENDED

OUTCOMES = sa.select(EVENTS.c.event_id, EVENTS.c.outcome).where(
    EVENTS.c.event_id.in_(sa.bindparam("events", expanding=True))
)
_PUTS: dict[tuple[str, bool], sa.Insert] = {}


def row_of(event: ChangeEvent, body: bytes | None = None) -> dict[str, Any]:
    """An event's columns."""
    return {
        "event_id": event.event_id,
        "document": event.key.digest,
        "tenant": event.tenant,
        "source": event.source,
        "doc_id": event.doc_id,
        "op": str(event.op),
        "lane": str(event.lane),
        "received_at": event.received_at,
        "content_order": letterbox.order_of(event),
        "moved_from": event.previous_key.digest if event.previous_key else None,
        "body": body,
    }


def add(connection: sa.Connection, rows: list[dict[str, Any]]) -> None:
    """Accept events, in the order given; one that is known stays as it is."""
    connection.execute(insert(connection, EVENTS).on_conflict_do_nothing(index_elements=["event_id"]), rows)


def note(connection: sa.Connection, events: Iterable[ChangeEvent]) -> None:
    """Accept events whose content is elsewhere; one that is known stays as it is: pending, or ended."""
    rows = {event.event_id: row_of(event) for event in events}
    if rows:
        add(connection, [rows[event_id] for event_id in sorted(rows)])


def end(connection: sa.Connection, ends: Sequence[Ended | Dead]) -> None:
    """End events, also those not noted yet. Applied and superseded stand against dead, in whatever order they come."""
    settled: dict[str, Ended] = {}
    dead: dict[str, Dead] = {}
    for one in ends:
        if isinstance(one, Ended):
            if one.fate.outcome is not Outcome.DEAD:  # that one comes as a Dead, too, with what a replay needs
                settled.setdefault(one.event.event_id, one)
        elif one.event is None:
            letterbox.bury_unread(connection, one)
        else:
            dead[one.event.event_id] = one
    _upsert(connection, settled, over_dead=True)
    _upsert(connection, dead, over_dead=False)
    touched = letterbox.families(connection, (key for ended in settled.values() for key in _keys(ended.event)))
    for ended in settled.values():
        if ended.faults or not touched.isdisjoint(_keys(ended.event)):
            letterbox.settle(connection, ended.event, ended.fate, ended.at, ended.faults)
    found = connection.execute(OUTCOMES, {"events": sorted(dead)}).all() if dead else []
    for event_id, outcome in found:
        one = dead[event_id]
        if outcome == Outcome.DEAD and one.event is not None:
            letterbox.settle(connection, one.event, one.fate, one.at)


def _keys(event: ChangeEvent) -> tuple[DocKey, ...]:
    return (event.key,) if event.previous_key is None else (event.key, event.previous_key)


def _upsert(connection: sa.Connection, ends: dict[str, Any], *, over_dead: bool) -> None:
    if not ends:
        return
    connection.execute(
        _put(connection, over_dead=over_dead),
        [
            row_of(end.event) | {"ended_at": end.at, "outcome": str(end.fate.outcome), "reason": end.fate.reason}
            for _, end in sorted(ends.items())
        ],
    )


def _put(connection: sa.Connection, *, over_dead: bool) -> sa.Insert:
    """End what pends, and with `over_dead` what died too; built once."""
    wanted = (connection.dialect.name, over_dead)
    if wanted not in _PUTS:
        put = insert(connection, EVENTS)
        fresh = {name: put.excluded[name] for name in ("ended_at", "outcome", "reason", "body")}
        replaced = sa.or_(UNENDED, EVENTS.c.outcome == Outcome.DEAD) if over_dead else UNENDED
        _PUTS[wanted] = put.on_conflict_do_update(index_elements=["event_id"], set_=fresh, where=replaced)
    return _PUTS[wanted]
