"""Reading the audit: records as they stand in the database, page by page, whatever somebody has done to them.

Bytes, not text: a body that is no UTF-8 any more is a finding, not a failure to read.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import sqlalchemy as sa

from upwell.audit.chain import Seal
from upwell.audit.schema import AUDIT, CHECKPOINTS, SEALS, VERSION
from upwell.database import transaction
from upwell.errors import Misconfigured
from upwell.records import Record

PAGE = 1_000
NEWEST = 1


class Stored(Record, frozen=True, kw_only=True):
    """A record as it is stored. `at` is -1 where the column holds no number."""

    writer: str
    seq: int
    at: int
    body: bytes
    hash: str


class AuditTables:
    """The tables, read only; nothing is made where there are none. Raises what `database.transaction` does."""

    def __init__(self, engine: sa.Engine) -> None:
        self.engine = engine
        with self._reading() as connection:
            self._there = sa.inspect(connection).has_table(VERSION.name)
            found = connection.execute(sa.select(sa.func.max(VERSION.c.version))).scalar() if self._there else None
        if (found or 0) > NEWEST:
            raise Misconfigured(f"this audit was written by a newer version (audit schema {found}, here {NEWEST})")

    def writers(self) -> Iterator[str]:
        """Every writer that any table knows, by name."""
        last = ""
        while self._there:
            with self._reading() as connection:
                after = [
                    connection.execute(sa.select(_bytes(sa.func.min(t.c.writer), connection)).where(t.c.writer > last))
                    for t in (AUDIT, SEALS, CHECKPOINTS)
                ]
                names = [_text(name) for found in after if (name := found.scalar()) is not None]
            if not names:
                return
            if last == min(names):  # a name that somebody has made unreadable: the walk cannot get past it
                return
            last = min(names)
            yield last

    def chain(self, writer: str, after: int = -1) -> Iterator[Stored]:
        """A writer's records by number, those above `after`."""
        while True:
            with self._reading() as connection:
                query = _records(connection).where(AUDIT.c.writer == writer, AUDIT.c.seq > after)
                page = [_stored(row) for row in connection.execute(query.order_by(AUDIT.c.seq).limit(PAGE))]
            yield from page
            if len(page) < PAGE:
                return
            after = page[-1].seq

    def seals(self, writer: str, after: int, through: int) -> Iterator[Seal]:
        """A writer's seals by number, those above `after` up to `through`."""
        while True:
            with self._reading() as connection:
                query = _seals(connection, SEALS).where(
                    SEALS.c.writer == writer, SEALS.c.through_seq > after, SEALS.c.through_seq <= through
                )
                page = [_seal(row) for row in connection.execute(query.order_by(SEALS.c.through_seq).limit(PAGE))]
            yield from page
            if len(page) < PAGE:
                return
            after = page[-1].through_seq

    def last_seal(self, writer: str) -> int:
        """The number that a writer's last seal covers, -1 without one."""
        query = sa.select(sa.func.max(SEALS.c.through_seq)).where(SEALS.c.writer == writer)
        with self._reading() as connection:
            found = connection.execute(query).scalar()
        return _number(found)

    def checkpoint(self, writer: str) -> Seal | None:
        """What stands for a writer's expired records."""
        with self._reading() as connection:
            query = _seals(connection, CHECKPOINTS).where(CHECKPOINTS.c.writer == writer)
            row = connection.execute(query.order_by(CHECKPOINTS.c.through_seq.desc()).limit(1)).one_or_none()
        return None if row is None else _seal(row)

    def record(self, writer: str, seq: int) -> Stored | None:
        """One record."""
        with self._reading() as connection:
            row = connection.execute(
                _records(connection).where(AUDIT.c.writer == writer, AUDIT.c.seq == seq)
            ).one_or_none()
        return None if row is None else _stored(row)

    def by_time(self, since: int = 0, before: int | None = None) -> Iterator[Stored]:
        """Records of all writers from `since` (us) to before `before`, by time."""
        place: tuple[int, str, int] = (since, "", -1)
        order = (AUDIT.c.at, AUDIT.c.writer, AUDIT.c.seq)
        while self._there:
            with self._reading() as connection:
                query = _records(connection).where(AUDIT.c.at >= place[0], sa.tuple_(*order) > sa.tuple_(*place))
                if before is not None:
                    query = query.where(AUDIT.c.at < before)
                page = [_stored(row) for row in connection.execute(query.order_by(*order).limit(PAGE))]
            yield from page
            if len(page) < PAGE:
                return
            place = (page[-1].at, page[-1].writer, page[-1].seq)

    def last(self, most: int) -> list[Stored]:
        """The last acts of all writers, by time: without what only begins and ends chains."""
        if not self._there:
            return []
        with self._reading() as connection:
            acts = _records(connection).where(
                *(~AUDIT.c.body.startswith(f'{{"{word}":') for word in ("opens", "closes"))
            )
            order = (AUDIT.c.at.desc(), AUDIT.c.writer.desc(), AUDIT.c.seq.desc())
            return [_stored(row) for row in connection.execute(acts.order_by(*order).limit(most))][::-1]

    def close(self) -> None:
        self.engine.dispose()

    @contextmanager
    def _reading(self) -> Iterator[sa.Connection]:
        with transaction(self.engine, "audit", read_only=True) as connection:
            yield connection


def _bytes(column: sa.ColumnElement[str], connection: sa.Connection) -> sa.ColumnElement[bytes]:
    """A text column as the bytes that it is stored as."""
    if connection.dialect.name == "postgresql":
        return sa.func.convert_to(column, "UTF8", type_=sa.LargeBinary)
    return sa.cast(column, sa.LargeBinary)


def _records(connection: sa.Connection) -> sa.Select[Any]:
    texts = (_bytes(column, connection) for column in (AUDIT.c.writer, AUDIT.c.body, AUDIT.c.hash))
    return sa.select(AUDIT.c.seq, AUDIT.c.at).add_columns(*texts)


def _seals(connection: sa.Connection, table: sa.Table) -> sa.Select[Any]:
    texts = (_bytes(c, connection) for c in (table.c.writer, table.c.hash, table.c.key, table.c.signature))
    return sa.select(table.c.through_seq, table.c.sealed_at).add_columns(*texts)


def _stored(row: Any) -> Stored:
    seq, at, writer, body, digest = row
    return Stored(writer=_text(writer), seq=seq, at=_number(at), body=body or b"", hash=_text(digest))


def _seal(row: Any) -> Seal:
    through_seq, sealed_at, writer, digest, key, signature = row
    return Seal(
        writer=_text(writer),
        through_seq=through_seq,
        hash=_text(digest),
        sealed_at=_number(sealed_at),
        key=_text(key),
        signature=_text(signature),
    )


def _text(data: bytes | None) -> str:
    return (data or b"").decode(errors="backslashreplace")


def _number(value: object) -> int:
    return value if isinstance(value, int) else -1
