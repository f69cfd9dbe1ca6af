"""A spawned Python process that answers requests, one at a time, and ends with its owner.

The store and the sandboxed parsers are such children. Frames on a socket pair: 8 bytes length (big-endian), 1 byte
kind, body. The owner's end of a second pipe is a lifeline: when the owner ends, however it ends, the child exits at
once.
"""

import os
import socket
import struct
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress

import msgspec

from upwell.errors import Misconfigured, Reason, Rejected, Retryable, UpwellError

HEADER = struct.Struct("!QB")
REQUEST, RESULT, FAILURE = 0, 1, 2


class ChildDied(Retryable):
    """The child ended, or had to be ended, before it answered. A new one is started by the next call's owner.

    `exit_status` is its exit status, negative for a signal; None where it was not awaited.
    """

    def __init__(self, detail: str, exit_status: int | None = None) -> None:
        super().__init__(detail)
        self.exit_status = exit_status


class ChildTimedOut(ChildDied):
    """The child did not answer in time and was killed."""


class ChildAnsweredTooMuch(ChildDied):
    """The child wanted to say more than it may and was killed."""


class Child:
    """Start `python -m module *args` and talk to it. `call` is safe from several threads: one request at a time."""

    def __init__(self, module: str, args: Sequence[str] = (), env: Mapping[str, str] | None = None) -> None:
        ours, theirs = socket.socketpair()
        lifeline_read, self._lifeline = os.pipe()
        try:
            self.process = subprocess.Popen(
                [sys.executable, "-m", module, str(theirs.fileno()), str(lifeline_read), *args],
                pass_fds=(theirs.fileno(), lifeline_read),
                stdin=subprocess.DEVNULL,
                stdout=sys.stderr.fileno() if _has_fileno() else subprocess.DEVNULL,
                process_group=0,  # a terminal's ctrl-C is for the owner; in another session its `nice` would not hold
                env=dict(os.environ if env is None else env),
            )
        finally:
            theirs.close()
            os.close(lifeline_read)
        self._socket = ours
        self._lock = threading.Lock()

    @property
    def alive(self) -> bool:
        return self.process.poll() is None

    def call(self, request: bytes, timeout_s: float | None = None, most_bytes: int | None = None) -> bytes:
        """Send a request and wait for its answer, `timeout_s` in all, and of at most `most_bytes`.

        Raises ChildDied, ChildTimedOut or ChildAnsweredTooMuch (the child is gone then), or the UpwellError that the
        handler raised.
        """
        with self._lock:
            try:
                deadline = None if timeout_s is None else time.monotonic() + timeout_s
                self._socket.settimeout(timeout_s)
                send(self._socket, REQUEST, request)
                kind, body = receive(self._socket, deadline, most_bytes)
            except TimeoutError as e:
                self.kill()
                raise ChildTimedOut(f"no answer within {timeout_s} s") from e
            except ChildAnsweredTooMuch:
                self.kill()
                raise
            except (OSError, EOFError) as e:
                self.kill()
                status = self.process.returncode
                raise ChildDied(f"the child process ended (exit status {status})", status) from e
            except BaseException:
                self.kill()  # an interrupt fell between request and answer, which the next caller must not get
                raise
        return taken(kind, body)

    def kill(self) -> None:
        """End the child now."""
        with suppress(OSError):
            self._socket.close()
        self.process.kill()
        self.process.wait()
        self._cut_lifeline()

    def close(self, timeout_s: float = 10.0) -> None:
        """Let the child end by itself (it sees the end of its socket), and kill it if it does not."""
        with suppress(OSError):
            self._socket.shutdown(socket.SHUT_RDWR)
        self._socket.close()
        try:
            self.process.wait(timeout_s)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self._cut_lifeline()

    def _cut_lifeline(self) -> None:
        lifeline, self._lifeline = self._lifeline, -1
        if lifeline >= 0:
            os.close(lifeline)


def serve(handle: Callable[[bytes], bytes], socket_fd: int, lifeline_fd: int) -> None:
    """In the child: answer requests until the owner closes its end.

    An UpwellError of the handler goes back to the caller; any other exception ends the child.
    """
    threading.Thread(target=_end_with_owner, args=(lifeline_fd,), daemon=True).start()
    with socket.socket(fileno=socket_fd) as channel:
        while True:
            try:
                _, request = receive(channel)
            except (EOFError, OSError):
                return
            send(channel, *answered(handle, request))


def answered(handle: Callable[[bytes], bytes], request: bytes) -> tuple[int, bytes]:
    """Kind and body of the frame that answers this request: the handler's result, or the UpwellError that it raised."""
    try:
        return RESULT, handle(request)
    except UpwellError as e:
        return FAILURE, msgspec.msgpack.encode([type(e).__name__, str(getattr(e, "reason", "")), str(e)])


def taken(kind: int, body: bytes) -> bytes:
    """The result in an answer's frame. Raises the UpwellError that it carries instead."""
    if kind == FAILURE:
        raise _thrown(body)
    return body


def send(channel: socket.socket, kind: int, body: bytes) -> None:
    """Write one frame."""
    channel.sendall(HEADER.pack(len(body), kind))
    channel.sendall(body)


def receive(channel: socket.socket, deadline: float | None = None, most_bytes: int | None = None) -> tuple[int, bytes]:
    """Read one frame, whole before `deadline` (of the monotonic clock).

    Raises EOFError when the other end has closed, TimeoutError past the deadline, and ChildAnsweredTooMuch before
    anything is kept of a body that is larger than `most_bytes`.
    """
    length, kind = HEADER.unpack(_exactly(channel, HEADER.size, deadline))
    if most_bytes is not None and length > most_bytes:
        raise ChildAnsweredTooMuch(f"an answer of {length} bytes; at most {most_bytes} are taken")
    return kind, _exactly(channel, length, deadline)


def _exactly(channel: socket.socket, size: int, deadline: float | None) -> bytes:
    data = bytearray(size)
    view = memoryview(data)
    while view:
        if deadline is not None:  # of the whole frame: an end that drips bytes would renew the socket's own timeout
            left_s = deadline - time.monotonic()
            if left_s <= 0:
                raise TimeoutError
            channel.settimeout(left_s)
        read = channel.recv_into(view)
        if not read:
            raise EOFError
        view = view[read:]
    return bytes(data)


def _end_with_owner(lifeline_fd: int) -> None:
    os.read(lifeline_fd, 1)
    os._exit(0)


def _thrown(body: bytes) -> UpwellError:
    name, reason, text = msgspec.msgpack.decode(body, type=tuple[str, str, str])
    if name == "Rejected":
        return Rejected(Reason(reason), text)
    return Misconfigured(text) if name == "Misconfigured" else Retryable(text)


def _has_fileno() -> bool:
    try:
        return sys.stderr.fileno() >= 0
    except (OSError, ValueError, AttributeError):
        return False
