"""Bodies that are held at once: a crowd of strangers uses up its own room, never the process's memory."""

import socket
import threading
from contextlib import closing, contextmanager
from urllib.parse import urlsplit

import pytest

from broker import wait_for
from gateways import KEY, SECRET, Gate
from upwell.ports import Fate
from upwell.records import Outcome
from upwell.runtime import bodies, patience
from upwell.runtime.gateway import routes

HELLO = {"doc_id": "a.md", "op": "upsert", "version": 1, "content": {"type": "inline", "data": "SGVsbG8="}}
ROOM = 64 * 1024
BODY = b'{"Records": []}' + b" " * (ROOM // 2)


class Counted(bodies.Room):
    """A room that can be asked how full it is."""

    rooms = []

    def __init__(self, limit_bytes):
        super().__init__(limit_bytes)
        self.rooms.append(self)


@pytest.fixture
def gate(monkeypatch):
    Counted.rooms.clear()
    monkeypatch.setattr(routes, "Room", Counted)
    monkeypatch.setattr(routes, "HOOKS_ROOM_BYTES", ROOM)
    monkeypatch.setattr(routes, "KNOWN_ROOM_BYTES", ROOM)
    with closing(Gate()) as made:
        yield made


@contextmanager
def stalled(gate, path, key):
    """A client that has sent most of a body and keeps the rest."""
    place = urlsplit(str(gate.http.base_url))
    with socket.create_connection((place.hostname, place.port), timeout=20) as wire:
        head = f"POST {path} HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer {key}\r\nContent-Length: {ROOM}\r\n\r\n"
        wire.sendall(head.encode() + b" " * (ROOM - 1))
        wait_for(lambda: min(room.left_bytes for room in Counted.rooms) == 1, 60, "it has come")
        yield


def hooked(gate):
    return gate.hook("bucket", BODY).status_code


def posted(gate):
    return gate.post([HELLO] * 200).status_code


def told(gate):
    return gate.tell("user:ana", {"member_of": [f"group:{n:0150}" for n in range(200)]}).status_code


@pytest.mark.parametrize(
    ("path", "key", "ask", "other"),
    [
        ("/v1/hooks/nobody", "wrong", hooked, posted),
        ("/v1/hooks/bucket", SECRET, hooked, posted),
        ("/v1/events", KEY, posted, hooked),
    ],
)
def test_where_no_room_is_left_others_are_told_to_come_again(gate, path, key, ask, other):
    """Until whoever holds it has gone; those with a key and those without have rooms apart."""
    with stalled(gate, path, key):
        assert ask(gate) == 429
        assert other(gate) == 202
    wait_for(lambda: ask(gate) == 202, 60, "there is room again")


def test_who_is_told_to_come_again_is_told_when(gate):
    with stalled(gate, "/v1/hooks/nobody", "wrong"):
        answer = gate.hook("bucket", BODY)
    assert (answer.status_code, answer.headers["Retry-After"], answer.json()["error"]) == (429, "1", "Overloaded")


def test_what_was_taken_or_refused_leaves_its_room(gate):
    for _ in range(10):
        assert posted(gate) == 202
        assert hooked(gate) == 202
        assert told(gate) == 202
        assert gate.hook("bucket", BODY, headers={}).status_code == 401
        assert gate.post(b" " * (ROOM // 2)).status_code == 422


def test_memberships_come_through_the_room_of_those_who_have_a_key(gate):
    with stalled(gate, "/v1/events", KEY):
        assert told(gate) == 429


def test_who_waits_for_an_end_holds_no_room(gate):
    waiting = threading.Thread(
        target=gate.post, args=([{**HELLO, "event_id": "slow"}] * 400,), kwargs={"query": "?wait=applied"}
    )
    waiting.start()
    assert gate.sink.taken.wait(20)
    try:
        wait_for(lambda: gate.post([HELLO] * 400).status_code == 202, 60, "there is room")
    finally:
        gate.sink.end("slow", Fate(outcome=Outcome.APPLIED))
        waiting.join()


@pytest.mark.parametrize("path", ["/v1/hooks/nobody", "/v1/events"])
def test_a_client_that_goes_away_is_no_failure_of_ours(gate, path, caplog):
    route = path.split("/")[2]
    with stalled(gate, path, KEY):
        pass
    wait_for(lambda: caplog.records, 60, "it was noticed")
    assert [record.message for record in caplog.records] == ["refused"]
    counted = {"route": route, "status": "408"}
    assert gate.metrics.registry.get_sample_value("upwell_gateway_requests_total", counted) == 1


def test_nobody_has_more_than_a_few_chunks_worked_through_before_others_have_their_turn(gate, monkeypatch):
    """Each costs the same, however little is in it."""
    reads = []
    receive = patience.PatientProtocol.data_received

    def received(self, data):
        reads.append(len(data))
        receive(self, data)

    monkeypatch.setattr(patience.PatientProtocol, "data_received", received)
    answer = gate.http.post("/v1/hooks/nobody", content=iter([b"x" * 60_000]))
    assert answer.status_code == 401
    assert sum(reads) > 60_000
    assert max(reads) <= patience.READ_BYTES <= 8192
