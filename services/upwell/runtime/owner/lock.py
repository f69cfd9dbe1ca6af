"""One lake, one owner: the advisory lock of a lake's folder, and the socket on which its owner answers.

The lock file stays for ever; who holds its `flock` owns the lake. Its text (JSON) says who that is and where to ask.
"""

import fcntl
import hashlib
import os
import socket
import stat
import tempfile
import time
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Self

import msgspec

from upwell.errors import Misconfigured
from upwell.records import Record

POLL_S = 0.05
LASTING = frozenset({"run", "serve"})
"""Commands that hold a lake until they are told to stop; any other is done in a moment."""


class OwnerInfo(Record, frozen=True, kw_only=True):
    """What the lock file says of the process that holds the lake. `role` is the command it runs."""

    pid: int
    role: str
    socket: str


class Ownership:
    """The lake is ours while this is open. Other processes reach us on `listener` (mode 0600)."""

    def __init__(self, lock_fd: int, info: OwnerInfo, listener: socket.socket) -> None:
        self._lock_fd = lock_fd
        self.info = info
        self.listener = listener

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()

    def close(self) -> None:
        """Give the lake back. The socket goes first, so that nobody asks an owner that has left."""
        self.listener.close()
        with suppress(OSError):
            Path(self.info.socket).unlink()
        os.close(self._lock_fd)


def acquire(lake: Path, role: str) -> Ownership | OwnerInfo | None:
    """Own the lake, or say who does; None while an owner is just coming or going (try again).

    Creates the lake's folder (mode 0700). Raises Misconfigured where it cannot be a lake.
    """
    make_folder(lake)
    lock_fd = os.open(lake / "lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(lock_fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        try:
            return _read_info(lock_fd)
        finally:
            os.close(lock_fd)
    try:
        path = socket_path(lake)
        listener = _listen(path)
        info = OwnerInfo(pid=os.getpid(), role=role, socket=str(path))
        os.ftruncate(lock_fd, 0)
        os.pwrite(lock_fd, msgspec.json.encode(info), 0)
    except BaseException:
        os.close(lock_fd)
        raise
    return Ownership(lock_fd, info, listener)


def acquire_within(lake: Path, role: str, wait_s: float, *, give_way_to_run: bool = True) -> Ownership | OwnerInfo:
    """As `acquire`, waiting up to `wait_s`. With `give_way_to_run` a reachable owner is an answer at once; without it
    only one that lasts is, and a one-shot command is waited for. Raises Misconfigured when nobody is reached in time.
    """
    deadline = time.monotonic() + wait_s
    while True:
        found = acquire(lake, role)
        if isinstance(found, Ownership):
            return found
        if found is not None and (found.role in LASTING or give_way_to_run) and reachable(found):
            return found
        if time.monotonic() >= deadline:
            raise silent(lake, found)
        time.sleep(POLL_S)


def silent(lake: Path, info: OwnerInfo | None) -> Misconfigured:
    """The error for an owner that is there and does not answer."""
    holder = f"process {info.pid} ({info.role})" if info else "another process"
    return Misconfigured(f"{lake}: {holder} holds this lake and does not answer; stop it or wait, then try again")


def reachable(info: OwnerInfo) -> bool:
    """True if something accepts connections on the owner's socket."""
    with socket.socket(socket.AF_UNIX) as probe:
        probe.settimeout(1)
        try:
            probe.connect(info.socket)
        except OSError:
            return False
        return True


def socket_path(lake: Path) -> Path:
    """A short path (the limit is about 100 bytes) in a folder of this user alone."""
    base = Path(tempfile.gettempdir() if len(tempfile.gettempdir()) < 60 else "/tmp")  # noqa: S108
    folder = base / f"upwell-{os.getuid()}"
    folder.mkdir(mode=0o700, exist_ok=True)
    found = folder.lstat()
    if not stat.S_ISDIR(found.st_mode) or found.st_uid != os.getuid() or found.st_mode & 0o077:
        raise Misconfigured(f"{folder} must be a folder that only you can open; remove it and try again")
    name = hashlib.sha256(os.fsencode(lake.resolve())).hexdigest()[:16]
    return folder / f"{name}.sock"


def make_folder(lake: Path) -> None:
    """The lake's folder, new or as it is. Raises Misconfigured if it cannot be."""
    try:
        lake.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as e:
        raise Misconfigured(f"--lake {lake}: cannot be made a lake ({e.strerror})") from e
    if not os.access(lake, os.W_OK | os.X_OK):
        raise Misconfigured(f"--lake {lake}: not writable")


def _listen(path: Path) -> socket.socket:
    with suppress(FileNotFoundError):
        path.unlink()
    listener = socket.socket(socket.AF_UNIX)
    previous = os.umask(0o177)
    try:
        listener.bind(str(path))
    finally:
        os.umask(previous)
    listener.listen(64)
    return listener


def _read_info(lock_fd: int) -> OwnerInfo | None:
    try:
        return msgspec.json.decode(os.pread(lock_fd, 4096, 0), type=OwnerInfo)
    except msgspec.DecodeError:
        return None
