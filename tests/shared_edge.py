"""The store port over `edge_server.py`: what a worker process under test has for a store, and the server's process."""

import socket
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

from upwell.child import REQUEST, ChildDied, ChildTimedOut, receive, send, taken
from upwell.errors import Retryable
from upwell.lake.store.edge import EdgeStore

CONNECT_S = 5.0
START_S = 30.0
SERVER = Path(__file__).with_name("edge_server.py")


class Connection:
    """A conversation with the server, in the form of `upwell.child.Child`. Raises ChildDied when the server goes."""

    def __init__(self, path):
        self._socket = socket.socket(socket.AF_UNIX)
        self.alive = True
        try:
            self._socket.settimeout(CONNECT_S)
            self._socket.connect(str(path))
        except OSError as error:
            self.kill()
            raise ChildDied("the shared store is away") from error

    def call(self, request, timeout_s=None):
        try:
            self._socket.settimeout(timeout_s)
            send(self._socket, REQUEST, request)
            answer = receive(self._socket)
        except BaseException as error:
            self.kill()  # the answer to this must not be taken for that to another
            if isinstance(error, TimeoutError):
                raise ChildTimedOut("the shared store does not answer") from error
            if isinstance(error, OSError | EOFError):
                raise ChildDied("the shared store went away") from error
            raise
        return taken(*answer)

    def kill(self):
        self.alive = False
        self._socket.close()

    close = kill


class SharedEdge(EdgeStore):
    """`ports.Store` at the server's socket. It connects again by itself; Retryable while the server is away."""

    def __init__(self, socket_path, dim):
        self._path = Path(socket_path)
        super().__init__(self._path.parent, dim=dim)

    def _running_child(self):
        if self._closed:
            raise Retryable("the vector store is closed")
        if self._child is None or not self._child.alive:
            self._child = None
            self._child = Connection(self._path)
        return self._child


class EdgeServer:
    """The server's process over one folder, at one socket."""

    def __init__(self, socket_path, folder, dim):
        self.path = Path(socket_path)
        self._arguments = [sys.executable, str(SERVER), str(self.path), str(folder), str(dim)]
        self.process = None

    def start(self):
        """Start it, and return when it answers."""
        self.launch()
        deadline = time.monotonic() + START_S
        while time.monotonic() < deadline:
            if self.process.poll() is not None:
                raise RuntimeError(f"the shared store ended with status {self.process.returncode}")
            with suppress(ChildDied):
                Connection(self.path).close()
                return
            time.sleep(0.02)
        raise RuntimeError("the shared store does not start")

    def launch(self):
        """Start it, and return at once."""
        self.process = subprocess.Popen(self._arguments, process_group=0)

    def kill(self):
        """kill -9."""
        self.process.kill()
        self.process.wait()

    def stop(self):
        """Let it end in order."""
        self.process.terminate()
        try:
            self.process.wait(20)
        except subprocess.TimeoutExpired:
            self.kill()
