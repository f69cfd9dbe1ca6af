"""Tenants kept apart by the database itself: row security in PostgreSQL, beside every query's own condition.

A session that reads for askers says so (`confine`), and each of its transactions names one tenant
(`database.transaction`): it sees that tenant's rows and no others, whatever its statements say, and none at all before
it has named one. Sessions of workers say nothing and see everything. The owner of the tables is bound like anybody
(FORCE); superusers and roles with BYPASSRLS are not, so neither may be what a service logs in as.

Row security: https://www.postgresql.org/docs/15/ddl-rowsecurity.html. A sub-select without a reference to the row is
run once a statement, not once a row.
"""

from collections.abc import Iterable
from typing import Any

import sqlalchemy as sa

READING = "upwell.reading"
"""The setting of a session that reads for askers: `on`."""

_FREE = f"(SELECT current_setting('{READING}', true)) IS DISTINCT FROM 'on'"  # noqa: S608 names of ours alone
_TENANT = "(SELECT nullif(current_setting('upwell.tenant', true), ''))"
_OWN = f"tenant = {_TENANT}"
_OF_DOCUMENT = f"EXISTS (SELECT 1 FROM documents AS d WHERE d.doc = {{table}}.doc AND d.tenant = {_TENANT})"  # noqa: S608
_NOBODY = "false"

POLICIES = {
    "documents": _OWN,
    "browsing": _OWN,
    "principals": _OWN,
    "member_of": _OWN,
    "directories": _OWN,
    "acl_names": _OWN,
    "manifests": _OF_DOCUMENT,
    "chunks": _OF_DOCUMENT,
    "applied": _OF_DOCUMENT,
    "links": _OF_DOCUMENT,
    "outbox": _NOBODY,
}
"""By table: which rows a reading session sees. Those that are not here belong to no tenant."""


def secure(connection: sa.Connection, tables: Iterable[str]) -> None:
    """Put the policies on these tables. SQLite knows none: a lake in a file has one owner, who may read it whole."""
    if connection.dialect.name != "postgresql":
        return
    for table in tables:
        if table in POLICIES:
            visible = POLICIES[table].format(table=table)
            for statement in (
                f"ALTER TABLE {table} ENABLE ROW LEVEL SECURITY",
                f"ALTER TABLE {table} FORCE ROW LEVEL SECURITY",
                f"CREATE POLICY upwell_reading ON {table} USING ({_FREE} OR {visible})",
            ):
                connection.exec_driver_sql(statement)


def secure_created(_metadata: sa.MetaData, connection: sa.Connection, tables: list[sa.Table], **_: Any) -> None:
    """Put the policies on tables as they are made."""
    secure(connection, [table.name for table in tables])


def confine(engine: sa.Engine) -> None:
    """Make every session of this engine one that reads for askers, read-only. Nothing happens for SQLite."""
    if engine.dialect.name != "postgresql":
        return
    engine.update_execution_options(confined=True)

    @sa.event.listens_for(engine, "connect")
    def _say_so(connection: Any, _record: Any) -> None:
        for statement in (f"SET {READING} = 'on'", "SET default_transaction_read_only = on"):
            connection.execute(statement)
        connection.commit()
