"""Landlock: what of the file system, the network and other processes stays within reach, asked of Linux itself.

Numbers and shapes: linux/landlock.h, and https://docs.kernel.org/userspace-api/landlock.html. Needs no privileges.
"""

import ctypes
import os
import sys
from collections.abc import Sequence

CREATE_RULESET, ADD_RULE, RESTRICT_SELF = 444, 445, 446  # the same on every architecture
VERSION_FLAG = 1
RULE_PATH_BENEATH = 1
WRITE_FILE, READ_FILE, READ_DIR, TRUNCATE = 1 << 1, 1 << 2, 1 << 3, 1 << 14
READING = READ_FILE | READ_DIR
# How many file system rights each version of the interface knows of.
FILE_RIGHTS = {1: 13, 2: 14, 3: 15, 4: 15, 5: 16}
TCP_BIND_CONNECT, TCP_SINCE = 0b11, 4
SCOPED_SOCKETS_SIGNALS, SCOPED_SINCE = 0b11, 6


class _Ruleset(ctypes.Structure):
    _fields_ = (("files", ctypes.c_uint64), ("tcp", ctypes.c_uint64), ("scoped", ctypes.c_uint64))


class _PathBeneath(ctypes.Structure):
    _pack_ = 1
    _fields_ = (("allowed", ctypes.c_uint64), ("parent", ctypes.c_int32))


def restrict(written: Sequence[str], read: Sequence[str], notes: list[str]) -> int:
    """Forbid this process for good to read anything that is not under one of the paths `read`, to write anything but
    `written`, to make, remove or run any file, to use TCP, and to signal others.

    Gives the version of the interface that holds, 0 for none (then a note says why): 4 closes TCP, 6 signals. Needs
    `no_new_privs`; holds for the calling thread and those that it starts.
    """
    if sys.platform != "linux":
        return 0
    libc = ctypes.CDLL(None, use_errno=True)
    version = int(libc.syscall(CREATE_RULESET, None, 0, VERSION_FLAG))
    if version < 1:
        notes.append(f"files are not fenced off (Landlock): {os.strerror(ctypes.get_errno())}")
        return 0
    files = (1 << FILE_RIGHTS[min(version, max(FILE_RIGHTS))]) - 1
    ruleset = _Ruleset(
        files,
        TCP_BIND_CONNECT if version >= TCP_SINCE else 0,
        SCOPED_SOCKETS_SIGNALS if version >= SCOPED_SINCE else 0,
    )
    fd = int(libc.syscall(CREATE_RULESET, ctypes.byref(ruleset), ctypes.sizeof(ruleset), 0))
    try:
        for path in written:
            _allow(libc, fd, path, files & (WRITE_FILE | TRUNCATE | READ_FILE))
        for path in read:
            _allow(libc, fd, path, READING)
        if fd < 0 or libc.syscall(RESTRICT_SELF, fd, 0) != 0:
            notes.append(f"files are not fenced off (Landlock): {os.strerror(ctypes.get_errno())}")
            return 0
    finally:
        if fd >= 0:
            os.close(fd)
    return version


def _allow(libc: ctypes.CDLL, ruleset: int, path: str, rights: int) -> None:
    """A path that is not there needs no right."""
    try:
        parent = os.open(path, os.O_PATH | os.O_CLOEXEC)
    except OSError:
        return
    if not os.path.isdir(path):  # noqa: PTH112 - a path of the system, as a string
        rights &= ~READ_DIR
    rule = _PathBeneath(rights, parent)
    libc.syscall(ADD_RULE, ruleset, RULE_PATH_BENEATH, ctypes.byref(rule), 0)
    os.close(parent)
