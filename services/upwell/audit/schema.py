"""The audit's tables for SQLite and PostgreSQL, which take no change: the database itself refuses UPDATE and DELETE.

Only what a checkpoint stands for may go (retention): first the checkpoint is written, then the records up to it.
"""

from collections.abc import Mapping

import sqlalchemy as sa

from upwell.database import Migration, Text

METADATA = sa.MetaData()

VERSION = sa.Table("audit_schema_version", METADATA, sa.Column("version", sa.Integer, nullable=False))

AUDIT = sa.Table(
    "audit",
    METADATA,
    sa.Column("writer", Text, primary_key=True),
    sa.Column("seq", sa.BigInteger, primary_key=True),
    sa.Column("at", sa.BigInteger, nullable=False),
    sa.Column("body", Text, nullable=False),
    sa.Column("hash", Text, nullable=False),
    sa.Column("origin", Text),
    sa.Index("audit_at", "at"),
    sqlite_with_rowid=False,
)
"""`origin` is no evidence: it keeps one act from being written down twice."""

sa.Index(
    "audit_origin",
    AUDIT.c.origin,
    unique=True,
    sqlite_where=AUDIT.c.origin.is_not(None),
    postgresql_where=AUDIT.c.origin.is_not(None),
)


def _sealing(name: str) -> sa.Table:
    return sa.Table(
        name,
        METADATA,
        sa.Column("writer", Text, primary_key=True),
        sa.Column("through_seq", sa.BigInteger, primary_key=True),
        sa.Column("hash", Text, nullable=False),
        sa.Column("sealed_at", sa.BigInteger, nullable=False),
        sa.Column("key", Text, nullable=False),
        sa.Column("signature", Text, nullable=False),
        sa.Index(f"{name}_at", "sealed_at"),
    )


SEALS = _sealing("audit_seals")
CHECKPOINTS = _sealing("audit_checkpoints")
"""What stands for records that have expired, and is kept for good."""

_NUMBERS = {AUDIT: "seq", SEALS: "through_seq", CHECKPOINTS: None}
"""By which column a checkpoint tells what it stands for; a checkpoint itself never goes."""

_COVERED = "EXISTS (SELECT 1 FROM audit_checkpoints c WHERE c.writer = OLD.writer AND c.through_seq >= OLD.{number})"

_REPLACED = """CREATE TRIGGER {table}_no_replace BEFORE INSERT ON {table}
WHEN EXISTS (SELECT 1 FROM {table} t WHERE t.writer = NEW.writer AND t.{number} = NEW.{number})
BEGIN SELECT RAISE(ABORT, 'audit: records are never replaced'); END"""
"""SQLite's INSERT OR REPLACE deletes without asking the triggers of DELETE."""

_KEPT = """CREATE TRIGGER {table}_no_{verb} BEFORE {verb} ON {table} {when}
BEGIN SELECT RAISE(ABORT, 'audit: records are never changed'); END"""

_REFUSE = """CREATE OR REPLACE FUNCTION {table}_refuse() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP = 'DELETE' THEN
    IF {expired} THEN RETURN OLD; END IF;
  END IF;
  RAISE EXCEPTION 'audit: records are never changed' USING ERRCODE = 'insufficient_privilege';
END $$"""

_REFUSED = """CREATE TRIGGER {table}_no_{what} BEFORE {verbs} ON {table}
FOR EACH {each} EXECUTE FUNCTION {table}_refuse()"""


def _guard(table: sa.Table, number: str | None) -> list[tuple[str, str]]:
    """The statements that make a table append-only, each with the database that it is for."""
    name = table.name
    covered = _COVERED.format(number=number)
    when = "" if number is None else f"WHEN NOT {covered}"
    numbered = _REPLACED.format(table=name, number=number or "through_seq")
    return [
        ("sqlite", numbered),
        ("sqlite", _KEPT.format(table=name, verb="UPDATE", when="")),
        ("sqlite", _KEPT.format(table=name, verb="DELETE", when=when)),
        ("postgresql", _REFUSE.format(table=name, expired="false" if number is None else covered)),
        ("postgresql", _REFUSED.format(table=name, what="change", verbs="UPDATE OR DELETE", each="ROW")),
        ("postgresql", _REFUSED.format(table=name, what="truncate", verbs="TRUNCATE", each="STATEMENT")),
    ]


for _table, _number in _NUMBERS.items():
    for _dialect, _statement in _guard(_table, _number):
        _ddl = sa.DDL(_statement)  # type: ignore[no-untyped-call]
        sa.event.listen(METADATA, "after_create", _ddl.execute_if(dialect=_dialect))

STEPS: Mapping[int, Migration] = {}
"""What brings an audit to each schema, from 2 on."""
