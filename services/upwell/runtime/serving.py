"""Serving in threads: the owner's API on the lake's socket, and a gateway on the network.

A one-shot command owns its lake for a second or two; it listens from the start, but the web framework is imported only
when another command connects (the connection waits in the listen queue until then).
"""

import ipaddress
import select
import socket
import threading
from collections.abc import Callable
from contextlib import suppress
from typing import Any

from upwell.errors import Misconfigured

Build = Callable[[], Any]
MOST_CONNECTIONS = 800
UNREAD_MS = 30_000
HEAD_BYTES = 64 * 1024
"""The longest line and headers of a request: an MCP client repeats the address that it asks for there."""


def is_loopback(host: str) -> bool:
    """True for an address that only this machine reaches."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


class Answering:
    """Serve the ASGI application that `build` makes on `listener`, from the first connection until `close`."""

    def __init__(self, listener: socket.socket, build: Build) -> None:
        self._listener = listener
        self._build = build
        self._server: Any = None
        self._stop_read, self._stop_write = socket.socketpair()
        self._thread = threading.Thread(target=self._run, name="api", daemon=True)
        self._thread.start()

    def close(self) -> None:
        """Finish the answers in hand (for some seconds), then stop."""
        with suppress(OSError):
            self._stop_write.send(b"x")
        if self._server is not None:
            self._server.should_exit = True
        self._thread.join(timeout=10)
        self._stop_read.close()
        self._stop_write.close()

    def _run(self) -> None:
        ready, _, _ = select.select([self._listener, self._stop_read], [], [])
        if self._stop_read in ready:
            return
        import uvicorn  # noqa: PLC0415 only an owner that is asked needs it

        config = uvicorn.Config(
            self._build(), log_config=None, access_log=False, lifespan="off", timeout_graceful_shutdown=3, ws="none"
        )
        self._server = uvicorn.Server(config)
        stopped, _, _ = select.select([self._stop_read], [], [], 0)
        if not stopped:
            self._server.run(sockets=[self._listener])


def send_at_once(listener: socket.socket) -> None:
    """Let no part of an answer wait until the client has acknowledged the part before, which it puts off for 40 ms.

    asyncio would, but for sockets alone that were made with TCP named as their protocol, and what a listener that was
    made without accepts is not. Connections inherit it.
    """
    listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)


def bound_sending(listener: socket.socket) -> None:
    """Let the system end a connection whose client has not taken what was sent for a while (RFC 5482; on Linux)."""
    option = getattr(socket, "TCP_USER_TIMEOUT", None)
    if option is not None:
        listener.setsockopt(socket.IPPROTO_TCP, option, UNREAD_MS)


class Listening:
    """Serve an ASGI application on TCP from now until `close`. `url` has the port that was found for port 0.

    Raises Misconfigured for an address that cannot be listened on.
    """

    def __init__(self, host: str, port: int, application: Any) -> None:
        import uvicorn  # noqa: PLC0415 only whoever listens needs it

        from upwell.runtime.patience import PatientProtocol  # noqa: PLC0415

        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        try:
            self._listener = socket.create_server((host, port), family=family, backlog=512)
        except OSError as e:
            raise Misconfigured(f"--listen {host}:{port}: {e.strerror or e}; give another address or port") from e
        named = f"[{host}]" if ":" in host else host
        self.url = f"http://{named}:{self._listener.getsockname()[1]}"
        bound_sending(self._listener)
        send_at_once(self._listener)
        config = uvicorn.Config(
            application,
            http=PatientProtocol,
            h11_max_incomplete_event_size=HEAD_BYTES,
            log_config=None,
            access_log=False,
            lifespan="on",
            timeout_graceful_shutdown=10,
            limit_concurrency=MOST_CONNECTIONS,
            server_header=False,
            ws="none",
        )
        self._server = uvicorn.Server(config)
        self._thread = threading.Thread(target=self._run, name="gateway", daemon=True)
        self._thread.start()

    def close(self) -> None:
        """Take no more, answer what is in hand (for some seconds), then stop."""
        self._server.should_exit = True
        self._thread.join(timeout=15)
        self._listener.close()

    def _run(self) -> None:
        self._server.run(sockets=[self._listener])
