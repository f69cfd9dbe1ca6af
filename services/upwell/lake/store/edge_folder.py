"""The folder of an Edge store: the shard and a lock, which says that its last process is gone."""

import fcntl
import os
import time
from pathlib import Path

from upwell.errors import Retryable

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
