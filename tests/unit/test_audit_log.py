"""The audit's log: durable together, a chain a process, refused changes, and no answer without a record."""

import threading
from collections import Counter

import msgspec
import pytest
import sqlalchemy as sa

from audits import Key, bad, entries, published, reports, searched, written
from upwell.audit import chain
from upwell.audit.group import MOST_WAITING, GroupCommit, Lot
from upwell.audit.log import SqlAudit
from upwell.database import open_database
from upwell.errors import Overloaded, Retryable
from upwell.ports import AuditEntry


@pytest.fixture
def where(tmp_path):
    return tmp_path / "audit.sqlite"


def counting(where):
    """An engine that counts its commits."""
    engine = open_database(where)
    commits = Counter()
    sa.event.listen(engine, "commit", lambda _connection: commits.update(["commit"]))
    return engine, commits


def test_what_is_written_is_durable_at_once_and_comes_back_as_it_was(where):
    audit = SqlAudit.at(where)
    odd = searched(1, actor="user:\ud800\0é\n", reason="\U0010ffff")
    audit.write(odd)
    audit.write(searched(2))
    assert [chain.content_of(body) for body in entries(where)] == [odd, searched(2)]
    audit.close()


def test_a_process_that_audits_nothing_leaves_nothing(where):
    SqlAudit.at(where).close()
    assert not where.exists()


def test_a_chain_says_who_writes_and_is_sealed_at_its_end(where):
    key = Key()
    writer = written(where, 3, signer=key)
    (report,) = reports(where, key, all_signed=True)
    assert (report.writer, report.records, report.unsealed, report.closed, report.signed) == (writer, 5, 0, True, True)
    assert report.bad is None
    assert report.host


def test_a_hundred_writers_share_a_few_commits(where):
    engine, commits = counting(where)
    audit = SqlAudit(lambda: engine)
    audit.write(searched())
    before = commits.total()
    ready = threading.Barrier(100)

    def write(number):
        ready.wait()
        audit.write(searched(number))

    threads = [threading.Thread(target=write, args=(number,)) for number in range(100)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert commits.total() - before < 50
    assert len(entries(where)) == 101
    audit.close()
    assert bad(where) == []


def test_an_act_with_an_origin_is_written_once_whoever_writes_it(where):
    one, other = SqlAudit.at(where), SqlAudit.at(where)
    one.write_once([(published(1), "o1"), (published(1), "o1"), (published(2), "o2")])
    other.write_once([(published(2), "o2"), (published(3), "o3")])
    one.close()
    other.close()
    assert entries(where) == [chain.body_of(published(number)) for number in (1, 2, 3)]
    assert bad(where) == []


def test_when_the_database_is_away_every_waiting_caller_hears_it_and_the_next_is_served(where):
    engine = open_database(where)
    audit = SqlAudit(lambda: engine)
    audit.write(searched(1))

    def broken(*_args):
        raise sa.exc.OperationalError("INSERT", {}, OSError("disk full"))

    sa.event.listen(engine, "before_cursor_execute", broken)
    failures = []

    def write(number):
        try:
            audit.write(searched(number))
        except Retryable as e:
            failures.append(e)

    threads = [threading.Thread(target=write, args=(number,)) for number in range(10)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    sa.event.remove(engine, "before_cursor_execute", broken)
    assert len(failures) == 10
    audit.write(searched(99))
    audit.close()
    assert len(entries(where)) == 2
    assert bad(where) == []


def test_a_commit_whose_end_nobody_saw_does_not_break_the_chain(where):
    engine = open_database(where)
    audit = SqlAudit(lambda: engine)
    audit.write(searched(1))
    lose = [True]

    def lost(connection):
        if lose.pop() if lose else False:
            connection.connection.dbapi_connection.execute("COMMIT")
            connection.connection.dbapi_connection.execute("BEGIN")
            raise sa.exc.OperationalError("COMMIT", {}, OSError("connection lost"))

    sa.event.listen(engine, "commit", lost)
    with pytest.raises(Retryable):
        audit.write(searched(2))
    audit.write(searched(3))
    audit.close()
    assert len(entries(where)) == 3
    assert bad(where) == []


def test_after_close_nothing_is_written(where):
    audit = SqlAudit.at(where)
    audit.write(searched())
    audit.close()
    with pytest.raises(Retryable, match="closed"):
        audit.write(searched())


def test_close_writes_what_waits():
    begun, go_on, taken = threading.Event(), threading.Event(), []

    def commit(lots):
        begun.set()
        go_on.wait()
        taken.extend(lots)

    group = GroupCommit(commit, due=lambda: None, finish=lambda: None)
    threads = [threading.Thread(target=group.put, args=(Lot(acts=((searched(n), None),)),)) for n in range(5)]
    threads[0].start()
    begun.wait()
    for thread in threads[1:]:
        thread.start()
    while len(group._waiting) < 4:  # until all of them wait
        pass
    closing = threading.Thread(target=group.close)
    closing.start()
    go_on.set()
    for thread in (*threads, closing):
        thread.join()
    assert len(taken) == 5


def test_more_than_memory_should_hold_is_refused():
    group = GroupCommit(lambda _lots: None, due=lambda: None, finish=lambda: None)
    with pytest.raises(Overloaded):
        group.put(Lot(acts=((searched(), None),) * (MOST_WAITING + 1)))
    group.close()


def test_what_is_given_up_before_its_turn_is_not_written():
    begun, go_on, taken = threading.Event(), threading.Event(), []

    def commit(lots):
        begun.set()
        go_on.wait()
        taken.extend(lots)

    group = GroupCommit(commit, due=lambda: None, finish=lambda: None)
    first, late = Lot(acts=((searched(1), None),)), Lot(acts=((searched(2), None),))
    thread = threading.Thread(target=group.put, args=(first,))
    thread.start()
    begun.wait()
    with pytest.raises(Retryable, match="in time"):
        group.put(late, wait_s=0.01)
    go_on.set()
    thread.join()
    group.close()
    assert taken == [first]


def test_an_error_that_nobody_foresaw_reaches_the_caller_and_the_thread_stays(caplog):
    answers = [ZeroDivisionError("secret"), None]

    def commit(_lots):
        if (error := answers.pop(0)) is not None:
            raise error

    group = GroupCommit(commit, due=lambda: None, finish=lambda: None)
    with pytest.raises(Retryable, match="ZeroDivisionError"):
        group.put(Lot(acts=()))
    group.put(Lot(acts=()))
    group.close()
    assert [record.message for record in caplog.records] == ["audit_failed"]


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE audit SET body = '{}' WHERE seq = 1",
        "UPDATE audit SET at = 0",
        "DELETE FROM audit WHERE seq = 2",
        "INSERT OR REPLACE INTO audit SELECT writer, seq, at, '{}', hash, origin FROM audit WHERE seq = 1",
        "UPDATE audit_seals SET signature = ''",
        "DELETE FROM audit_seals",
        "INSERT OR REPLACE INTO audit_seals SELECT writer, through_seq, 'x', sealed_at, key, signature FROM audit_seals",
        "DELETE FROM audit_checkpoints",
        "UPDATE audit_checkpoints SET hash = 'x'",
    ],
)
def test_the_database_itself_refuses_to_change_a_record(where, statement):
    written(where, 3)
    engine = open_database(where)
    with engine.begin() as connection:
        connection.exec_driver_sql("INSERT INTO audit_checkpoints VALUES ('other', 9, 'h', 1, '', '')")
    with pytest.raises(sa.exc.IntegrityError, match="never"), engine.begin() as connection:
        connection.exec_driver_sql(statement)
    engine.dispose()


def test_equal_content_has_equal_bytes_in_ascii():
    entry = searched(1, actor="user:é", reason="x")
    again = msgspec.json.decode(msgspec.json.encode(entry), type=AuditEntry)
    assert chain.body_of(entry) == chain.body_of(again)
    assert chain.body_of(entry).isascii()
