"""A log that version 0.1 has written is brought forward and loses nothing."""

import sqlite3
from contextlib import closing

import pytest

from upwell.errors import Misconfigured, Reason
from upwell.ports import Fate
from upwell.records import ENCODER, ChangeEvent, Inline, Op, Outcome
from upwell.runtime.eventlog import EventLog

SCHEMA_1 = """
CREATE TABLE events (
    seq INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT, event_id VARCHAR NOT NULL, document VARCHAR NOT NULL,
    tenant VARCHAR NOT NULL, source VARCHAR NOT NULL, doc_id VARCHAR NOT NULL, op VARCHAR NOT NULL,
    lane VARCHAR NOT NULL, received_at INTEGER NOT NULL, body BLOB, ended_at INTEGER, outcome VARCHAR, reason VARCHAR,
    UNIQUE (event_id)
);
CREATE INDEX events_document ON events (document);
CREATE INDEX events_unended ON events (seq) WHERE ended_at IS NULL;
CREATE TABLE dead_letters (
    id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT, event_id VARCHAR, tenant VARCHAR NOT NULL, source VARCHAR NOT NULL,
    doc_id VARCHAR NOT NULL, stage VARCHAR NOT NULL, reason VARCHAR NOT NULL, detail VARCHAR NOT NULL,
    attempts INTEGER NOT NULL, at INTEGER NOT NULL, body BLOB,
    UNIQUE (tenant, source, doc_id, stage, reason)
);
"""
REPLAYS = "CREATE TABLE replays (event_id VARCHAR NOT NULL, attempts INTEGER NOT NULL, PRIMARY KEY (event_id));"
APPLIED = Fate(outcome=Outcome.APPLIED)


def event(number: int, doc_id: str = "a.md", **fields) -> ChangeEvent:
    return ChangeEvent(
        event_id=f"e{number}", tenant="t", source="s", doc_id=doc_id, op=Op.UPSERT, version=number, received_at=number,
        content=Inline(data=b"words"), **fields,
    )  # fmt: skip


@pytest.fixture(params=[SCHEMA_1, SCHEMA_1 + REPLAYS], ids=["first", "with replays"])
def path(request, tmp_path):
    """A file of schema 1: an event applied, one dead, two pending (a move), a folder's letter and a part's."""
    found = tmp_path / "events.sqlite"
    with closing(sqlite3.connect(found)) as old, old:
        old.executescript(request.param)
        for number, (of, outcome) in enumerate(
            [
                (event(1), "applied"),
                (event(2), "dead"),
                (event(3), None),
                (event(4, "b.md", previous_doc_id="a.md"), None),
            ]
        ):
            body = None if outcome else ENCODER.encode(of)
            ended = (None if outcome is None else 9, outcome)
            names = (of.event_id, of.key.digest, "t", "s", of.doc_id, "upsert", "live", of.received_at)
            old.execute(
                f"INSERT INTO events VALUES ({number + 5}, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, NULL)",
                (*names, body, *ended),
            )
        letters = [
            (3, "e2", "a.md", "parse", "corrupt", ENCODER.encode(event(2))),
            (7, None, "c.md", "scan", "unreadable", None),
            (8, None, "a.md!/x", "parse", "unsupported", None),
        ]
        for number, event_id, doc_id, stage, reason, body in letters:
            values = (number, event_id, "t", "s", doc_id, stage, reason, "why", 2, 42, body)
            old.execute(f"INSERT INTO dead_letters VALUES ({', '.join('?' * len(values))})", values)
    return found


@pytest.fixture
def log(path):
    opened = EventLog.at(path, clock=lambda: 99)
    yield opened
    opened.close()


def test_events_and_letters_are_all_there(log):
    """Ids, places in the log, bodies and counts."""
    assert [(ticket.seq, log.event(ticket.seq)) for ticket in log.unended()] == [
        (7, event(3)),
        (8, event(4, "b.md", previous_doc_id="a.md")),
    ]
    assert log.outcomes() == {"applied": 1, "dead": 1, "pending": 2}
    assert [(x.id, x.doc_id, x.stage, x.reason, x.detail, x.attempts, x.at, x.replayable) for x in log.dead()] == [
        (3, "a.md", "parse", "corrupt", "why", 2, 42, True),
        (7, "c.md", "scan", "unreadable", "why", 2, 42, False),
        (8, "a.md!/x", "parse", "unsupported", "why", 2, 42, False),
    ]


def test_what_happens_next_is_as_it_would_have_been(log):
    """A replay, a newer version, a cause that has gone, the same failure again: each finds its old letter."""
    log.append([], lambda c: log.unbury(c, event(1, "c.md").key, "scan", Reason.UNREADABLE))
    fate = Fate(outcome=Outcome.DEAD, reason=Reason.UNSUPPORTED, stage="parse", detail="again")
    log.append([], lambda c: log.bury(c, event(1, "a.md!/x").key, fate))
    assert [(letter.id, letter.detail) for letter in log.dead()] == [(3, "why"), (8, "again")]
    (ticket,) = log.replay([3])
    assert log.event(ticket.seq) == event(2)
    log.finish(event(2), Fate(outcome=Outcome.DEAD, reason=Reason.CORRUPT, stage="parse"))
    log.finish(event(3), APPLIED)
    assert log.dead() == []


def test_a_file_brought_forward_is_as_one_made_anew(path, tmp_path):
    """The same columns and indexes; and opening it again changes nothing."""
    fresh = tmp_path / "fresh.sqlite"
    for each in (path, path, fresh):
        EventLog.at(each).close()
    assert shape(path) == shape(fresh)


def shape(path):
    with closing(sqlite3.connect(path)) as found:
        tables = [name for (name,) in found.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
        indexes = found.execute("SELECT name FROM sqlite_master WHERE type = 'index' AND sql IS NOT NULL").fetchall()
        columns = {table: {row[1] for row in found.execute(f"PRAGMA table_info({table})")} for table in tables}
        (version,) = found.execute("SELECT max(version) FROM eventlog_version").fetchone()
        return columns, set(indexes), version


def test_a_log_of_a_newer_version_is_left_alone(path):
    """In words that say so."""
    EventLog.at(path).close()
    with closing(sqlite3.connect(path)) as newer, newer:
        newer.execute("INSERT INTO eventlog_version VALUES (99)")
    with pytest.raises(Misconfigured, match="newer version"):
        EventLog.at(path)


def test_a_step_that_fails_changes_nothing(path):
    """One transaction: the next try starts from the same file."""
    with closing(sqlite3.connect(path)) as broken, broken:
        broken.execute("UPDATE events SET body = x'c1' WHERE event_id = 'e3'")
    before = dump(path)
    with pytest.raises(Exception, match="MessagePack"):
        EventLog.at(path)
    assert dump(path) == before


def dump(path):
    with closing(sqlite3.connect(path)) as found:
        return list(found.iterdump())
