"""The two databases as one: an engine by URL or path, a transaction, its errors, text that any of them can hold.

A transaction with `read_only` sees one snapshot from its first statement to its last, on SQLite and PostgreSQL alike.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import Any

import sqlalchemy as sa
from sqlalchemy.dialects import postgresql, sqlite

from upwell.errors import Misconfigured, Retryable
from upwell.postgres import check_server, is_postgres_url, open_postgres, postgres_fault
from upwell.sqlite import open_sqlite, sqlite_fault, writers_turn

READ_ONLY: Mapping[str, dict[str, Any]] = {
    "sqlite": {"read_only": True},
    "postgresql": {"isolation_level": "REPEATABLE READ", "postgresql_readonly": True},
}
READ_WRITE: Mapping[str, dict[str, Any]] = {"sqlite": {"read_only": False}, "postgresql": {}}
AUTOCOMMIT: dict[str, Any] = {"isolation_level": "AUTOCOMMIT"}
MIGRATION_LOCK = 0x7570_7765_6C6C  # "upwell": whoever migrates holds it, so that processes may start together

Number = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
"""64 bits on both (SQLite numbers rows by a column of type INTEGER alone)."""

_MARK = "\U0010ffff"
_SURROGATE = re.compile("[\ud800-\udfff]")


def storable(value: str) -> str:
    """What is stored for a text; `Text` does so by itself."""
    if value.isascii() and "\0" not in value:
        return value
    return _SURROGATE.sub("\ufffd", value).replace(_MARK, _MARK + "1").replace("\0", _MARK + "0")


class Text(sa.types.TypeDecorator[str]):
    """Text that comes back as it was written, ordered bytewise by its UTF-8 on every database.

    PostgreSQL holds no NUL: it is stored as a noncharacter and a digit. A lone surrogate, which is no character at all,
    becomes U+FFFD.
    """

    impl = sa.String
    cache_ok = True

    def load_dialect_impl(self, dialect: sa.Dialect) -> sa.types.TypeEngine[str]:
        return dialect.type_descriptor(sa.String(collation="C" if dialect.name == "postgresql" else None))

    def process_bind_param(self, value: str | None, dialect: sa.Dialect) -> str | None:  # noqa: ARG002
        return None if value is None else storable(value)

    def process_result_value(self, value: str | None, dialect: sa.Dialect) -> str | None:  # noqa: ARG002
        if value is None or _MARK not in value:
            return value
        return value.replace(_MARK + "0", "\0").replace(_MARK + "1", _MARK)


_CONFINED = sa.text(
    "SELECT set_config('upwell.reading', 'on', true), set_config('upwell.tenant', :tenant, true)"
).bindparams(sa.bindparam("tenant", type_=Text()))
"""Said in each transaction, so that it holds behind a connection pooler too."""


def open_database(where: Path | str, name: str = "upwell") -> sa.Engine:
    """An engine on a `postgresql://` URL, or on the SQLite file at a path. Raises Misconfigured for another URL."""
    text = str(where)
    if isinstance(where, str) and is_postgres_url(text):
        return open_postgres(text, name)
    if isinstance(where, str) and "://" in text:
        raise Misconfigured(f"registry: no database is known for {text.partition('://')[0]}://; take postgresql://")
    return open_sqlite(Path(where))


@contextmanager
def transaction(
    engine: sa.Engine, what: str, *, read_only: bool = False, single: bool = False, tenant: str | None = None
) -> Iterator[sa.Connection]:
    """One transaction: committed when the block ends well, rolled back when it raises. Errors as `mapped` has them.

    A block of a `single` statement is a transaction by that alone: a server is not told of a begin and an end, and is
    asked once instead of three times. A confined session is, for it names its tenant first.

    `tenant` is whose rows it may see where sessions are confined to one (`lake.isolation`); there, None sees none.
    """
    confined = engine.get_execution_options().get("confined", False)
    options = (READ_ONLY if read_only else READ_WRITE)[engine.dialect.name]
    if single and not confined and engine.dialect.name == "postgresql":
        options = AUTOCOMMIT
    with mapped(what), nullcontext() if read_only else writers_turn(engine, what), engine.connect() as plain:
        connection = plain.execution_options(**options)
        with connection.begin():
            if confined:
                connection.execute(_CONFINED, {"tenant": tenant or ""})
            yield connection


@contextmanager
def mapped(what: str) -> Iterator[None]:
    """The vendors' errors as ours, with `what` as the name of the database.

    Raises Retryable while it cannot be used (locked, away, overloaded, disk full), Misconfigured when it is damaged or
    refuses us, Rejected for a value that it cannot hold. A violated constraint passes through: what it means is the
    caller's to say.
    """
    try:
        yield
    except sa.exc.IntegrityError:
        raise
    except sa.exc.DBAPIError as e:
        vendor = type(e.orig).__module__.partition(".")[0]
        raise (postgres_fault if vendor == "psycopg" else sqlite_fault)(e, what) from e
    except sa.exc.TimeoutError as e:
        raise Retryable(f"the {what} cannot be used now: every connection is in use") from e


def insert(connection: sa.Connection, table: sa.Table) -> "postgresql.Insert | sqlite.Insert":
    """An insert that knows `on_conflict_do_nothing` and `on_conflict_do_update`, which both databases spell alike."""
    return postgresql.insert(table) if connection.dialect.name == "postgresql" else sqlite.insert(table)


Migration = Callable[[sa.Connection], None]


def migrate(
    connection: sa.Connection,
    versions: sa.Table,
    tables: sa.MetaData,
    steps: Mapping[int, Migration],
    *,
    what: str,
    founders: str | None = None,
) -> None:
    """Bring the tables to the newest schema: made whole when there are none, else step by step from what is there.

    `steps` are keyed by the schema that they lead to, from 2 on; with none, the newest schema is 1. `founders` is a
    table that schema 1 had before schemas were numbered. One process migrates at a time, others wait for it. Raises
    Misconfigured for tables that a newer version has written.
    """
    if connection.dialect.name == "postgresql":
        check_server(connection)
        connection.execute(sa.select(sa.func.pg_advisory_xact_lock(MIGRATION_LOCK)))
    newest = max(steps, default=1)
    inspector = sa.inspect(connection)
    unnumbered = founders is not None and not inspector.has_table(versions.name) and inspector.has_table(founders)
    versions.create(connection, checkfirst=True)
    highest = sa.func.coalesce(sa.func.max(versions.c.version), int(unnumbered))
    found = connection.execute(sa.select(highest)).scalar_one()
    if found > newest:
        raise Misconfigured(f"this lake was written by a newer version ({what} schema {found}, here {newest})")
    if found == 0:
        tables.create_all(connection)
        connection.execute(sa.insert(versions).values(version=newest))
    for version in range(max(found, 1) + 1, newest + 1) if found else ():
        steps[version](connection)
        connection.execute(sa.insert(versions).values(version=version))
