"""SQLite as every file of the lake wants it: durable at each commit, many readers, one writer, nothing left behind."""

import sqlite3
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import sqlalchemy as sa

from upwell.errors import Misconfigured, Retryable, UpwellError

BUSY_TIMEOUT_S = 30
WRITERS = "writers"
"""The execution option that holds the lock which an engine's writers take in turn."""
MAKE_ANEW = "remove the lake's folder and ingest again: the documents are where they were"


def open_sqlite(path: Path, synchronous: str = "FULL") -> sa.Engine:
    """An engine on the SQLite file `path` (mode 0600): WAL, an fsync a commit, deleted bytes overwritten.

    A transaction takes the writer's place at its start (BEGIN IMMEDIATE), so it never fails half-way for want of it;
    with the execution option `read_only` it takes a snapshot instead. Parameters hold document text, so errors never
    show them.
    """
    with suppress(OSError):  # connecting says what is wrong
        path.touch(mode=0o600)
    engine = sa.create_engine(
        f"sqlite:///{path}",
        connect_args={"timeout": BUSY_TIMEOUT_S, "check_same_thread": False},
        hide_parameters=True,
        pool_size=16,
        max_overflow=-1,
        execution_options={WRITERS: threading.Lock()},
    )

    @sa.event.listens_for(engine, "connect")
    def _configure(connection: Any, _record: Any) -> None:
        connection.isolation_level = None
        for pragma in ("journal_mode=WAL", f"synchronous={synchronous}", "secure_delete=ON"):
            connection.execute(f"PRAGMA {pragma}").close()

    @sa.event.listens_for(engine, "begin")
    def _begin(connection: sa.Connection) -> None:
        read_only = connection.get_execution_options().get("read_only", False)
        connection.exec_driver_sql("BEGIN" if read_only else "BEGIN IMMEDIATE")

    @sa.event.listens_for(engine, "invalidate")
    def _release(connection: Any, _record: Any, _error: Any) -> None:
        """An interrupt in a statement drops the connection: without this its lock stays while the traceback lives."""
        connection.rollback()

    return engine


@contextmanager
def transaction(engine: sa.Engine, what: str, *, read_only: bool = False) -> Iterator[sa.Connection]:
    """One transaction: committed when the block ends well, rolled back when it raises. Errors as `mapped` has them."""
    with mapped(what), engine.connect() as plain:
        connection = plain.execution_options(read_only=read_only)
        with connection.begin():
            yield connection


@contextmanager
def mapped(what: str) -> Iterator[None]:
    """The vendor's errors as ours, with `what` as the name of the database.

    Raises Retryable while it cannot be used (locked, disk full) and Misconfigured when it is damaged. A violated
    constraint passes through: what it means is the caller's to say.
    """
    try:
        yield
    except sa.exc.OperationalError as e:
        raise Retryable(f"the {what} cannot be used now: {e.orig}") from e
    except sa.exc.IntegrityError:
        raise
    except sa.exc.DatabaseError as e:
        raise Misconfigured(f"the {what} is damaged ({e.orig}); {MAKE_ANEW}") from e


@contextmanager
def writers_turn(engine: sa.Engine, what: str) -> Iterator[None]:
    """One of this process's writers at a time, the next as soon as the last has ended; of other databases, all at once.

    SQLite's own waiting looks again at longer and longer intervals, up to a tenth of a second: under eight writers a
    commit of 3 ms waited 20 ms for its place at the median, and 200 ms at worst. Raises Retryable after
    BUSY_TIMEOUT_S.
    """
    turn = engine.get_execution_options().get(WRITERS)
    if turn is None:
        yield
        return
    if not turn.acquire(timeout=BUSY_TIMEOUT_S):
        raise Retryable(f"the {what} cannot be used now: it is being written to")
    try:
        yield
    finally:
        turn.release()


def sqlite_fault(error: sa.exc.DBAPIError, what: str) -> UpwellError:
    """A vendor's error as ours: it cannot be used now (locked, disk full), or it is damaged."""
    if isinstance(error, sa.exc.OperationalError):
        return Retryable(f"the {what} cannot be used now: {error.orig}")
    return Misconfigured(f"the {what} is damaged ({error.orig}); {MAKE_ANEW}")


def truncate_wal(engine: sa.Engine) -> bool:
    """Move the write-ahead log into the file and cut it to nothing, so that no deleted text stays in it.

    False while a reader holds the log: nothing is cut then.
    """
    raw = engine.raw_connection()
    try:
        busy, *_ = raw.cursor().execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
    finally:
        raw.close()
    return not busy


def rewritten(engine: sa.Engine) -> bool:
    """Write the file anew without what was deleted, and cut the log to nothing. False while a reader holds the log.

    `secure_delete` alone is not enough: a page that is split or merged keeps, in the gap between its cells, copies of
    cells that have moved on, and what is deleted later is overwritten only where it stands (seen in SQLite 3.40).
    """
    raw = engine.raw_connection()
    try:
        raw.cursor().execute("VACUUM")
    except sqlite3.OperationalError as error:
        raise Retryable(f"a database file cannot be written anew now: {error}") from error
    finally:
        raw.close()
    return truncate_wal(engine)
