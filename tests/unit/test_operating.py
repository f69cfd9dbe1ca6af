"""Metrics name what readers may not know: they stand where operators alone come, and the network never sees them."""

import socket
from contextlib import closing, contextmanager

import httpx
import pytest
from fastapi import FastAPI

from upwell.errors import Misconfigured, Retryable
from upwell.runtime.operating import add_health, expose
from upwell.runtime.serving import Listening


def free_port():
    with closing(socket.create_server(("127.0.0.1", 0))) as taken:
        return taken.getsockname()[1]


@contextmanager
def process(host, port=0, ready=lambda: None):
    """(the URL that the network reaches, that of operators or None) of a process that serves at `host`."""
    app = FastAPI()
    add_health(app, ready)
    operators = expose(app, host, port, exposition=lambda: b"upwell_x 1\n", ready=ready)
    network = Listening(host, 0, app)
    try:
        yield network.url.replace("0.0.0.0", "127.0.0.1"), f"http://127.0.0.1:{port}" if port else None
    finally:
        network.close()
        if operators is not None:
            operators.close()


def test_on_this_machine_alone_they_stand_beside_the_rest():
    with process("127.0.0.1") as (network, _):
        assert httpx.get(f"{network}/metrics").text == "upwell_x 1\n"


def test_on_the_network_there_are_none():
    with process("0.0.0.0") as (network, _):
        assert httpx.get(f"{network}/metrics").status_code == 404
        assert httpx.get(f"{network}/healthz").text == "ok\n"


def test_operators_have_a_port_of_their_own():
    def away():
        raise Retryable("the store is away")

    with process("0.0.0.0", free_port(), away) as (network, operators):
        assert httpx.get(f"{network}/metrics").status_code == 404
        assert httpx.get(f"{operators}/metrics").text == "upwell_x 1\n"
        assert (httpx.get(f"{operators}/healthz").status_code, httpx.get(f"{operators}/readyz").status_code) == (
            200,
            503,
        )
        assert httpx.get(f"{operators}/v1/search").status_code == 404


def test_a_port_that_is_taken_is_said():
    with closing(socket.create_server(("0.0.0.0", 0))) as taken, pytest.raises(Misconfigured):
        expose(FastAPI(), "0.0.0.0", taken.getsockname()[1], exposition=bytes, ready=lambda: None)
