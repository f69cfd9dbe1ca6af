"""The store that worker processes share in these tests: what was answered survives kill -9 of its server."""

import subprocess
import sys
import threading
import time

import msgspec
import pytest

import stagehand
import upwell
from lake_samples import ALL_MAY, DIM, key, point, query
from shared_edge import EdgeServer, SharedEdge
from upwell.access import payload_of
from upwell.config import Settings
from upwell.errors import Rejected, Retryable
from upwell.runtime.parts import Identity

pytestmark = pytest.mark.integration


@pytest.fixture
def server(tmp_path):
    server = EdgeServer(tmp_path / "s", tmp_path / "points", DIM)
    server.start()
    yield server
    server.stop()


@pytest.fixture
def store(server):
    store = SharedEdge(server.path, DIM)
    yield store
    store.close()


def until_answered(call):
    """What the call returns once the server is back."""
    deadline = time.monotonic() + 30
    while True:
        try:
            return call()
        except Retryable:
            assert time.monotonic() < deadline
            time.sleep(0.01)


def test_kill_9_loses_nothing_that_was_answered(server, store):
    """Inserts, stamps and prunes, flushed, from several clients, over five kills; searches find all of it."""
    clients = [SharedEdge(server.path, DIM) for _ in range(3)]
    done, failures, stop = set(), [], threading.Event()

    def write(client, name):
        number = 0
        try:
            while not stop.is_set():
                one = point(name, number)
                until_answered(lambda: client.insert([one]))  # noqa: B023
                until_answered(client.flush)
                done.add(one.point_id)
                number += 1
        except Exception as error:  # noqa: BLE001
            failures.append(error)

    threads = [threading.Thread(target=write, args=(client, f"doc-{n}")) for n, client in enumerate(clients)]
    for thread in threads:
        thread.start()
    for _ in range(5):
        before = len(done)
        while len(done) < before + 5 and not failures:
            time.sleep(0.005)
        server.kill()
        with pytest.raises(Retryable):
            SharedEdge(server.path, DIM)
        server.start()
    stop.set()
    for thread in threads:
        thread.join()
    assert failures == []
    there = {p for n in range(3) for p in until_answered(lambda: store.present(key(f"doc-{n}")))}  # noqa: B023
    assert done == there
    store.stamp(key("doc-0"), 2, payload_of(ALL_MAY))
    assert {hit.point_id for hit in store.search(query(limit=1000))} == there
    for client in clients:
        client.close()


def test_another_process_takes_over_a_server_that_ends_in_order(server, store, tmp_path):
    """SIGTERM, and the next one on the same folder."""
    store.insert([point("a")])
    server.stop()
    with pytest.raises(Retryable, match="away"):
        store.count()
    server.start()
    assert store.count() == 1


def test_what_the_server_refuses_reaches_the_client(store):
    """As its own error, not as a lost connection; and the conversation goes on."""
    with pytest.raises(Rejected, match="refused"):
        store.texts(["no uuid"])
    assert store.count() == 0


def test_the_command_takes_a_store_at_a_socket(server):
    """`stagehand.py` stands in for the one function that opens stores, for this scheme alone."""
    identity = Identity(embedder="hash", model="m", dim=DIM, pipeline="p")
    store = stagehand.stand_in(Settings(store=stagehand.url_of(server.path)), identity)
    assert isinstance(store, SharedEdge)
    store.close()
    said = subprocess.run([sys.executable, stagehand.__file__, "version", "--json"], capture_output=True, check=True)
    assert msgspec.json.decode(said.stdout)["version"] == upwell.__version__
