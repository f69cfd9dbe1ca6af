"""What the audit costs: a hundred who write at once, and what one record adds to a search."""

import os
import statistics
import threading
import time

import pytest
import sqlalchemy as sa
from measuring import p99

from audits import Key, bad, searched
from upwell.audit.log import SqlAudit
from upwell.database import open_database

pytestmark = [pytest.mark.bench, pytest.mark.timeout(300)]
WRITERS, EACH = 100, 50
KEY = Key()


@pytest.fixture(params=["sqlite", "postgresql"])
def where(request, tmp_path):
    return tmp_path / "audit.sqlite" if request.param == "sqlite" else request.getfixturevalue("postgres_url")


def fsync_ms(folder):
    """What one small durable write costs on this disk: the median of fifty."""
    times = []
    with (folder / "probe").open("wb") as probe:
        for _ in range(50):
            started = time.perf_counter()
            probe.write(bytes(4096))
            probe.flush()
            os.fsync(probe.fileno())
            times.append(time.perf_counter() - started)
    return statistics.median(times) * 1000


def timed(write):
    started = time.perf_counter()
    write()
    return time.perf_counter() - started


def test_a_hundred_writers_share_commits(where, tmp_path, capsys):
    engine = open_database(where)
    commits = []
    sa.event.listen(engine, "commit", commits.append)
    audit = SqlAudit(lambda: engine, signer=lambda: KEY)
    alone = [timed(lambda n=n: audit.write(searched(n))) for n in range(200)]
    before = len(commits)
    together = []

    def write():
        together.extend(timed(lambda: audit.write(searched())) for _ in range(EACH))

    threads = [threading.Thread(target=write) for _ in range(WRITERS)]
    seconds = timed(lambda: ([t.start() for t in threads], [t.join() for t in threads]))
    shared = len(commits) - before
    audit.close()
    with capsys.disabled():
        print(
            f"\naudit on {engine.dialect.name}: alone p50 {statistics.median(alone) * 1000:.1f} ms, p99 "
            f"{p99(alone) * 1000:.1f} ms (one fsync {fsync_ms(tmp_path):.1f} ms); {WRITERS} writers: "
            f"{WRITERS * EACH / seconds:,.0f} records/s in {shared} commits, p50 "
            f"{statistics.median(together) * 1000:.1f} ms, p99 {p99(together) * 1000:.1f} ms"
        )
    assert bad(where, KEY) == []
    assert shared < WRITERS * EACH / 10
