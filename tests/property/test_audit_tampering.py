"""Whatever somebody with the whole database in hand does to a sealed chain, verifying finds it."""

import shutil
from contextlib import closing

import pytest
import sqlalchemy as sa
from hypothesis import assume, given
from hypothesis import strategies as st

from audits import Key, bad, forging, reports, searched, written
from upwell.audit import chain
from upwell.audit.chain import Head
from upwell.audit.log import SqlAudit
from upwell.database import open_database

KEY = Key()
RECORDS = 12
"""An opening, ten searches, a closing."""
NUMBERS = st.integers(0, RECORDS - 1)


@pytest.fixture(scope="module")
def sound(tmp_path_factory):
    """A sealed chain of twelve records."""
    where = tmp_path_factory.mktemp("audit") / "audit.sqlite"
    written(where, RECORDS - 2, signer=KEY)
    assert bad(where, KEY, all_signed=True) == []
    return where


@pytest.fixture
def copy(sound, tmp_path):
    """Makes fresh copies of the sound audit, for each example one."""

    def made():
        target = tmp_path / "copy.sqlite"
        target.unlink(missing_ok=True)
        shutil.copy(sound, target)
        return target

    return made


def found(where):
    return bad(where, KEY, all_signed=True)


@given(seq=NUMBERS, place=st.integers(0), byte=st.integers(0, 255))
def test_a_changed_byte_of_a_body_is_found(copy, seq, place, byte):
    where = copy()
    with forging(where) as db:
        body = db.run("SELECT CAST(body AS BLOB) FROM audit WHERE seq = :seq", seq=seq).scalar_one()
        place %= len(body)
        assume(body[place] != byte)
        forged = body[:place] + bytes([byte]) + body[place + 1 :]
        db.run("UPDATE audit SET body = CAST(:body AS TEXT) WHERE seq = :seq", body=forged, seq=seq)
    assert found(where) == [f"record {seq}: its body, its hash or its place in the chain was changed"]


@given(seq=NUMBERS, place=st.integers(0, 63), digit=st.sampled_from("0123456789abcdef"))
def test_a_changed_digit_of_a_hash_is_found(copy, seq, place, digit):
    where = copy()
    with forging(where) as db:
        known = db.run("SELECT hash FROM audit WHERE seq = :seq", seq=seq).scalar_one()
        assume(known[place] != digit)
        db.run(
            "UPDATE audit SET hash = :hash WHERE seq = :seq", hash=known[:place] + digit + known[place + 1 :], seq=seq
        )
    assert found(where)[0].startswith(f"record {seq}: ")


@given(first=NUMBERS, length=st.integers(1, RECORDS))
def test_removed_records_are_found(copy, first, length):
    where = copy()
    with forging(where) as db:
        db.run("DELETE FROM audit WHERE seq >= :first AND seq < :end", first=first, end=first + length)
    assert found(where)[0].startswith(f"record {first}: missing")


@given(first=NUMBERS, second=NUMBERS)
def test_swapped_records_are_found(copy, first, second):
    assume(first != second)
    where = copy()
    with forging(where) as db:
        for old, new in ((first, -1), (second, first), (-1, second)):
            db.run("UPDATE audit SET seq = :new WHERE seq = :old", old=old, new=new)
    assert found(where)[0].startswith(f"record {min(first, second)}: ")


@given(seq=NUMBERS, length=st.integers(0))
def test_a_body_cut_short_is_found(copy, seq, length):
    where = copy()
    with forging(where) as db:
        body = db.run("SELECT body FROM audit WHERE seq = :seq", seq=seq).scalar_one()
        db.run("UPDATE audit SET body = :body WHERE seq = :seq", body=body[: length % len(body)], seq=seq)
    assert found(where)[0].startswith(f"record {seq}: ")


@given(seq=st.integers(1, RECORDS - 2))
def test_a_chain_written_anew_from_some_record_on_is_found_by_its_seal(copy, seq):
    """The forger computes every hash, and the seal's too, but has no key."""
    where = copy()
    with forging(where) as db:
        writer, previous = db.run("SELECT writer, hash FROM audit WHERE seq = :seq", seq=seq - 1).one()
        head = Head(writer=writer, seq=seq - 1, hash=previous)
        bodies = db.run("SELECT seq, body FROM audit WHERE seq >= :seq ORDER BY seq", seq=seq).all()
        for number, body in bodies:
            content = searched(999) if number == seq else chain.content_of(body)
            link = chain.linked(head, content, 0)
            head = Head(writer=writer, seq=number, hash=link.hash)
            at = content.at if number < RECORDS - 1 else content.stopped
            db.run(
                "UPDATE audit SET body = :body, hash = :hash, at = :at WHERE seq = :seq",
                body=link.body,
                hash=link.hash,
                at=at,
                seq=number,
            )
        assert found_before_commit(db)
        db.run("UPDATE audit_seals SET hash = :hash WHERE through_seq = :last", hash=head.hash, last=RECORDS - 1)
    assert found(where)[0].endswith(("its seal is forged", "not the one that was sealed"))


def found_before_commit(db):
    """The forger's work so far holds together by itself."""
    rows = db.run("SELECT seq, body, hash FROM audit ORDER BY seq").all()
    previous = chain.BEFORE_ALL
    for seq, body, digest in rows:
        assert chain.link_hash(previous, seq, body.encode()) == digest
        previous = digest
    return True


@pytest.mark.parametrize(
    ("statement", "where_bad"),
    [
        ("UPDATE audit SET at = at + 1 WHERE seq = 4", "record 4: its time was changed"),
        ("UPDATE audit SET at = 'late' WHERE seq = 4", "record 4: its time was changed"),
        ("UPDATE audit SET seq = 'four' WHERE seq = 4", "record 4: missing (the next is 5)"),
        ("UPDATE audit_seals SET signature = ''", "its seal is forged"),
        ("UPDATE audit_seals SET signature = 'zz'", "its seal is forged"),
        ("UPDATE audit_seals SET key = '', signature = ''", "sealed with another key than the chain's"),
        ("UPDATE audit_seals SET sealed_at = sealed_at + 1", "its seal is forged"),
        ("DELETE FROM audit_seals", "record 0: not sealed, as a chain's first records always are"),
        ("DELETE FROM audit", "record 0: missing, though sealed"),
        ("DELETE FROM audit WHERE seq = 11", "record 11: missing, though sealed (up to 11)"),
        ("UPDATE audit SET writer = 'other'", "record 0: opens another writer's chain"),
        ("UPDATE audit SET writer = CAST(X'ff41' AS TEXT)", "record 0: missing"),
        (
            "INSERT INTO audit SELECT writer, 12, at, body, hash, NULL FROM audit WHERE seq = 11",
            "record 12: comes after",
        ),
        ("INSERT INTO audit_checkpoints SELECT * FROM audit_seals WHERE through_seq = 11", "its seal is forged"),
        (
            "INSERT INTO audit_checkpoints SELECT writer, 5, hash, 1, '', '' FROM audit WHERE seq = 5",
            "without a signature",
        ),
    ],
)
def test_other_forgeries_are_found_too(copy, statement, where_bad):
    where = copy()
    with forging(where) as db:
        db.run(statement)
    assert any(where_bad in line for line in found(where)), found(where)


def test_a_seal_by_another_key_is_found(tmp_path):
    where = tmp_path / "audit.sqlite"
    written(where, 3, signer=Key("stranger"))
    assert bad(where, KEY) == ["record 3: sealed with an unknown key"]


def test_a_chain_without_signatures_is_bad_where_each_must_be_signed(tmp_path):
    where = tmp_path / "audit.sqlite"
    written(where, 3)
    assert bad(where, KEY) == []
    assert bad(where, KEY, all_signed=True) == ["record 3: sealed without a signature"]


def test_a_whole_chain_that_is_taken_away_is_found_by_who_came_after_it(tmp_path):
    where = tmp_path / "audit.sqlite"
    gone = written(where, 3, signer=KEY)
    written(where, 3, signer=KEY)
    with forging(where) as db:
        db.run("DELETE FROM audit WHERE writer = :gone", gone=gone)
        db.run("DELETE FROM audit_seals WHERE writer = :gone", gone=gone)
    assert bad(where, KEY) == ["record 4: another chain has seen it, and it is gone"]


def test_the_unsealed_end_of_a_writer_that_vanished_is_told_and_vouched_for_by_the_next(tmp_path):
    where = tmp_path / "audit.sqlite"
    vanished = SqlAudit.at(where, signer=lambda: KEY)
    for number in range(3):
        vanished.write(searched(number))
    (report,) = reports(where, KEY)
    assert (report.records, report.closed, report.bad) == (4, False, None)
    assert report.unsealed == 2
    written(where, 1, signer=KEY)
    with forging(where) as db:
        db.run("DELETE FROM audit WHERE writer = :name AND seq = 3", name=vanished.writer)
    assert bad(where, KEY) == ["record 3: another chain has seen it, and it is gone"]
    vanished.close()


def test_what_the_forger_leaves_in_the_file_itself_is_found_or_the_file_is_called_damaged(sound, tmp_path):
    """A byte of a body changed below SQLite, with no statement at all."""
    where = tmp_path / "audit.sqlite"
    shutil.copy(sound, where)
    with closing(open_database(where).raw_connection()) as raw:
        raw.cursor().execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
    data = bytearray(where.read_bytes())
    place = data.index(b'"query":"' + b"0" * 31 + b"5")
    data[place + 12] = ord("f")
    where.write_bytes(data)
    assert found(where) == ["record 6: its body, its hash or its place in the chain was changed"]


def test_the_tables_are_those_that_the_forger_knows(sound):
    """So that a table which is added later is thought of here."""
    engine = open_database(sound)
    tables = set(sa.inspect(engine).get_table_names())
    engine.dispose()
    assert tables == {"audit", "audit_seals", "audit_checkpoints", "audit_schema_version"}
