"""Clients that take their time: none of them holds a connection or a thread for long."""

import socket
import time
from contextlib import closing
from urllib.parse import urlsplit

import pytest

from readers import serving
from upwell.runtime import patience
from upwell.runtime.serve import routes
from upwell.runtime.serve.mcp import http as mcp_http

SOON_S = 0.5


@pytest.fixture
def service(tmp_path, monkeypatch):
    monkeypatch.setattr(patience, "ARRIVAL_S", SOON_S)
    monkeypatch.setattr(routes, "BODY_WITHIN_S", SOON_S)
    monkeypatch.setattr(mcp_http, "BODY_WITHIN_S", SOON_S)
    with serving(tmp_path) as made:
        yield made


@pytest.fixture
def wire(service):
    """A bare connection to the service."""
    place = urlsplit(service.url)
    with closing(socket.create_connection((place.hostname, place.port), timeout=20)) as made:
        yield made


def head(service, path, length):
    token = service.bearer("ana", "staff")["Authorization"]
    return (
        f"POST {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: {token}\r\n"
        f"Content-Type: application/json\r\nContent-Length: {length}\r\n\r\n"
    ).encode()


def trickle(wire, data, every_s=0.05):
    """Send a byte now and then until the other side has had enough; what it said meanwhile."""
    said = b""
    wire.settimeout(every_s)
    end = time.monotonic() + 20
    for byte in data:
        assert time.monotonic() < end, f"still connected: {said!r}"
        try:
            wire.send(bytes([byte]))
            part = wire.recv(65536)
        except TimeoutError:
            continue
        except (ConnectionError, BrokenPipeError):
            return said
        if not part:
            return said
        said += part
    pytest.fail("everything was taken")


@pytest.mark.parametrize("path", ["/v1/search", "/mcp"])
def test_a_body_that_trickles_is_cut_and_its_client_told(service, wire, path):
    wire.sendall(head(service, path, 10_000))
    assert b"HTTP/1.1 408" in trickle(wire, b" " * 10_000)
    assert service.lake.asked == []


def test_headers_that_trickle_are_cut(wire):
    assert trickle(wire, b"GET /healthz HTTP/1.1\r\nX-Slow: " + b"x" * 10_000) == b""


def test_a_connection_without_a_word_is_cut(wire):
    assert wire.recv(1) == b""


def test_a_body_that_nobody_reads_any_more_is_cut(service, wire):
    wire.sendall(head(service, "/v1/search", 10**9))
    said = b""
    end = time.monotonic() + 20
    while time.monotonic() < end:
        try:
            wire.sendall(b"x" * 4096)
            wire.settimeout(0.05)
            said += wire.recv(65536)
        except TimeoutError:
            continue
        except OSError:
            break
    assert b"HTTP/1.1 413" in said
    assert time.monotonic() < end


def test_a_second_request_on_the_same_connection_is_not_cut(wire):
    for _ in range(6):
        wire.sendall(b"GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
        said = b""
        while not said.endswith(b"ok\n"):
            part = wire.recv(65536)
            assert part, "the connection was cut"
            said += part
        time.sleep(SOON_S / 2)  # shorter than either end of patience, and longer in all


def test_slow_clients_leave_others_alone(service, wire):
    place = urlsplit(service.url)
    slow = [socket.create_connection((place.hostname, place.port), timeout=20) for _ in range(60)]
    try:
        for one in slow:
            one.sendall(head(service, "/v1/search", 1000) + b"{")
        started = time.monotonic()
        assert service.http.get("/v1/sources").status_code == 200
        assert time.monotonic() - started < 5
    finally:
        for one in slow:
            one.close()
