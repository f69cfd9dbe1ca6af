"""One Edge shard for many processes: `python tests/edge_server.py SOCKET FOLDER DIM`, until SIGTERM.

Where no Qdrant server can be had, the workers under test share this. It answers the requests of
`upwell.lake.store.edge_requests` on a Unix socket; `shared_edge.SharedEdge` asks. As on a server of Qdrant's, a write
that was answered survives kill -9, and the next process on the folder goes on.
"""

import os
import signal
import socket
import sys
import threading
from contextlib import suppress
from pathlib import Path

from upwell.child import answered, receive, send
from upwell.lake.store import edge_requests as ask
from upwell.lake.store.edge import READS
from upwell.lake.store.edge_child import Handler
from upwell.lake.store.turns import GroupCommit, Turns

GATHER_S = 0.01
"""Flushes of several clients that come within it are one."""
FLUSH = ask.encode(ask.Flush())


class Front:
    """The handler behind a queue: one request at a time, readers and writers by turns, one flush for all who wait for one."""

    def __init__(self, folder, dim):
        self._handler = Handler(folder, dim)
        self._turns = Turns()
        self._commit = GroupCommit(lambda: self._one(FLUSH), lambda _took_s: self._turns.quiet(GATHER_S))

    def __call__(self, request):
        if request == FLUSH:
            self._commit()
            return ask.encode(None)
        return self._one(request)

    def close(self):
        with self._turns.take(reads=False):
            self._handler.close()

    def _one(self, request):
        with self._turns.take(reads=isinstance(ask.decode_request(request), READS)):
            return self._handler(request)


def converse(front, connection):
    """Answer one client until it goes."""
    with connection, suppress(OSError, EOFError):
        while True:
            _, request = receive(connection)
            send(connection, *answered(front, request))


def serve(path, front):
    """Listen at `path`, a thread a client. The socket of a server that was killed is taken over."""
    with socket.socket(socket.AF_UNIX) as listener:
        path.unlink(missing_ok=True)
        listener.bind(str(path))
        listener.listen(128)
        while True:
            connection, _ = listener.accept()
            threading.Thread(target=converse, args=(front, connection), daemon=True).start()


def main(path, folder, dim):
    os.umask(0o077)
    front = Front(Path(folder), int(dim))
    front(ask.encode(ask.Count()))  # takes the shard's lock, before anybody is told that it serves
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    try:
        serve(Path(path), front)
    finally:
        front.close()


if __name__ == "__main__":
    main(*sys.argv[1:])
