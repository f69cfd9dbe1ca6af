"""What every blob store keeps: whole bytes under one name, found by document, refused when they are not what they were."""

import os
import stat
import threading

import msgspec
import pytest

from s3_server import s3_server
from upwell.clock import now_us
from upwell.errors import Misconfigured, Reason, Rejected, Retryable
from upwell.lake.blobs import FsspecBlobs
from upwell.records import BlobRef, DocKey

A = DocKey(tenant="default", source="wiki", doc_id="a.md")
B = DocKey(tenant="default", source="wiki", doc_id="b.md")


@pytest.fixture(scope="module")
def s3():
    with s3_server("lake") as options:
        yield options


@pytest.fixture(params=["local", "memory", pytest.param("s3", marks=pytest.mark.integration)])
def where(request, tmp_path):
    """URL and options of an empty store."""
    name = request.node.name.replace("[", "-").replace("]", "")
    if request.param == "s3":
        return f"s3://lake/{name}", request.getfixturevalue("s3")
    return (f"file://{tmp_path}/blobs" if request.param == "local" else f"memory://{name}"), {}


@pytest.fixture
def blobs(where):
    found = FsspecBlobs(*where)
    yield found
    found.close()


def reason_of(blobs, ref):
    with pytest.raises(Rejected) as e:
        blobs.get(ref)
    return e.value.reason


@pytest.mark.parametrize("data", [b"", b"tea", os.urandom(300_000)], ids=["empty", "small", "large"])
def test_what_was_put_is_got(blobs, where, data):
    """By another instance too; the name is the content's."""
    ref = blobs.put(A, data, 1)
    assert ref == BlobRef.of(A, data, 1)
    assert FsspecBlobs(*where).get(ref) == data


def test_equal_bytes_are_stored_once(blobs):
    """Within a document; another document has its own."""
    assert blobs.put(A, b"tea", 1) == blobs.put(A, b"tea", 1)
    assert blobs.put(B, b"tea", 1) != blobs.put(A, b"tea", 1)
    assert blobs.forget(A) == 1
    assert blobs.forget(A) == 0


def test_forget_removes_all_of_one_document_and_nothing_else(blobs):
    """An erasure leaves no blob."""
    refs = [blobs.put(A, text, 1) for text in (b"one", b"two", b"three")]
    other = blobs.put(B, b"one", 1)
    assert blobs.forget(A) == 3
    assert [reason_of(blobs, ref) for ref in refs] == [Reason.BLOB_MISSING] * 3
    assert blobs.get(other) == b"one"
    assert blobs.put(A, b"one", 1) == refs[0]
    assert blobs.get(refs[0]) == b"one"


def test_one_blob_is_removed_and_no_other(blobs):
    """Twice changes nothing; a reference that is none of ours removes nothing."""
    gone, stays = blobs.put(A, b"one", 1), blobs.put(A, b"two", 1)
    for ref in (gone, gone, msgspec.structs.replace(stays, uri=f"../{stays.uri}")):
        blobs.remove(ref)
    assert reason_of(blobs, gone) is Reason.BLOB_MISSING
    assert blobs.get(stays) == b"two"


def test_forget_leaves_newer_versions_alone(blobs):
    """An erasure takes what came before it; what has been accepted since keeps its content."""
    old, same, newer = (blobs.put(A, b"tea", version) for version in (1, 2, 10))
    assert (blobs.held(A), blobs.held(A, 2)) == (3, 2)
    assert blobs.forget(A, 2) == 2
    assert blobs.held(A, 2) == 0
    assert [reason_of(blobs, ref) for ref in (old, same)] == [Reason.BLOB_MISSING] * 2
    assert blobs.get(newer) == b"tea"


def test_expire_removes_what_is_older(blobs):
    """By the time of writing; putting the same bytes again makes them new."""
    before = now_us() - 10_000_000
    refs = [blobs.put(key, b"tea", 1) for key in (A, B)]
    assert blobs.expire(before) == 0
    assert [blobs.get(ref) for ref in refs] == [b"tea", b"tea"]
    assert blobs.expire(now_us() + 10_000_000) == 2
    assert reason_of(blobs, refs[0]) is Reason.BLOB_MISSING
    assert blobs.get(blobs.put(A, b"tea", 1)) == b"tea"


def test_a_blob_that_was_changed_is_refused(blobs, where):
    """By its size, and by its digest; putting it again heals it."""
    import fsspec

    ref = blobs.put(A, b"tea", 1)
    fs, root = fsspec.core.url_to_fs(where[0], **where[1])
    for other in (b"teas", b"TEA"):
        fs.pipe_file(f"{root}/{ref.uri}", other)
        assert reason_of(blobs, ref) is Reason.BLOB_MISSING
    blobs.put(A, b"tea", 1)
    assert blobs.get(ref) == b"tea"


def test_a_reference_names_nothing_outside(blobs, where, tmp_path):
    """No path, no protocol, no other name; all are refused before anything is read."""
    (tmp_path / "secret").write_bytes(b"tea")
    good = blobs.put(A, b"tea", 1)
    for uri in (
        f"../{good.uri}",
        f"{good.uri}/../../../secret",
        f"{A.digest}/../../secret",
        f"file://{tmp_path}/secret",
        str(tmp_path / "secret"),
        f"{where[0]}/{good.uri}",
        f"/{good.uri}",
        good.uri.upper(),
        f"{good.uri}\n",
        f"{A.digest}/{'0' * 64}",
        "",
    ):
        assert reason_of(blobs, msgspec.structs.replace(good, uri=uri)) is Reason.INVALID_EVENT, uri
    assert blobs.get(good) == b"tea"


def test_many_at_once(blobs):
    """Threads that put, forget and get the same document see whole bytes or none; who comes in between tries again."""
    seen = []

    def work(number):
        for turn in range(8):
            data = b"%d" % (turn % 3) * 1000
            try:
                if number == 0:
                    blobs.forget(A)
                seen.append(blobs.get(blobs.put(A, data, 1)) == data)
            except Retryable:
                seen.append(True)
            except Rejected as e:
                seen.append(e.reason is Reason.BLOB_MISSING)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert seen == [True] * 32


def test_local_blobs_are_their_owners(tmp_path):
    """Nobody else on the machine may read them; nothing half-written is left."""
    ref = FsspecBlobs(str(tmp_path / "blobs")).put(A, b"tea", 1)
    path = tmp_path / "blobs" / ref.uri
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
    assert [file.name for file in path.parent.iterdir()] == [path.name]


def test_a_local_folder_that_is_away_is_no_lost_blob(tmp_path):
    """An unmounted disk must not turn every message into a dead letter."""
    blobs = FsspecBlobs(str(tmp_path / "blobs"))
    ref = blobs.put(A, b"tea", 1)
    (tmp_path / "blobs").rename(tmp_path / "away")
    with pytest.raises(Retryable):
        blobs.get(ref)
    (tmp_path / "away").rename(tmp_path / "blobs")
    assert blobs.get(ref) == b"tea"


def test_a_full_or_closed_folder_is_tried_again(tmp_path):
    """A file stands where the folder should be."""
    (tmp_path / "blobs").write_bytes(b"")
    with pytest.raises(Retryable):
        FsspecBlobs(str(tmp_path / "blobs")).put(A, b"tea", 1)


def test_what_was_left_by_a_crash_expires(tmp_path):
    """A file whose rename never came is no blob, and does not stay."""
    blobs = FsspecBlobs(str(tmp_path / "blobs"))
    left = tmp_path / "blobs" / A.digest / f".{'0' * 64}.abc"
    blobs.put(A, b"tea", 1)
    left.write_bytes(b"half")
    assert blobs.expire(now_us() + 10_000_000) == 1
    assert list((tmp_path / "blobs").iterdir()) == []


@pytest.mark.parametrize("url", ["", "nothing://x", "file://", "memory://", "s3://"])
def test_a_url_that_cannot_be_used_is_a_wrong_setting(url):
    """Said at the start, naming the setting."""
    with pytest.raises(Misconfigured, match="setting blobs"):
        FsspecBlobs(url)


@pytest.mark.integration
def test_a_bucket_that_is_not_there_is_no_lost_blob(s3):
    """Nor is a server that does not answer: both are tried again."""
    ref = BlobRef.of(A, b"tea", 1)
    away = {**s3, "endpoint_url": "http://127.0.0.1:9", "config_kwargs": {"retries": {"max_attempts": 0}}}
    for blobs in (FsspecBlobs("s3://nowhere/x", s3), FsspecBlobs("s3://lake/x", away)):
        with pytest.raises(Retryable):
            blobs.get(ref)
        with pytest.raises(Retryable):
            blobs.put(A, b"tea", 1)
