"""The Edge store's process: killed, waited for, interrupted, never the loss of an acknowledged write."""

import os
import random
import signal
import subprocess
import sys
import threading
import time

import psutil
import pytest

from lake_samples import ALL_MAY, DIM, key, point, query, vectors
from upwell.access import payload_of
from upwell.child import ChildDied
from upwell.errors import Misconfigured, Retryable, UpwellError
from upwell.lake.store import edge_folder
from upwell.lake.store import edge_requests as ask
from upwell.lake.store.edge import EdgeStore
from upwell.records import Acl

pytestmark = pytest.mark.integration
NOBODY = Acl()


@pytest.fixture
def store(tmp_path):
    store = EdgeStore(tmp_path / "store", dim=DIM)
    yield store
    store.close()


def kill(store):
    """kill -9 of the child, and nothing told to the store."""
    os.kill(store._child.process.pid, signal.SIGKILL)


def test_a_killed_child_is_started_again_and_nothing_acknowledged_is_lost(store):
    """Not even what was not flushed: the log outlives the process."""
    store.insert([point("a", n) for n in range(20)])
    store.stamp(key("a"), 2, payload_of(NOBODY))
    store.insert([point("b", n) for n in range(3)])
    store.prune(key("b"), 1, {point("b", 0).point_id})
    kill(store)
    assert store.count() == 21
    assert {hit.point_id for hit in store.search(query(limit=50))} == {point("b", 0).point_id}


def test_random_kills_under_load_lose_and_double_nothing(store):
    """Three writers and a killer, until it has killed six times: every write that was acknowledged is there, once."""
    kills, failures, written = [], [], {}
    enough = threading.Event()

    def write(name):
        written[name] = 0
        try:
            while not enough.is_set():
                acknowledged(name, written[name])
                written[name] += 1
        except UpwellError as error:
            failures.append(error)

    def acknowledged(name, n):
        while True:
            try:
                store.insert([point(name, n, given=vectors(n, tokens=2))])
                return store.flush() if n % 10 == 9 else None
            except ChildDied:
                continue  # killed twice in one call: the store says so, and the caller tries again

    def murder():
        rng = random.Random(5)
        while len(kills) < 6:
            enough.wait(rng.uniform(0.1, 0.5))
            child = store._child
            if child is not None and child.alive:
                os.kill(child.process.pid, signal.SIGKILL)
                kills.append(child.process.pid)
        enough.set()

    threads = [threading.Thread(target=write, args=(f"doc-{n}",)) for n in range(3)]
    threads.append(threading.Thread(target=murder))
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []
    assert len(set(kills)) >= 3
    for name, count in written.items():
        assert set(store.present(key(name))) == {point(name, n).point_id for n in range(count)}
    assert store.count() == sum(written.values())


def test_an_interrupted_call_does_not_give_its_answer_to_the_next(store):
    """Control-C between a request and its answer: later calls get their own answers."""
    store.insert([point("a", n) for n in range(3)])
    before = signal.signal(signal.SIGALRM, signal.default_int_handler)
    try:
        os.kill(store._child.process.pid, signal.SIGSTOP)
        signal.setitimer(signal.ITIMER_REAL, 0.2)
        with pytest.raises(KeyboardInterrupt):
            store.present(key("a"))
    finally:
        signal.signal(signal.SIGALRM, before)
    assert store.count() == 3
    assert store.texts([point("a", 1).point_id]) == {point("a", 1).point_id: "text of a 1"}


def test_a_vacuum_that_is_interrupted_says_so_and_can_be_repeated(store):
    """Its second part knows that it has nothing to go on."""
    store.insert([point("a"), point("gone")])
    store.prune(key("gone"), 1, frozenset())
    assert store._ask(ask.Compact(), bool)
    kill(store)
    with pytest.raises(Retryable):
        store._ask(ask.PadLog(), int, again=False)
    with pytest.raises(Retryable, match="start again"):
        store._ask(ask.PadLog(), int, again=False)
    store.vacuum()
    assert [hit.key for hit in store.search(query())] == [key("a")]


def test_a_vacuum_after_which_nothing_was_taken_away_is_free(store):
    """A thousand erasures of documents that hold nothing rewrite no segment."""
    store.vacuum()
    started = time.monotonic()
    for _ in range(1000):
        store.vacuum()
    assert time.monotonic() - started < 20, "a vacuum that rewrites takes a second"


def test_a_vacuum_beside_writers_loses_nothing(store):
    """Inserts, stamps and prunes go on while it runs."""
    store.insert([point("old", n, acl=NOBODY) for n in range(30)] + [point("gone", n) for n in range(30)])
    store.prune(key("gone"), 1, frozenset())
    failures = []

    def write():
        try:
            for n in range(30):
                store.insert([point("new", n)])
                store.stamp(key("old"), n + 2, payload_of(ALL_MAY if n % 2 else NOBODY))
                store.prune(key("new"), 1, {point("new", m).point_id for m in range(n % 3, 30)})
        except UpwellError as error:
            failures.append(error)

    writer = threading.Thread(target=write)
    writer.start()
    store.vacuum()
    writer.join()
    assert failures == []
    assert {hit.key.doc_id for hit in store.search(query(limit=100))} == {"old", "new"}
    assert len(store.present(key("old"))) == 30
    assert set(store.present(key("new"))) == {point("new", n).point_id for n in range(2, 30)}


def test_what_a_crash_left_of_a_rewrite_is_removed(tmp_path):
    """A half-made segment may hold text that is deleted later."""
    EdgeStore(tmp_path / "store", dim=DIM).close()
    left = tmp_path / "store" / "points" / "temp_segments" / "half-made"
    left.mkdir(parents=True)
    (left / "page_0.dat").write_bytes(b"text")
    store = EdgeStore(tmp_path / "store", dim=DIM)
    assert not left.exists()
    store.insert([point("a"), point("gone")])
    store.prune(key("gone"), 1, frozenset())
    store.vacuum()
    assert store.count() == 1
    store.close()


def test_what_a_kill_left_of_a_log_file_to_come_does_not_keep_a_vacuum_from_ending(store, tmp_path):
    """The log makes its next file in a folder beside the others; killed in the midst, the folder stays."""
    store.insert([point("a", n) for n in range(3)])
    left = tmp_path / "store" / "points" / "wal" / "left-by-a-kill"
    left.mkdir()
    (left / "segment").write_bytes(b"wal" + b"\0" * 100)
    store.prune(key("a"), 1, set())
    store.vacuum()
    assert store.count() == 0


def test_opening_waits_for_the_previous_process(tmp_path):
    """A restart need not know when the old child is gone."""
    first = EdgeStore(tmp_path / "store", dim=DIM)
    first.insert([point("a")])
    opened = []
    second = threading.Thread(target=lambda: opened.append(EdgeStore(tmp_path / "store", dim=DIM)))
    second.start()
    second.join(1.0)
    assert opened == []
    first.close()
    second.join(30)
    assert opened[0].count() == 1
    opened[0].close()


def test_a_store_that_another_process_keeps_is_retryable(tmp_path):
    """After the wait it says which folder."""
    held = edge_folder.lock(tmp_path)
    with pytest.raises(Retryable, match=str(tmp_path)):
        edge_folder.lock(tmp_path, wait_s=0.05)
    os.close(held)
    os.close(edge_folder.lock(tmp_path, wait_s=0.05))


def test_a_folder_that_is_no_store_is_an_error_and_not_emptied(tmp_path):
    """Damage is reported; nothing is thrown away to get going."""
    EdgeStore(tmp_path / "store", dim=DIM).close()
    config = tmp_path / "store" / "points" / "edge_config.json"
    config.write_text("{not json")
    with pytest.raises((Retryable, Misconfigured)):
        EdgeStore(tmp_path / "store", dim=DIM)
    assert config.read_text() == "{not json"


def test_a_closed_store_is_retryable(store):
    """Calls that come late say so, and start no child."""
    store.close()
    with pytest.raises(Retryable, match="closed"):
        store.count()
    store.close()


def test_the_child_ends_with_its_owner(tmp_path):
    """An owner killed with -9 leaves no process behind that holds the lock."""
    program = (
        "import os, sys; from pathlib import Path; from upwell.lake.store.edge import EdgeStore\n"
        f"store = EdgeStore(Path(sys.argv[1]), dim={DIM}); print(store._child.process.pid, flush=True); input()"
    )
    owner = subprocess.Popen(
        [sys.executable, "-c", program, str(tmp_path / "store")], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    child = int(owner.stdout.readline())
    owner.kill()
    owner.communicate()
    deadline = time.monotonic() + 10
    while time.monotonic() < deadline and _runs(child):
        time.sleep(0.01)
    assert not _runs(child)
    EdgeStore(tmp_path / "store", dim=DIM).close()


def _runs(pid):
    try:
        return psutil.Process(pid).status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


def test_the_child_starts_without_heavy_imports():
    """It must be there in well under half a second: no numpy, no SQL, no models."""
    program = "import sys, upwell.lake.store.edge_child; print(*sorted(sys.modules))"
    loaded = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout.split()
    assert not {"numpy", "sqlalchemy", "fastembed", "qdrant_client", "pydantic", "httpx"} & set(loaded)
