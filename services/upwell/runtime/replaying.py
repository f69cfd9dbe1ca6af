"""What the commands of a distributed lake ask of its ledger beyond what the ledger itself writes.

A dead letter is replayed in three steps that never lose it, whatever ends in between: its event counts as pending
again while the letter stays (`reopen`), the event is produced, and the letter goes (`settle`) unless the event has
failed again by then.
"""

from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager
from typing import Protocol, TypeVar

import msgspec
import sqlalchemy as sa

from upwell.database import insert
from upwell.records import ChangeEvent, DocKey, Outcome, Record
from upwell.runtime.eventlog_tables import DEAD, EVENTS, REPLAYS, UNENDED

T = TypeVar("T")

AT_A_TIME = 100
"""So many letters, with their contents, are held in memory; so many ids stand in one statement."""
_DECODER = msgspec.msgpack.Decoder(ChangeEvent)


class Transactions(Protocol):
    """An event log, as far as these statements need it."""

    def transaction(self, *, read_only: bool = False) -> AbstractContextManager[sa.Connection]: ...


class Reopened(Record, frozen=True, kw_only=True):
    """A dead letter whose event is pending again."""

    id: int
    attempts: int
    event: ChangeEvent


def reopen(log: Transactions, dead_ids: Sequence[int]) -> Iterator[list[Reopened]]:
    """Some at a time: their events are pending again, the letters stay. Those without an event are passed over."""
    columns = (DEAD.c.id, DEAD.c.event_id, DEAD.c.attempts, DEAD.c.body)
    for ids in some(dead_ids):
        with log.transaction() as connection:
            chosen = sa.select(*columns).where(DEAD.c.id.in_(ids), DEAD.c.body.is_not(None)).order_by(DEAD.c.id)
            rows = connection.execute(chosen).all()
            for row in rows:
                _tried(connection, row.event_id, row.attempts)
            ended = EVENTS.c.event_id.in_([row.event_id for row in rows]), EVENTS.c.outcome == Outcome.DEAD
            connection.execute(sa.update(EVENTS).where(*ended).values(ended_at=None, outcome=None, reason=None))
        yield [Reopened(id=row.id, attempts=row.attempts, event=_DECODER.decode(row.body)) for row in rows]


def settle(log: Transactions, reopened: Sequence[Reopened]) -> None:
    """Their events are in the log again: the letters go, but for those whose events have failed again already."""
    with log.transaction() as connection:
        for letter in reopened:
            connection.execute(sa.delete(DEAD).where(DEAD.c.id == letter.id, DEAD.c.attempts == letter.attempts))


def give_back(log: Transactions, reopened: Sequence[Reopened], now: int) -> None:
    """They could not be produced: those of their events that have not ended otherwise are dead again."""
    with log.transaction() as connection:
        ids = [letter.event.event_id for letter in reopened]
        dead = {"ended_at": now, "outcome": Outcome.DEAD}
        connection.execute(sa.update(EVENTS).where(EVENTS.c.event_id.in_(ids), UNENDED).values(dead))


def pending_of(log: Transactions, key: DocKey) -> int:
    """How many accepted events of a document have not ended."""
    query = sa.select(sa.func.count()).select_from(EVENTS).where(EVENTS.c.document == key.digest, UNENDED)
    with log.transaction(read_only=True) as connection:
        return connection.execute(query).scalar_one()


def outcomes_of(log: Transactions, event_ids: Sequence[str]) -> dict[str, Outcome]:
    """event_id -> how it ended, of those that have."""
    found: dict[str, Outcome] = {}
    for ids in some(event_ids):
        query = sa.select(EVENTS.c.event_id, EVENTS.c.outcome).where(EVENTS.c.event_id.in_(ids), ~UNENDED)
        with log.transaction(read_only=True) as connection:
            found.update((event_id, Outcome(outcome)) for event_id, outcome in connection.execute(query))
    return found


def some(things: Sequence[T]) -> Iterator[Sequence[T]]:
    """Slices of at most AT_A_TIME."""
    return (things[start : start + AT_A_TIME] for start in range(0, len(things), AT_A_TIME))


def _tried(connection: sa.Connection, event_id: str, attempts: int) -> None:
    """Should it fail again, its letter counts on from here."""
    tried = {"attempts": attempts}
    connection.execute(
        insert(connection, REPLAYS)
        .values(event_id=event_id, **tried)
        .on_conflict_do_update(index_elements=["event_id"], set_=tried)
    )
