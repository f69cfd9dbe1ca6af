"""The folder of an Edge store: `shard-N` folders, `CURRENT` naming the one that counts, and a lock.

Replacing `CURRENT` is the one atomic step by which a rebuilt shard takes over; whatever it does not name is a leftover.
"""

import fcntl
import os
import shutil
import time
from pathlib import Path

from upwell.errors import Retryable

CURRENT = "CURRENT"
LOCK_WAIT_S = 10.0
LOCK_POLL_S = 0.02


def lock(folder: Path, wait_s: float = LOCK_WAIT_S) -> int:
    """Take the store's lock, waiting for a previous process to end. Returns its descriptor; it is held until closed.

    Raises Retryable when another process still holds it after `wait_s` seconds.
    """
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    descriptor = os.open(folder / "lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    deadline = time.monotonic() + wait_s
    while True:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if time.monotonic() > deadline:
                os.close(descriptor)
                raise Retryable(f"another process holds the vector store {folder}") from None
            time.sleep(LOCK_POLL_S)
        else:
            return descriptor


def current(folder: Path) -> Path:
    """The shard that counts (`shard-1` of a new store). Removes what a crash left beside it."""
    pointer = folder / CURRENT
    name = pointer.read_text("ascii").strip() if pointer.exists() else "shard-1"
    for other in folder.glob("shard-*"):
        if other.name != name:
            shutil.rmtree(other)
    return folder / name


def following(shard: Path) -> Path:
    """The folder of the shard that is to replace this one, not there yet."""
    return shard.with_name(f"shard-{int(shard.name.removeprefix('shard-')) + 1}")


def promote(shard: Path) -> None:
    """Make this shard the one that counts, durably."""
    pointer = shard.parent / CURRENT
    draft = pointer.with_suffix(".new")
    with draft.open("w", encoding="ascii") as file:
        file.write(shard.name)
        file.flush()
        os.fsync(file.fileno())
    draft.replace(pointer)
    directory = os.open(shard.parent, os.O_RDONLY)
    try:
        os.fsync(directory)
    finally:
        os.close(directory)
