"""The event log and ledger: every accepted event, until it has ended, and how.

Embedded it is one SQLite file and keeps each event whole until it ends: an event accepted is on disk (WAL,
synchronous=FULL) before `append` returns, so it survives kill -9. What a source remembers of itself (see
`upwell.sources.folder.state`) lives in the same file and moves in the same transaction, so an observation is never
remembered without its events, nor the other way round. Distributed, Kafka is the log, and this is the ledger beside the
registry: it `note`s what was accepted, without content, and hears how it `end`ed, in any order.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import msgspec
import sqlalchemy as sa

from upwell.clock import Clock, now_us
from upwell.database import insert, mapped, open_database, transaction
from upwell.errors import Retryable
from upwell.grouped import GroupedWrites
from upwell.messages import Dead, Ended
from upwell.ports import ChildFault, DeadLetter, Fate
from upwell.records import ENCODER, ChangeEvent, DocKey, Lane, Op, Outcome
from upwell.runtime import letterbox
from upwell.runtime.backlog import Ticket
from upwell.runtime.eventlog_batches import add, end, note, row_of
from upwell.runtime.eventlog_schema import bring_forward
from upwell.runtime.eventlog_tables import DEAD, END, EVENTS, READ, REPLAYS, UNENDED
from upwell.sqlite import rewritten, truncate_wal

_DECODER = msgspec.msgpack.Decoder(ChangeEvent)
NAME = "event log"
LEDGER = "ledger"
"""What the ledger of a lake is called in `ledger_read`."""


class EventLog:
    """Events accepted once and ended once.

    Raises Retryable while the database cannot be used (away, locked, disk full), Misconfigured when it is damaged,
    refuses us, or was written by a newer version.
    """

    def __init__(self, engine: sa.Engine, clock: Clock = now_us, tables: Iterable[sa.MetaData] = ()) -> None:
        self._engine = engine
        self._clock = clock
        self._grouped = GroupedWrites(self.transaction)
        try:
            with self.transaction() as connection:
                bring_forward(connection)
                for metadata in tables:
                    metadata.create_all(connection)
        except BaseException:
            engine.dispose()
            raise

    @classmethod
    def at(cls, where: Path | str, clock: Clock = now_us, tables: Iterable[sa.MetaData] = ()) -> "EventLog":
        """The log at a `postgresql://` URL or in the SQLite file at a path, its tables made or brought forward."""
        return cls(open_database(where, "upwell ledger"), clock, tables)

    @contextmanager
    def transaction(self, *, read_only: bool = False) -> Iterator[sa.Connection]:
        """One transaction: committed when the block ends well, rolled back when it raises."""
        with transaction(self._engine, NAME, read_only=read_only) as connection:
            yield connection

    def append(
        self, events: Sequence[ChangeEvent], also: Callable[[sa.Connection], None] | None = None
    ) -> list[Ticket]:
        """Accept events durably, with whatever `also` writes, in one transaction (embedded: one writer at a time).

        An event_id already known is accepted and ignored. Returns the tickets of the new ones, in log order.
        """
        if not events and also is None:
            return []
        with self.transaction() as connection:
            last = connection.execute(sa.select(sa.func.coalesce(sa.func.max(EVENTS.c.seq), 0))).scalar_one()
            if events:
                add(connection, [row_of(event, ENCODER.encode(event)) for event in events])
            if also is not None:
                also(connection)
            return _tickets(connection, EVENTS.c.seq > last) if events else []

    def note(self, events: Iterable[ChangeEvent]) -> None:
        """Accept events whose content is elsewhere. One that is known stays as it is: pending, or ended."""
        with self.transaction() as connection:
            note(connection, events)

    def unended(self) -> list[Ticket]:
        """Tickets of every event that has not ended, in log order: where a new owner goes on."""
        with self.transaction(read_only=True) as connection:
            return _tickets(connection, UNENDED)

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
        values = {"ended_at": now, "outcome": fate.outcome, "reason": fate.reason, "body": None}

        def put(connection: sa.Connection) -> None:
            if connection.execute(END, {"event": event.event_id, **values}).rowcount:
                letterbox.settle(connection, event, fate, now, faults)

        self._grouped(put)

    def end(self, ends: Sequence[Ended | Dead], accepted: Iterable[ChangeEvent] = ()) -> None:
        """Note what was `accepted` and end events as their workers said, all in one transaction.

        In any order, before their acceptance too, and as often as they like: applied and superseded stand against dead,
        and take its letter away. A dead end counts when its `Dead` comes, which carries the event.
        """
        with self.transaction() as connection:
            note(connection, accepted)
            end(connection, ends)

    def bury(self, connection: sa.Connection, key: DocKey, fate: Fate) -> None:
        """Write, in the caller's transaction, a dead letter for what never became an event (a name, a folder entry)."""
        letterbox.bury(connection, key, fate, self._clock())

    def unbury(self, connection: sa.Connection, key: DocKey, stage: str, reason: str) -> None:
        """Forget, in the caller's transaction, the dead letter that `bury` wrote: its cause has gone."""
        letterbox.unbury(connection, key, stage, reason)

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

    def raw(self, dead_id: int) -> bytes | None:
        """The bytes of a message that nobody could read; None for another letter."""
        with self.transaction(read_only=True) as connection:
            return connection.execute(sa.select(DEAD.c.raw).where(DEAD.c.id == dead_id)).scalar_one_or_none()

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
                    insert(connection, REPLAYS)
                    .values(event_id=row.event_id, **tried)
                    .on_conflict_do_update(index_elements=["event_id"], set_=tried)
                )
            connection.execute(sa.delete(DEAD).where(DEAD.c.id.in_([row.id for row in rows])))
            return _tickets(connection, EVENTS.c.event_id.in_([row.event_id for row in rows]))

    def discard(self, dead_ids: Sequence[int]) -> int:
        """Forget these dead letters for good; their events stay ended. Returns how many there were."""
        with self.transaction() as connection:
            return connection.execute(sa.delete(DEAD).where(DEAD.c.id.in_(dead_ids))).rowcount

    def pending_counts(self) -> dict[tuple[str, str], tuple[int, int]]:
        """(tenant, source) -> (events that have not ended, when the oldest of them was received in us)."""
        counts = (sa.func.count(), sa.func.min(EVENTS.c.received_at))
        query = sa.select(EVENTS.c.tenant, EVENTS.c.source, *counts).where(UNENDED)
        with self.transaction(read_only=True) as connection:
            rows = connection.execute(query.group_by(EVENTS.c.tenant, EVENTS.c.source)).all()
        return {(tenant, source): (count, oldest) for tenant, source, count, oldest in rows}

    def note_read(self, through: int) -> None:
        """The ledger has read all that was accepted before then (us)."""
        values = {"ledger": LEDGER, "through": through}
        with self.transaction() as connection:
            noted = insert(connection, READ).values(values)
            connection.execute(noted.on_conflict_do_update(index_elements=["ledger"], set_={"through": through}))

    def read_through(self) -> int | None:
        """See `note_read`; None while no ledger has ever caught up."""
        with self.transaction(read_only=True) as connection:
            return connection.execute(sa.select(READ.c.through).where(READ.c.ledger == LEDGER)).scalar_one_or_none()

    def overdue(self, before: int) -> dict[tuple[str, str], int]:
        """(tenant, source) -> how many events received before then (us) have not ended."""
        late = sa.select(EVENTS.c.tenant, EVENTS.c.source, sa.func.count()).where(
            UNENDED, EVENTS.c.received_at < before
        )
        with self.transaction(read_only=True) as connection:
            rows = connection.execute(late.group_by(EVENTS.c.tenant, EVENTS.c.source)).all()
        return {(tenant, source): count for tenant, source, count in rows}

    def outcomes(self) -> dict[str, int]:
        """How many events ended how, with `pending` for those that have not."""
        outcome = sa.func.coalesce(EVENTS.c.outcome, "pending").label("outcome")
        query = sa.select(outcome, sa.func.count().label("events")).group_by(EVENTS.c.outcome)
        with self.transaction(read_only=True) as connection:
            return {row.outcome: row.events for row in connection.execute(query)}

    def erase(self, key: DocKey) -> int:
        """Forget every event and dead letter of a document that has ended; returns how many.

        In SQLite their bytes leave the file and its log at once; PostgreSQL's own vacuum takes them in its time.
        """
        with self.transaction() as connection:
            of_document = sa.select(EVENTS.c.event_id).where(EVENTS.c.document == key.digest)
            connection.execute(sa.delete(REPLAYS).where(REPLAYS.c.event_id.in_(of_document)))
            ended = (EVENTS.c.document == key.digest, EVENTS.c.ended_at.is_not(None))
            removed = connection.execute(sa.delete(EVENTS).where(*ended)).rowcount + letterbox.forget(connection, key)
        if self._engine.dialect.name == "sqlite" and not truncate_wal(self._engine):
            raise Retryable(f"the {NAME} is in use by a reader; its erased words leave it when that ends")
        return removed

    def rewrite(self) -> None:
        """Leave no byte of what was deleted in SQLite's file; a server's pages are its own. Raises Retryable while a
        reader holds the file's log."""
        with mapped(NAME):
            if self._engine.dialect.name == "sqlite" and not rewritten(self._engine):
                raise Retryable(f"the {NAME} is in use by a reader; its erased words leave it when that ends")

    def close(self) -> None:
        self._engine.dispose()


def _tickets(connection: sa.Connection, where: sa.ColumnElement[bool]) -> list[Ticket]:
    found = (EVENTS.c.seq, EVENTS.c.document, EVENTS.c.op, EVENTS.c.lane, EVENTS.c.tenant, EVENTS.c.source)
    query = sa.select(*found).where(where).order_by(EVENTS.c.seq)
    return [
        Ticket(seq=seq, document=document, op=Op(op), lane=Lane(lane), tenant=tenant, source=source)
        for seq, document, op, lane, tenant, source in connection.execute(query).all()
    ]
