"""The embedded event log and ledger: one SQLite file that keeps every accepted event until it has ended, and how.

An event accepted is on disk (WAL, synchronous=FULL) before `append` returns, so it survives kill -9. What a source
remembers of itself (see `upwell.sources.folder.state`) lives in the same file and moves in the same transaction, so an
observation is never remembered without its events, nor the other way round.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import msgspec
import sqlalchemy as sa
from sqlalchemy.dialects.sqlite import insert

from upwell.clock import Clock, now_us
from upwell.errors import Reason, Retryable
from upwell.lake.family import child_id
from upwell.ports import ChildFault, DeadLetter, Fate
from upwell.records import ENCODER, ChangeEvent, DocKey, Lane, Op, Outcome
from upwell.runtime.backlog import Ticket
from upwell.runtime.eventlog_tables import (
    DEAD,
    END,
    EVENTS,
    FORGET_EVENTS,
    FORGET_INSIDE,
    FORGET_INSIDE_UNLESS_GONE_ON,
    GONE_ON,
    METADATA,
    REPLAYS,
    UNENDED,
)
from upwell.sqlite import open_sqlite, transaction, truncate_wal

_DECODER = msgspec.msgpack.Decoder(ChangeEvent)


class SqliteEventLog:
    """Events appended once and ended once.

    Raises Retryable when the disk is full or the file cannot be written, Misconfigured when it is damaged.
    """

    def __init__(self, path: Path, clock: Clock = now_us, tables: Iterable[sa.MetaData] = ()) -> None:
        self._engine = open_sqlite(path)
        self._clock = clock
        with self.transaction() as connection:
            for metadata in (METADATA, *tables):
                metadata.create_all(connection)

    @contextmanager
    def transaction(self, *, read_only: bool = False) -> Iterator[sa.Connection]:
        """One transaction: committed when the block ends well, rolled back when it raises."""
        with transaction(self._engine, "event log", read_only=read_only) as connection:
            yield connection

    def append(
        self, events: Sequence[ChangeEvent], also: Callable[[sa.Connection], None] | None = None
    ) -> list[Ticket]:
        """Accept events durably, with whatever `also` writes, in one transaction.

        An event_id already known is accepted and ignored. Returns the tickets of the new ones, in log order.
        """
        if not events and also is None:
            return []
        with self.transaction() as connection:
            last = connection.execute(sa.select(sa.func.coalesce(sa.func.max(EVENTS.c.seq), 0))).scalar_one()
            if events:
                rows = [self._row(event) for event in events]
                connection.execute(insert(EVENTS).on_conflict_do_nothing(index_elements=["event_id"]), rows)
            if also is not None:
                also(connection)
            return self._tickets(connection, EVENTS.c.seq > last) if events else []

    def unended(self) -> list[Ticket]:
        """Tickets of every event that has not ended, in log order: where a new owner goes on."""
        with self.transaction(read_only=True) as connection:
            return self._tickets(connection, UNENDED)

    def has_applied(self) -> bool:
        """True if any event of the log has come to something in the lake."""
        applied = sa.select(EVENTS.c.seq).where(EVENTS.c.outcome == Outcome.APPLIED).limit(1)
        with self.transaction(read_only=True) as connection:
            return connection.execute(applied).first() is not None

    def event(self, seq: int) -> ChangeEvent | None:
        """The event at this place in the log, None when it has ended."""
        with self.transaction(read_only=True) as connection:
            body = connection.execute(sa.select(EVENTS.c.body).where(EVENTS.c.seq == seq, UNENDED)).scalar_one_or_none()
        return None if body is None else _DECODER.decode(body)

    def finish(self, event: ChangeEvent, fate: Fate, faults: Sequence[ChildFault] = ()) -> None:
        """End an event; its content leaves the log, or moves to its dead letter. Ending twice changes nothing.

        `faults` are the parts of the document, as published, that get dead letters of their own.
        """
        now = self._clock()
        with self.transaction() as connection:
            end = {
                "event": event.event_id,
                "ended_at": now,
                "outcome": fate.outcome,
                "reason": fate.reason,
                "body": None,
            }
            ended = connection.execute(END, end).rowcount
            if not ended:
                return
            if fate.outcome is Outcome.DEAD:
                self._bury(connection, event.key, fate, now, event)
            elif fate.outcome is Outcome.APPLIED and event.op is not Op.ACL:
                connection.execute(FORGET_EVENTS, _named(event.key))
            if event.op is not Op.ACL:
                self._settle_children(connection, event, fate, faults, now)

    def bury(self, connection: sa.Connection, key: DocKey, fate: Fate) -> None:
        """Write, in the caller's transaction, a dead letter for what never became an event (a name, a folder entry)."""
        self._bury(connection, key, fate, self._clock(), None)

    def unbury(self, connection: sa.Connection, key: DocKey, stage: str, reason: str) -> None:
        """Forget, in the caller's transaction, the dead letter that `bury` wrote: its cause has gone."""
        same = (*_same_document(key), DEAD.c.stage == stage, DEAD.c.reason == reason, DEAD.c.event_id.is_(None))
        connection.execute(sa.delete(DEAD).where(*same))

    def dead(self, tenant: str | None = None, source: str | None = None) -> list[DeadLetter]:
        """The dead letters, oldest first."""
        columns = [DEAD.c[name] for name in DeadLetter.__struct_fields__ if name in DEAD.c]
        query = sa.select(*columns, DEAD.c.body.is_not(None).label("replayable")).order_by(DEAD.c.id)
        if tenant is not None:
            query = query.where(DEAD.c.tenant == tenant)
        if source is not None:
            query = query.where(DEAD.c.source == source)
        with self.transaction(read_only=True) as connection:
            rows = connection.execute(query).mappings().all()
        return [DeadLetter(**row) for row in rows]

    def dead_counts(self) -> dict[tuple[str, str], int]:
        """(tenant, source) -> how many dead letters it has."""
        query = sa.select(DEAD.c.tenant, DEAD.c.source, sa.func.count()).group_by(DEAD.c.tenant, DEAD.c.source)
        with self.transaction(read_only=True) as connection:
            return {(tenant, source): count for tenant, source, count in connection.execute(query)}

    def replay(self, dead_ids: Sequence[int]) -> list[Ticket]:
        """Accept the events of these dead letters again (of all, when none are named); the letters are gone then."""
        with self.transaction() as connection:
            columns = (DEAD.c.id, DEAD.c.event_id, DEAD.c.body, DEAD.c.attempts)
            chosen = sa.select(*columns).where(DEAD.c.body.is_not(None))
            rows = connection.execute(chosen.where(DEAD.c.id.in_(dead_ids)) if dead_ids else chosen).all()
            for row in rows:
                connection.execute(
                    sa.update(EVENTS)
                    .where(EVENTS.c.event_id == row.event_id)
                    .values(ended_at=None, outcome=None, reason=None, body=row.body)
                )
                tried = {"attempts": row.attempts}
                connection.execute(
                    insert(REPLAYS)
                    .values(event_id=row.event_id, **tried)
                    .on_conflict_do_update(index_elements=["event_id"], set_=tried)
                )
            connection.execute(sa.delete(DEAD).where(DEAD.c.id.in_([row.id for row in rows])))
            return self._tickets(connection, EVENTS.c.event_id.in_([row.event_id for row in rows]))

    def discard(self, dead_ids: Sequence[int]) -> int:
        """Forget these dead letters for good; their events stay ended. Returns how many there were."""
        with self.transaction() as connection:
            return connection.execute(sa.delete(DEAD).where(DEAD.c.id.in_(dead_ids))).rowcount

    def pending_counts(self) -> dict[tuple[str, str], tuple[int, int]]:
        """(tenant, source) -> (events that have not ended, when the oldest of them was received in us)."""
        query = sa.select(EVENTS.c.tenant, EVENTS.c.source, sa.func.count(), sa.func.min(EVENTS.c.received_at)).where(
            UNENDED
        )
        with self.transaction(read_only=True) as connection:
            rows = connection.execute(query.group_by(EVENTS.c.tenant, EVENTS.c.source)).all()
        return {(tenant, source): (count, oldest) for tenant, source, count, oldest in rows}

    def outcomes(self) -> dict[str, int]:
        """How many events ended how, with `pending` for those that have not."""
        outcome = sa.func.coalesce(EVENTS.c.outcome, "pending").label("outcome")
        query = sa.select(outcome, sa.func.count().label("events")).group_by(EVENTS.c.outcome)
        with self.transaction(read_only=True) as connection:
            return {row.outcome: row.events for row in connection.execute(query)}

    def erase(self, key: DocKey) -> int:
        """Forget every event and dead letter of a document that has ended; returns how many. Truncates the WAL."""
        with self.transaction() as connection:
            of_document = sa.select(EVENTS.c.event_id).where(EVENTS.c.document == key.digest)
            connection.execute(sa.delete(REPLAYS).where(REPLAYS.c.event_id.in_(of_document)))
            removed = connection.execute(
                sa.delete(EVENTS).where(EVENTS.c.document == key.digest, EVENTS.c.ended_at.is_not(None))
            ).rowcount
            removed += connection.execute(sa.delete(DEAD).where(*_same_document(key))).rowcount
            removed += connection.execute(FORGET_INSIDE, _inside(key)).rowcount
        if not truncate_wal(self._engine):
            raise Retryable("the event log is in use by a reader; its erased words leave it when that ends")
        return removed

    def close(self) -> None:
        self._engine.dispose()

    def _settle_children(
        self, connection: sa.Connection, event: ChangeEvent, fate: Fate, faults: Sequence[ChildFault], now: int
    ) -> None:
        """Dead letters of parts go with the version that had them; a document that has gone on keeps its newer ones."""
        replaced = fate.outcome is Outcome.APPLIED or fate.reason == Reason.ENCRYPTED
        if replaced:
            connection.execute(FORGET_INSIDE_UNLESS_GONE_ON, _inside(event.key) | {"event": event.event_id})
        if event.previous_key is not None and fate.outcome is not Outcome.SUPERSEDED:
            connection.execute(FORGET_INSIDE_UNLESS_GONE_ON, _inside(event.previous_key) | {"event": event.event_id})
        if faults and replaced:
            gone_on = connection.execute(GONE_ON, {"digest": event.key.digest, "event": event.event_id}).first()
            for fault in faults if gone_on is None else ():
                self._bury(connection, fault.key, fault.fate, now, None)

    @staticmethod
    def _row(event: ChangeEvent) -> dict[str, Any]:
        return {
            "event_id": event.event_id,
            "document": event.key.digest,
            "tenant": event.tenant,
            "source": event.source,
            "doc_id": event.doc_id,
            "op": event.op,
            "lane": event.lane,
            "received_at": event.received_at,
            "body": ENCODER.encode(event),
        }

    @staticmethod
    def _tickets(connection: sa.Connection, where: sa.ColumnElement[bool]) -> list[Ticket]:
        found = (EVENTS.c.seq, EVENTS.c.document, EVENTS.c.op, EVENTS.c.lane, EVENTS.c.tenant, EVENTS.c.source)
        query = sa.select(*found).where(where).order_by(EVENTS.c.seq)
        return [
            Ticket(seq=seq, document=document, op=Op(op), lane=Lane(lane), tenant=tenant, source=source)
            for seq, document, op, lane, tenant, source in connection.execute(query).all()
        ]

    @staticmethod
    def _bury(connection: sa.Connection, key: DocKey, fate: Fate, now: int, event: ChangeEvent | None) -> None:
        before = None
        if event is not None:
            tried = sa.select(REPLAYS.c.attempts).where(REPLAYS.c.event_id == event.event_id)
            before = connection.execute(tried).scalar_one_or_none()
        values = {
            "event_id": event.event_id if event else None,
            "tenant": key.tenant,
            "source": key.source,
            "doc_id": key.doc_id,
            "stage": fate.stage,
            "reason": fate.reason or "",
            "detail": fate.detail,
            "attempts": fate.attempts + (before or 0),
            "at": now,
            "body": ENCODER.encode(event) if event else None,
        }
        fresh = {name: values[name] for name in ("event_id", "detail", "attempts", "body")}
        if event is None:
            fresh = {"detail": values["detail"]}
        connection.execute(
            insert(DEAD)
            .values(values)
            .on_conflict_do_update(index_elements=["tenant", "source", "doc_id", "stage", "reason"], set_=fresh)
        )


def _named(key: DocKey) -> dict[str, str]:
    return {"of_tenant": key.tenant, "of_source": key.source, "of_doc_id": key.doc_id}


def _inside(key: DocKey) -> dict[str, str]:
    first = child_id(key.doc_id, "")
    after = first[:-1] + chr(ord(first[-1]) + 1)
    return {"of_tenant": key.tenant, "of_source": key.source, "digest": key.digest, "first": first, "after": after}


def _same_document(key: DocKey) -> tuple[sa.ColumnElement[bool], ...]:
    return DEAD.c.tenant == key.tenant, DEAD.c.source == key.source, DEAD.c.doc_id == key.doc_id
