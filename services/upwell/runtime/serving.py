"""The owner's answering machine: the API on the lake's socket, started when somebody first knocks.

A one-shot command owns its lake for a second or two; it listens from the start, but the web framework is imported only
when another command connects (the connection waits in the listen queue until then).
"""

import select
import socket
import threading
from collections.abc import Callable
from contextlib import suppress
from typing import Any

Build = Callable[[], Any]


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
