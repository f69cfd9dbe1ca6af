"""What the event log still holds of documents: found by document, source or tenant, counted, and forgotten.

Functions over a log's transactions, the same for the embedded log and for the ledger of a distributed lake.
"""

from collections.abc import Iterable

import sqlalchemy as sa

from upwell.records import DocKey, Record
from upwell.runtime import looks
from upwell.runtime.eventlog_tables import DEAD, EVENTS, REPLAYS, UNENDED
from upwell.runtime.replaying import Transactions, some
from upwell.sources.folder import state


class LogTraces(Record, frozen=True, kw_only=True):
    """How many events of some documents the log knows, how many of them have not ended, and the dead letters."""

    events: int = 0
    pending: int = 0
    letters: int = 0


def known_keys(log: Transactions, tenant: str, source: str | None = None) -> set[DocKey]:
    """The documents of a tenant (of one source) that have an event or a dead letter; a part's letter is its whole's."""
    found: set[DocKey] = set()
    for table, whole in ((EVENTS, sa.true()), (DEAD, DEAD.c.document == DEAD.c.family)):
        query = sa.select(table.c.tenant, table.c.source, table.c.doc_id).distinct()
        with log.transaction(read_only=True) as connection:
            rows = connection.execute(query.where(_place(table, tenant, source), whole)).mappings()
            found.update(DocKey(**row) for row in rows)
    return found


def traces(log: Transactions, keys: Iterable[DocKey]) -> LogTraces:
    """What there is of these documents and their parts."""
    events = pending = letters = 0
    for digests in some(sorted(key.digest for key in keys)):
        mine = EVENTS.c.document.in_(digests)
        count = sa.select(sa.func.count(), sa.func.count().filter(UNENDED)).select_from(EVENTS).where(mine)
        buried = sa.select(sa.func.count()).select_from(DEAD).where(DEAD.c.family.in_(digests))
        with log.transaction(read_only=True) as connection:
            all_of_them, unended = connection.execute(count).one()
            letters += connection.execute(buried).scalar_one()
        events, pending = events + all_of_them, pending + unended
    return LogTraces(events=events, pending=pending, letters=letters)


def forget(log: Transactions, keys: Iterable[DocKey]) -> LogTraces:
    """Forget the events of these documents that have ended, and every dead letter; how many there were."""
    events = letters = 0
    for digests in some(sorted(key.digest for key in keys)):
        with log.transaction() as connection:
            found = _forget(connection, EVENTS.c.document.in_(digests), DEAD.c.family.in_(digests))
        events, letters = events + found[0], letters + found[1]
    return LogTraces(events=events, letters=letters)


def forget_place(log: Transactions, tenant: str, source: str | None = None) -> LogTraces:
    """The same for all of a source or a tenant, with what never became a document: a name that cannot be one."""
    with log.transaction() as connection:
        events, letters = _forget(connection, _place(EVENTS, tenant, source), _place(DEAD, tenant, source))
    return LogTraces(events=events, letters=letters)


def remembered(memory: Transactions, keys: Iterable[DocKey]) -> int:
    """How many of these documents a folder's source here remembers."""
    wanted = {(key.tenant, key.source, key.doc_id) for key in keys}
    table, found = state.DOCUMENTS, 0
    for places in some(sorted(wanted)):
        same = sa.tuple_(table.c.tenant, table.c.source, table.c.doc_id).in_(list(places))
        with memory.transaction(read_only=True) as connection:
            found += connection.execute(sa.select(sa.func.count()).select_from(table).where(same)).scalar_one()
    return found


def forget_folders(memory: Transactions, tenant: str, source: str | None = None) -> int:
    """Forget what folders' sources remember and last had to say; how many files, names and notices that was."""
    tables = (state.DOCUMENTS, state.ACCESS, state.FAULTS, state.HELD, state.FOLDERS, looks.LOOKS)
    with memory.transaction() as connection:
        return sum(connection.execute(sa.delete(one).where(_place(one, tenant, source))).rowcount for one in tables)


def folders_of(memory: Transactions, tenant: str, source: str | None = None) -> int:
    """How many files, names and notices `forget_folders` would forget."""
    tables = (state.DOCUMENTS, state.ACCESS, state.FAULTS, state.HELD, state.FOLDERS, looks.LOOKS)
    with memory.transaction(read_only=True) as connection:
        counts = (sa.select(sa.func.count()).select_from(one).where(_place(one, tenant, source)) for one in tables)
        return sum(connection.execute(count).scalar_one() for count in counts)


def _forget(
    connection: sa.Connection, events: sa.ColumnElement[bool], letters: sa.ColumnElement[bool]
) -> tuple[int, int]:
    ended = sa.select(EVENTS.c.event_id).where(events, ~UNENDED)
    connection.execute(sa.delete(REPLAYS).where(REPLAYS.c.event_id.in_(ended)))
    gone = connection.execute(sa.delete(EVENTS).where(events, ~UNENDED)).rowcount
    return gone, connection.execute(sa.delete(DEAD).where(letters)).rowcount


def _place(table: sa.Table, tenant: str, source: str | None) -> sa.ColumnElement[bool]:
    same = table.c.tenant == tenant
    return same if source is None else sa.and_(same, table.c.source == source)
