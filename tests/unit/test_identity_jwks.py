"""An issuer's keys rotate without a restart; forged key ids and a sick endpoint cost little and open nothing."""

import gzip
import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from signing import AUDIENCE, CLAIMS, ISSUER, NOW_US, jwk, key_set, token
from upwell.config import IssuerSettings
from upwell.errors import KeyLookupFailed, Misconfigured, Refusal, Unauthorized
from upwell.identity import jwks
from upwell.identity.jwks import PAUSE_S, STALE_S, TTL_S, Jwks
from upwell.identity.key_places import MAX_SET_BYTES, HttpKeys, place_of
from upwell.identity.tokens import Verifier

S = 1_000_000
OLD, NEW = jwk("EdDSA", "old", 0), jwk("EdDSA", "new", 1)


class At:
    def __init__(self) -> None:
        self.us = NOW_US

    def __call__(self) -> int:
        return self.us

    def later(self, seconds: float) -> None:
        self.us += int(seconds * S)


@pytest.fixture
def clock() -> At:
    return At()


class Endpoint:
    """A real HTTP server that says what it is told to say, and counts how often it is asked."""

    def __init__(self) -> None:
        self.asked: list[str] = []
        self.status, self.headers, self.body = 200, {}, key_set(OLD)
        self.drip_s = 0.0
        self.gate = threading.Event()
        self.gate.set()
        endpoint = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                endpoint.answer(self)

            def log_message(self, *_: object) -> None: ...

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._server.server_port}/jwks.json"
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.01})
        self._thread.start()

    def answer(self, to: BaseHTTPRequestHandler) -> None:
        self.asked.append(to.path)
        self.gate.wait(20)
        to.send_response(self.status)
        for name, value in self.headers.items():
            to.send_header(name, value)
        to.end_headers()
        try:
            if self.drip_s:
                for _ in range(int(20 / self.drip_s)):
                    to.wfile.write(b" ")
                    time.sleep(self.drip_s)
            to.wfile.write(self.body)
        except OSError:
            pass  # the other side had enough

    def close(self) -> None:
        self.gate.set()
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()


@pytest.fixture
def endpoint() -> Iterator[Endpoint]:
    made = Endpoint()
    yield made
    made.close()


def lookup_fails(keys: Jwks, kid: str) -> str:
    with pytest.raises(KeyLookupFailed) as raised:
        keys.find(kid)
    assert str(raised.value) == "who you are cannot be checked now; try again later"
    return raised.value.detail


def test_nothing_is_asked_before_a_token_comes_and_then_once(endpoint, clock):
    keys = Jwks.at(endpoint.url, clock)
    assert endpoint.asked == []
    for _ in range(50):
        assert keys.find("old").kid == "old"
    assert endpoint.asked == ["/jwks.json"]


def test_an_unknown_key_is_looked_for_and_the_old_one_goes(endpoint, clock):
    keys = Jwks.at(endpoint.url, clock)
    keys.find("old")
    endpoint.body = key_set(NEW)
    clock.later(PAUSE_S)
    assert keys.find("new").kid == "new"
    assert keys.find("old") is None


def test_a_set_is_asked_for_again_when_it_is_old(endpoint, clock):
    keys = Jwks.at(endpoint.url, clock)
    keys.find("old")
    endpoint.body = key_set(NEW)
    clock.later(TTL_S - 1)
    assert keys.find("old")
    clock.later(1)
    assert keys.find("old") is None
    assert len(endpoint.asked) == 2


def test_forged_key_ids_do_not_hammer_the_endpoint(endpoint, clock):
    keys = Jwks.at(endpoint.url, clock)
    for n in range(1000):
        assert keys.find(f"forged-{n}") is None
        clock.later(0.02)
    assert len(endpoint.asked) == 2  # in twenty seconds, with a pause of ten


def test_the_last_good_set_holds_for_a_while_when_the_endpoint_is_away(endpoint, clock):
    keys = Jwks.at(endpoint.url, clock)
    keys.find("old")
    endpoint.status = 503
    clock.later(STALE_S - 1)
    assert keys.find("old")
    assert "503" in lookup_fails(keys, "new")  # it may have come meanwhile: nobody can know
    clock.later(1)
    assert "503" in lookup_fails(keys, "old")
    endpoint.status = 200
    clock.later(PAUSE_S)
    assert keys.find("old")
    assert keys.find("new") is None


def test_an_endpoint_that_is_away_is_not_hammered_either(endpoint, clock):
    endpoint.status = 500
    keys = Jwks.at(endpoint.url, clock)
    for _ in range(100):
        lookup_fails(keys, "old")
    assert len(endpoint.asked) == 1


def test_nobody_listening_is_a_lookup_that_failed(endpoint, clock):
    endpoint.close()
    assert "ConnectError" in lookup_fails(Jwks.at(endpoint.url, clock), "old")


def test_a_clock_that_was_set_back_makes_nothing_fresh(endpoint, clock):
    keys = Jwks.at(endpoint.url, clock)
    keys.find("old")
    endpoint.body = key_set(NEW)
    clock.later(-1_000_000)
    assert keys.find("old") is None


@pytest.mark.parametrize(
    ("answer", "says"),
    [
        ((302, {"Location": "http://127.0.0.1:1/"}, b""), "302 (not followed)"),
        ((301, {"Location": "file:///etc/passwd"}, b""), "301 (not followed)"),
        ((404, {}, key_set(OLD)), "404"),
        ((200, {}, b"<html>"), "not a JWK Set"),
        ((200, {}, b'{"keys":7}'), "not a JWK Set"),
        ((200, {}, b"[" * 100_000), "not a JWK Set"),
        ((200, {}, b'{"keys":[' + b",".join([b"{}"] * 101) + b"]}"), "more than 100 keys"),
        ((200, {}, b'{"keys":[]}' + b" " * MAX_SET_BYTES), "larger than"),
        ((200, {"Content-Encoding": "gzip"}, gzip.compress(b" " * 10_000_000)), "compressed"),
    ],
)
def test_an_answer_that_is_no_small_plain_key_set_is_refused(endpoint, clock, answer, says):
    endpoint.status, endpoint.headers, endpoint.body = answer
    assert says in lookup_fails(Jwks.at(endpoint.url, clock), "old")
    assert len(endpoint.asked) == 1


def test_a_redirect_to_the_endpoint_itself_is_not_followed(endpoint, clock):
    endpoint.status, endpoint.headers = 307, {"Location": "/elsewhere"}
    lookup_fails(Jwks.at(endpoint.url, clock), "old")
    assert endpoint.asked == ["/jwks.json"]


def test_an_empty_set_takes_all_keys_away(endpoint, clock):
    keys = Jwks.at(endpoint.url, clock)
    keys.find("old")
    endpoint.body = key_set()
    clock.later(TTL_S)
    assert keys.find("old") is None


def test_an_endpoint_that_drips_is_given_up_in_time(endpoint, clock):
    endpoint.drip_s = 0.05
    began = time.monotonic()
    assert "too slow" in lookup_fails(Jwks(HttpKeys(endpoint.url, total_s=0.5), clock), "old")
    assert time.monotonic() - began < 5


def test_while_one_asks_the_others_take_the_key_that_is_held_and_forged_ids_do_not_wait_long(
    endpoint, clock, monkeypatch
):
    keys = Jwks.at(endpoint.url, clock)
    keys.find("old")
    clock.later(TTL_S)
    endpoint.gate.clear()
    asking = threading.Thread(target=keys.find, args=("old",))
    asking.start()
    while len(endpoint.asked) < 2:
        time.sleep(0.005)
    monkeypatch.setattr(jwks, "WAIT_S", 60.0)
    began = time.monotonic()
    assert keys.find("old").kid == "old"
    assert time.monotonic() - began < 30
    monkeypatch.setattr(jwks, "WAIT_S", 0.1)
    assert "still being read" in lookup_fails(keys, "forged")
    assert time.monotonic() - began < 60
    endpoint.gate.set()
    asking.join()
    assert len(endpoint.asked) == 2


def test_a_crowd_at_the_start_asks_once(endpoint, clock):
    keys = Jwks.at(endpoint.url, clock)
    found: list[str] = []
    crowd = [threading.Thread(target=lambda: found.append(keys.find("old").kid)) for _ in range(20)]
    for one in crowd:
        one.start()
    for one in crowd:
        one.join()
    assert found == ["old"] * 20
    assert len(endpoint.asked) == 1


@pytest.fixture
def path(tmp_path: Path) -> Path:
    made = tmp_path / "jwks.json"
    made.write_bytes(key_set(OLD))
    return made


def test_a_file_is_read_again_when_it_changes_and_only_then(path, clock):
    keys = Jwks.at(str(path), clock)
    assert keys.find("old")
    assert keys.find("new") is None
    replace(path, key_set(NEW))
    assert keys.find("new")
    assert keys.find("old") is None
    clock.later(STALE_S * 10)
    assert keys.find("new")


class Shelf:
    """A place in memory whose content changes with its mark."""

    def __init__(self) -> None:
        self.reads = 0

    def mark(self) -> object:
        return "unchanged"

    def read(self) -> bytes:
        self.reads += 1
        return key_set(OLD)


def test_what_did_not_change_is_read_once_however_old_it_is_and_whatever_is_asked_for(clock):
    shelf = Shelf()
    keys = Jwks(shelf, clock)
    for _ in range(20):
        assert keys.find("old")
        assert keys.find("forged") is None
        clock.later(TTL_S)
    assert shelf.reads == 1


@pytest.mark.parametrize(
    "spoil", [lambda p: p.unlink(), lambda p: replace(p, b"{"), lambda p: replace(p, b" " * 300_000)]
)
def test_a_spoilt_file_leaves_the_last_good_set_for_a_while(path, clock, spoil):
    keys = Jwks.at(str(path), clock)
    keys.find("old")
    clock.later(STALE_S * 10)
    spoil(path)
    assert keys.find("old")
    clock.later(STALE_S - 1)
    assert keys.find("old")
    lookup_fails(keys, "new")
    clock.later(1)
    lookup_fails(keys, "old")
    replace(path, key_set(NEW))
    assert keys.find("new")


def replace(path: Path, data: bytes) -> None:
    beside = path.with_suffix(".new")
    beside.write_bytes(data)
    beside.replace(path)


@pytest.mark.parametrize(
    "location",
    [
        "http://id.example/jwks",
        "http://127.0.0.1.evil.example/",
        "ftp://id.example/",
        "https://",
        "https://ana:pw@id.example/",
        "http://[::2]/",
        "gopher://127.0.0.1/",
        "missing.json",
        "file:///missing.json",
        "",
    ],
)
def test_a_location_that_cannot_be_trusted_or_is_not_there_is_refused_at_the_start(location, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(Misconfigured, match=r"issuers\.jwks") as raised:
        place_of(location)
    assert "pw" not in str(raised.value)


@pytest.mark.parametrize(
    "location",
    ["https://id.example/jwks", "HTTPS://id.example/", "http://localhost:1/", "http://127.8.8.8/", "http://[::1]:9/"],
)
def test_a_location_that_can_be_is_taken_and_not_asked(location):
    assert place_of(location).mark() is None


def test_a_file_url_is_a_file(path):
    assert place_of(path.as_uri()).read() == key_set(OLD)


def test_a_verifier_follows_a_rotation_at_the_issuers_endpoint(endpoint, clock):
    issuer = IssuerSettings(issuer=ISSUER, audience=AUDIENCE, jwks=endpoint.url)
    verifying = Verifier([issuer], None, "upwell", clock)
    claims = {**CLAIMS, "exp": CLAIMS["exp"] + 10_000}
    assert verifying.verify(token(claims, kid="old", number=0)).subject == "ana"
    endpoint.body = key_set(NEW)
    with pytest.raises(Unauthorized) as raised:
        verifying.verify(token(claims, kid="new", number=1))
    assert raised.value.reason == Refusal.UNKNOWN_KEY
    clock.later(PAUSE_S)
    assert verifying.verify(token(claims, kid="new", number=1)).subject == "ana"
    with pytest.raises(Unauthorized):
        verifying.verify(token(claims, kid="old", number=0))
