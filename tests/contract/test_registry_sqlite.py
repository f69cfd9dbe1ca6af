"""The registry in a SQLite file: what an erasure leaves in it, and what is wrong with it."""

import time
from concurrent.futures import ThreadPoolExecutor

import msgspec
import pytest
import sqlalchemy as sa
from test_registry import FULL, entry, key, line, manifest

from upwell.errors import Misconfigured, Retryable
from upwell.lake.registry import SqlRegistry
from upwell.ports import DocumentRow
from upwell.sqlite import WRITERS, open_sqlite


@pytest.fixture
def path(tmp_path):
    return tmp_path / "registry.sqlite"


def test_purge_leaves_no_word_in_any_file(path, tmp_path):
    """Deleted bytes are overwritten, and the write-ahead log is cut."""
    secret = "zzsecretzz"
    registry = SqlRegistry.at(path)
    row = DocumentRow(key=key(), **(FULL | {"title": secret, "url": secret, "metadata": {secret: secret}}))
    chunk = entry(0, heading_path=(secret,))
    assert registry.commit(row, expected_rev=0, manifests={"p": manifest(chunk)}, entry=line(detail=secret))
    fenced = msgspec.structs.replace(row, rank=2, deleted=True)
    assert registry.commit(fenced, expected_rev=1, manifests={"p": manifest(generation=2)})
    assert any(secret.encode() in file.read_bytes() for file in tmp_path.iterdir())
    registry.purge(key())
    assert not any(secret.encode() in file.read_bytes() for file in tmp_path.iterdir())
    registry.close()


def test_a_damaged_file_is_misconfigured(path):
    """Not a database: a person has to look."""
    path.write_bytes(b"not a database, not a database, not a database" * 100)
    with pytest.raises(Misconfigured, match="damaged"):
        SqlRegistry.at(path)


def test_a_file_that_cannot_be_opened_is_tried_again(tmp_path):
    """The folder is away: the input is fine, the world is not."""
    with pytest.raises(Retryable, match="cannot be used now"):
        SqlRegistry.at(tmp_path / "missing" / "registry.sqlite")


def test_commits_are_durable_and_deletes_are_overwritten(path):
    """WAL, synchronous FULL, secure_delete: what an fsync and an erasure rest on."""
    engine = open_sqlite(path)
    with engine.connect() as connection:
        names = ("journal_mode", "synchronous", "secure_delete")
        found = {name: connection.exec_driver_sql(f"PRAGMA {name}").scalar() for name in names}
    engine.dispose()
    assert found == {"journal_mode": "wal", "synchronous": 2, "secure_delete": 1}


def committed_at_once(registry, *rows):
    """What each first commit came to, made by as many threads: the first holds the turn until all the others wait."""

    def commit(row):
        return registry.commit(row, expected_rev=0, entry=line(of=row.key))

    with ThreadPoolExecutor(len(rows)) as pool:
        with registry._engine.get_execution_options()[WRITERS]:
            came = []
            for n, row in enumerate(rows):
                came.append(pool.submit(commit, row))
                until(lambda n=n: registry._grouped._turn.locked() and len(registry._grouped._waiting) == n)
        return [one.result(timeout=30) for one in came]


def until(condition):
    for _ in range(30_000):
        if condition():
            return
        time.sleep(0.001)
    pytest.fail("waited in vain")


def test_commits_that_wait_for_the_disk_wait_together(path):
    """Threads publish documents at once: one transaction for the first, one for all that came meanwhile."""
    registry = SqlRegistry.at(path)
    commits = []
    sa.event.listen(registry._engine, "commit", commits.append)
    assert committed_at_once(registry, *(DocumentRow(key=key(name)) for name in "abcd")) == [True] * 4
    assert len(commits) == 2
    assert [len(registry.history(key(name))) for name in "abcd"] == [1, 1, 1, 1]
    registry.close()


def test_of_commits_that_wait_together_a_loser_loses_alone(path):
    """Somebody else wanted the same row at the same moment: its words are nowhere, those of the others are."""
    registry = SqlRegistry.at(path)
    rows = [DocumentRow(key=key(name), title=str(n)) for n, name in enumerate("abbc")]
    assert committed_at_once(registry, *rows) == [True, True, False, True]
    assert [registry.row(key(name)).title for name in "abc"] == ["0", "1", "3"]
    assert [len(registry.history(key(name))) for name in "abc"] == [1, 1, 1]
    registry.close()
