"""A file of the lake as SQLite keeps it."""

import sqlite3
from contextlib import closing

import pytest
import sqlalchemy as sa

from upwell.sqlite import open_sqlite

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
