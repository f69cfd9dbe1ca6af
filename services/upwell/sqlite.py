"""SQLite as every file of the lake wants it: durable at each commit, many readers, one writer, nothing left behind."""

from pathlib import Path
from typing import Any

import sqlalchemy as sa

PRAGMAS = ("journal_mode=WAL", "synchronous=FULL", "secure_delete=ON", "foreign_keys=ON")
BUSY_TIMEOUT_S = 30


def open_sqlite(path: Path) -> sa.Engine:
    """An engine on a SQLite file: WAL, an fsync a commit, deleted bytes overwritten.

    A transaction takes the writer's place at its start (BEGIN IMMEDIATE), so it never fails half-way for want of it;
    with the execution option `read_only` it takes a snapshot instead.
    """
    engine = sa.create_engine(
        f"sqlite:///{path}",
        connect_args={"timeout": BUSY_TIMEOUT_S, "check_same_thread": False},
        hide_parameters=True,  # parameters hold document text, and errors go to logs
    )

    @sa.event.listens_for(engine, "connect")
    def _configure(connection: Any, _record: Any) -> None:
        connection.isolation_level = None
        for pragma in PRAGMAS:
            connection.execute(f"PRAGMA {pragma}")

    @sa.event.listens_for(engine, "begin")
    def _begin(connection: sa.Connection) -> None:
        read_only = connection.get_execution_options().get("read_only", False)
        connection.exec_driver_sql("BEGIN" if read_only else "BEGIN IMMEDIATE")

    return engine


def truncate_wal(engine: sa.Engine) -> None:
    """Move the write-ahead log into the file and cut it to nothing, so that no deleted text stays in it."""
    raw = engine.raw_connection()
    try:
        raw.cursor().execute("PRAGMA wal_checkpoint(TRUNCATE)").close()
    finally:
        raw.close()
