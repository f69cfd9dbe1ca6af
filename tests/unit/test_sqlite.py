"""A file of the lake as SQLite keeps it."""

import random
import sqlite3
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing

import pytest
import sqlalchemy as sa

from upwell.database import transaction
from upwell.sqlite import open_sqlite, rewritten

TWO_ROWS = "SELECT 1 UNION SELECT 2"


def test_an_interrupt_inside_a_statement_leaves_no_lock_behind_though_its_traceback_lives(tmp_path):
    engine = open_sqlite(tmp_path / "a.sqlite")

    @sa.event.listens_for(engine, "after_cursor_execute")
    def _interrupt(_connection, _cursor, statement, *_more):
        if statement == TWO_ROWS:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt) as caught, engine.connect() as connection, connection.begin():
        connection.exec_driver_sql(TWO_ROWS)
    with closing(sqlite3.connect(tmp_path / "a.sqlite", timeout=0)) as other:
        other.execute("BEGIN IMMEDIATE")
    assert caught.tb is not None
    engine.dispose()


@pytest.mark.parametrize("seed", range(6))
def test_a_rewritten_file_holds_no_deleted_word(tmp_path, seed):
    """Rows of many sizes come, change and go, so that pages split and merge and copies of cells stay in their gaps."""
    rng, engine = random.Random(seed), open_sqlite(tmp_path / "a.sqlite", "OFF")
    doomed, others = [], []
    with engine.begin() as connection:
        connection.exec_driver_sql("CREATE TABLE t (id TEXT PRIMARY KEY, words TEXT, body BLOB)")
        connection.exec_driver_sql("CREATE INDEX by_words ON t (words)")
    for _ in range(300):
        secret = rng.random() < 0.1
        words = ("canarywords" if secret else "x") + "y" * rng.randrange(1, rng.choice([50, 400, 3000]))
        row = f"{rng.getrandbits(64):x}"
        (doomed if secret else others).append(row)
        with engine.begin() as connection:
            connection.exec_driver_sql("INSERT INTO t VALUES (?, ?, ?)", (row, words, words.encode()))
            if others and rng.random() < 0.5:
                connection.exec_driver_sql("UPDATE t SET words = 'z', body = NULL WHERE id = ?", (rng.choice(others),))
    assert b"canarywords" in (tmp_path / "a.sqlite-wal").read_bytes()
    with engine.begin() as connection:
        for row in doomed:
            connection.exec_driver_sql("DELETE FROM t WHERE id = ?", (row,))
    assert rewritten(engine)
    assert not [path for path in tmp_path.iterdir() if b"canarywords" in path.read_bytes()]
    engine.dispose()


def test_writers_of_one_process_follow_one_another_without_looking_at_intervals(tmp_path):
    """Eight writers at once never meet SQLite's busy handler, whose looks are up to a tenth of a second apart."""
    engine = open_sqlite(tmp_path / "a.sqlite", "OFF")
    with transaction(engine, "test") as connection:
        connection.exec_driver_sql("CREATE TABLE t (n INTEGER)")

    @sa.event.listens_for(engine, "connect")
    def _impatient(connection, _record):
        connection.execute("PRAGMA busy_timeout=0")

    def write(n):
        with transaction(engine, "test") as connection:
            connection.exec_driver_sql("INSERT INTO t VALUES (?)", (n,))
            time.sleep(0.001)

    with ThreadPoolExecutor(8) as pool:
        for written in [pool.submit(write, n) for n in range(100)]:
            written.result()
    with transaction(engine, "test", read_only=True) as connection:
        assert connection.exec_driver_sql("SELECT count(*) FROM t").scalar_one() == 100
    engine.dispose()


def test_a_write_that_fails_gives_its_turn_to_the_next(tmp_path):
    engine = open_sqlite(tmp_path / "a.sqlite", "OFF")
    with pytest.raises(ZeroDivisionError), transaction(engine, "test"):
        raise ZeroDivisionError
    with transaction(engine, "test") as connection:
        connection.exec_driver_sql("CREATE TABLE t (n INTEGER)")
    engine.dispose()
