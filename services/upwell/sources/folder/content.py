"""Reading the files of a folder: never through a link, never a device, never half of a change.

Every path is opened part by part from the folder's own descriptor with O_NOFOLLOW, so that a folder that is swapped
for a link between listing and reading cannot lead outside.
"""

import errno
import hashlib
import os
import stat
import time
from collections.abc import Callable
from enum import StrEnum
from pathlib import Path

from upwell.clock import Clock, now_us
from upwell.errors import Retryable
from upwell.records import INLINE_LIMIT_BYTES, Record
from upwell.sources.folder.records import Signature

BLOCK_BYTES = 1024 * 1024
MAX_FILE_BYTES = 4 * 1024**3
ATTEMPTS = 4
INT64 = 2**63 - 1
# A file this large that was written to a moment ago is probably still being copied: reading it now is for nothing.
LARGE_BYTES = 16 * 1024 * 1024
LARGE_RESTS_US = 1_000_000


class Why(StrEnum):
    """Why a file was not read. `gone` and `restless` (it changed while it was read) are for the next scan to see."""

    GONE = "gone"
    RESTLESS = "restless"
    UNREADABLE = "unreadable"
    TOO_LARGE = "too_large"


class Unread(Record, frozen=True, kw_only=True):
    """A file that was not read, and why, in a line for a person."""

    why: Why
    detail: str


class Reading(Record, frozen=True, kw_only=True):
    """A file as it stood while it was read; `data` is there up to what the reader keeps."""

    signature: Signature
    sha256: str
    observed_at: int
    data: bytes | None


RESTLESS = Unread(why=Why.RESTLESS, detail="it changes while it is read")
Read = Callable[[str], Reading | Unread]
Open = Callable[[str, str], int]


def signature_of(found: os.stat_result) -> Signature:
    """Size, mtime in ns and inode, each within 64 bits."""
    return (found.st_size, max(-INT64, min(found.st_mtime_ns, INT64)), found.st_ino & INT64)


def open_inside(root: str, path: str) -> int:
    """A read-only descriptor of `path` below `root`, following no link in it. Raises OSError."""
    flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC
    *folders, name = path.split("/")
    at = os.open(root, flags | os.O_DIRECTORY)
    try:
        for folder in folders:
            inner = os.open(folder, flags | os.O_DIRECTORY, dir_fd=at)
            os.close(at)
            at = inner
        return os.open(name, flags | os.O_NONBLOCK, dir_fd=at)
    finally:
        os.close(at)


class FileReader:
    """Reads the files below `root`. `opened` counts the files it has opened.

    Of files up to `keep_bytes` it brings the content; those over `most_bytes` are `too_large`.
    """

    def __init__(
        self,
        root: Path,
        *,
        clock: Clock = now_us,
        pause_s: float = 0.02,
        opener: Open = open_inside,
        keep_bytes: int = INLINE_LIMIT_BYTES,
        most_bytes: int = MAX_FILE_BYTES,
    ) -> None:
        self._root = str(root)
        self._clock = clock
        self._pause_s = pause_s
        self._open = opener
        self._keep_bytes = keep_bytes
        self._most_bytes = most_bytes
        self.opened = 0

    def __call__(self, path: str) -> Reading | Unread:
        """Read `path`. A file that changes meanwhile is read again, a few times.

        Raises Retryable when the process or the machine has no room to open a file.
        """
        for attempt in range(ATTEMPTS):
            if attempt:
                time.sleep(self._pause_s)
            found = self._once(path)
            if found is not None:
                return found
        return RESTLESS

    def _once(self, path: str) -> Reading | Unread | None:
        try:
            descriptor = self._open(self._root, path)
        except OSError as e:
            return _unread(e)
        self.opened += 1
        try:
            return self._read(descriptor)
        except OSError as e:
            return _unread(e)
        finally:
            os.close(descriptor)

    def _read(self, descriptor: int) -> Reading | Unread | None:
        observed_at = self._clock()
        before = os.fstat(descriptor)
        if not stat.S_ISREG(before.st_mode):
            return Unread(why=Why.GONE, detail="it is no longer a file")
        if before.st_size > self._most_bytes:
            return Unread(why=Why.TOO_LARGE, detail=f"{before.st_size} bytes; the limit is {self._most_bytes}")
        if before.st_size > LARGE_BYTES and 0 <= observed_at - before.st_mtime_ns // 1000 < LARGE_RESTS_US:
            return RESTLESS
        digest, kept, size = hashlib.sha256(), bytearray(), 0
        while block := os.read(descriptor, BLOCK_BYTES):
            digest.update(block)
            size += len(block)
            if size > before.st_size:
                return None if size <= LARGE_BYTES else RESTLESS
            if before.st_size <= self._keep_bytes:
                kept += block
        after = os.fstat(descriptor)
        if size != before.st_size or signature_of(after) != signature_of(before):
            return None
        return Reading(
            signature=signature_of(after),
            sha256=digest.hexdigest(),
            observed_at=observed_at,
            data=bytes(kept) if size <= self._keep_bytes else None,
        )


def _unread(error: OSError) -> Unread:
    if error.errno in (errno.EMFILE, errno.ENFILE, errno.ENOMEM):
        raise Retryable(f"no room to open a file: {error.strerror}") from error
    if error.errno in (errno.ENOENT, errno.ENOTDIR, errno.ELOOP, errno.ENXIO, errno.ESTALE):
        return Unread(why=Why.GONE, detail="it is no longer there")
    return Unread(why=Why.UNREADABLE, detail=f"cannot be read: {error.strerror}")
