"""The registry in a SQLite file: what an erasure leaves in it, and what is wrong with it."""

import msgspec
import pytest
from test_registry import FULL, entry, key, line, manifest

from upwell.errors import Misconfigured, Retryable
from upwell.lake.registry import SqlRegistry
from upwell.ports import DocumentRow
from upwell.sqlite import open_sqlite


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
