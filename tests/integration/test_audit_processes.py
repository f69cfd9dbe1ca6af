"""The audit over real databases and processes: killed writers, several at once, and a PostgreSQL that goes away."""

import json
import os
import subprocess
import sys
import threading
from contextlib import contextmanager
from pathlib import Path

import psycopg
import pytest

from audits import Key, bad, entries, forging, reports, searched, written
from upwell.audit.drain import Drain
from upwell.audit.expire import expire
from upwell.audit.log import SqlAudit
from upwell.clock import now_us
from upwell.database import open_database
from upwell.errors import Retryable
from upwell.lake.registry import SqlRegistry
from upwell.ports import AppliedEntry, DocumentRow
from upwell.records import DocKey, Outcome

pytestmark = pytest.mark.integration
TESTS = Path(__file__).parent.parent
WRITER = TESTS / "audit_writer.py"
KEY = Key()


@pytest.fixture(params=["sqlite", "postgresql"])
def where(request, tmp_path):
    """Where an audit may lie."""
    return tmp_path / "audit.sqlite" if request.param == "sqlite" else request.getfixturevalue("postgres_url")


@contextmanager
def writing(where, threads=4):
    """A process that writes until it is killed."""
    command = [sys.executable, str(WRITER), str(where), str(threads)]
    env = {**os.environ, "PYTHONPATH": str(TESTS)}
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=env)
    try:
        yield process
    finally:
        process.kill()
        process.stdout.close()
        process.wait()


def lines_of(process, count):
    """The first `count` numbers that the process said were durable."""
    return [int(process.stdout.readline()) for _ in range(count)]


def test_a_killed_writer_loses_nothing_it_called_durable_and_its_chain_verifies(where):
    with writing(where) as process:
        lines_of(process, 300)
        process.kill()
        said = 300 + len(process.stdout.read().split())
    (report,) = reports(where)
    assert report.bad is None
    assert not report.closed
    queries = {json.loads(entry)["query"] for entry in entries(where)}
    assert {f"{number:032x}" for number in range(said - 4)} <= queries


def test_two_processes_write_beside_one_another(where):
    with writing(where, 1) as one, writing(where, 1) as other:
        lines_of(one, 30)
        lines_of(other, 30)
        own = written(where, 10)
    found = reports(where)
    assert [report.bad for report in found] == [None] * 3
    assert own in {report.writer for report in found}
    assert len(entries(where)) >= 70


def test_postgresql_itself_refuses_to_change_a_record(postgres_url):
    written(postgres_url, 3)
    with psycopg.connect(postgres_url, autocommit=True) as connection:
        connection.execute("INSERT INTO audit_checkpoints VALUES ('other', 9, 'h', 1, '', '')")
        for table in ("audit", "audit_seals", "audit_checkpoints"):
            for statement in (f"UPDATE {table} SET hash = 'x'", f"DELETE FROM {table}", f"TRUNCATE {table}"):
                with pytest.raises(psycopg.errors.InsufficientPrivilege, match="never changed"):
                    connection.execute(statement)
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            connection.execute(
                "INSERT INTO audit SELECT writer, seq, at, '{}', hash, origin FROM audit WHERE seq = 1 "
                "ON CONFLICT (writer, seq) DO UPDATE SET body = EXCLUDED.body"
            )


@pytest.mark.parametrize(
    ("statement", "where_bad"),
    [
        ("UPDATE audit SET body = overlay(body placing 'X' from 20) WHERE seq = 2", "record 2: its body"),
        ("DELETE FROM audit WHERE seq = 2", "record 2: missing"),
        ("DELETE FROM audit WHERE seq >= 2", "record 2: missing, though sealed"),
        ("UPDATE audit SET at = 1 WHERE seq = 2", "record 2: its time was changed"),
        ("UPDATE audit_seals SET signature = 'ab'", "its seal is forged"),
    ],
)
def test_forgeries_in_postgresql_are_found(postgres_url, statement, where_bad):
    written(postgres_url, 3, signer=KEY)
    assert bad(postgres_url, KEY, all_signed=True) == []
    with forging(postgres_url) as db:
        db.run(statement)
    assert where_bad in bad(postgres_url, KEY)[0]


def test_what_expires_in_postgresql_leaves_a_checkpoint(postgres_url):
    written(postgres_url, 3, signer=KEY)
    engine = open_database(postgres_url)
    assert expire(engine, now_us(), clock=now_us, signer=lambda: KEY) == 5
    engine.dispose()
    assert entries(postgres_url) == []
    assert bad(postgres_url, KEY) == []


def test_a_server_that_goes_away_fails_the_callers_and_the_chain_goes_on(postgres):
    url = postgres.url()
    audit = SqlAudit.at(url)
    audit.write(searched(1))
    postgres.kill()
    try:
        with pytest.raises(Retryable):
            audit.write(searched(2))
    finally:
        postgres.start()
    audit.write(searched(3))
    audit.close()
    assert len(entries(url)) == 2
    assert bad(url) == []


def test_two_drains_of_one_outbox_write_each_act_once(postgres_url):
    registry = SqlRegistry.at(postgres_url)
    for number in range(300):
        key = DocKey(tenant="t", source="s", doc_id=str(number))
        entry = AppliedEntry(
            key=key, at=number, event_id="e", op="upsert", version=1, acl_version=0, outcome=Outcome.APPLIED
        )
        assert registry.commit(DocumentRow(key=key, version=1), expected_rev=0, entry=entry)
        registry.record(entry)
    audits = [SqlAudit.at(postgres_url) for _ in range(2)]
    drains = [Drain(lambda: registry.outbox, lambda audit=audit: audit) for audit in audits]
    ready = threading.Barrier(2)

    def drained(drain):
        ready.wait()
        drain.once()

    threads = [threading.Thread(target=drained, args=(drain,)) for drain in drains]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for audit in audits:
        audit.close()
    assert not registry.outbox.owed(1)
    registry.close()
    assert len(entries(postgres_url)) == 300
    assert bad(postgres_url) == []


def test_an_act_is_found_though_a_later_one_was_committed_before_it(postgres_url):
    """PostgreSQL numbers rows when they are written, not when they are committed."""
    registry = SqlRegistry.at(postgres_url)
    audit = SqlAudit.at(postgres_url)
    drain = Drain(lambda: registry.outbox, lambda: audit)

    def act(name):
        values = f"('t', 's', '{name}', 1, '{name}', 'upsert', 1, 0, 'applied', '')"
        columns = "tenant, source, doc_id, at, event_id, op, version, acl_version, outcome, reason"
        return f"INSERT INTO outbox ({columns}) VALUES {values}"

    with psycopg.connect(postgres_url) as early, psycopg.connect(postgres_url) as late:
        early.execute(act("early"))
        late.execute(act("late"))
        late.commit()
        assert drain.once() == 1
        early.commit()
        assert drain.once() == 1
    audit.close()
    registry.close()
    assert len(entries(postgres_url)) == 2
