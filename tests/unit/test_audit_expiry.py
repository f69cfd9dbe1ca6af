"""Retention: what is old and sealed goes, a checkpoint stands for it, and the chain still verifies."""

import pytest
import sqlalchemy as sa

from audits import Key, bad, entries, forging, reports, searched, written
from upwell.audit.expire import expire
from upwell.audit.log import SqlAudit
from upwell.clock import now_us
from upwell.database import open_database

KEY = Key()


@pytest.fixture
def where(tmp_path):
    return tmp_path / "audit.sqlite"


def expired(where, before, key=KEY):
    engine = open_database(where)
    try:
        return expire(engine, before, clock=now_us, signer=lambda: key)
    finally:
        engine.dispose()


def test_an_expired_chain_leaves_a_checkpoint_that_verifies(where):
    written(where, 3, signer=KEY)
    later = now_us()
    kept = written(where, 2, signer=KEY)
    assert expired(where, later) == 5
    assert len(entries(where)) == 2
    assert bad(where, KEY, all_signed=True) == []
    counts = {report.writer == kept: (report.records, report.expired) for report in reports(where, KEY)}
    assert counts == {True: (4, 0), False: (0, 5)}
    assert expired(where, later) == 0


def test_a_running_chain_expires_up_to_a_seal_and_goes_on(where):
    audit = SqlAudit.at(where, signer=lambda: KEY)
    audit.write_once([(searched(n), f"o{n}") for n in range(3)])
    assert expired(where, now_us()) == 4
    audit.write(searched(4))
    audit.close()
    (report,) = reports(where, KEY, all_signed=True)
    assert (report.records, report.expired, report.closed, report.bad) == (2, 4, True, None)


def test_what_is_not_sealed_stays(where):
    audit = SqlAudit.at(where, signer=lambda: KEY)
    audit.write(searched(1))
    audit.write(searched(2))
    expired(where, now_us())
    assert len(entries(where)) == 1
    assert bad(where, KEY) == []
    audit.close()


def test_a_record_missing_behind_the_checkpoint_is_found(where):
    audit = SqlAudit.at(where, signer=lambda: KEY)
    audit.write(searched(1))
    expired(where, now_us())
    audit.write(searched(2))
    audit.close()
    with forging(where) as db:
        db.run("DELETE FROM audit WHERE seq = 2")
    assert bad(where, KEY)[0].startswith("record 2: missing")


def test_the_checkpoint_lets_nothing_go_that_it_does_not_cover(where):
    audit = SqlAudit.at(where, signer=lambda: KEY)
    audit.write(searched(1))
    expired(where, now_us())
    audit.write(searched(2))
    audit.close()
    engine = open_database(where)
    with pytest.raises(sa.exc.IntegrityError, match="never"), engine.begin() as connection:
        connection.exec_driver_sql("DELETE FROM audit WHERE seq = 2")
    engine.dispose()


def test_a_checkpoint_of_another_key_is_found(where):
    written(where, 3, signer=KEY)
    expired(where, now_us(), Key("stranger"))
    assert bad(where, KEY) == ["record 4: sealed with an unknown key"]
