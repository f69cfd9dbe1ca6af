"""Memory of the owner's process: as many heaps as cores are of use, not one for each thread."""

import ctypes
import sys
from contextlib import suppress

M_ARENA_MAX = -8
"""mallopt(3), glibc."""


def bound_heaps(heaps: int = 2) -> None:
    """Share `heaps` heaps among all threads. The GIL lets one thread allocate at a time anyway; with a heap for each of
    the workers a third more memory was held. Only glibc has the setting; elsewhere nothing is done.
    """
    if sys.platform == "linux":
        with suppress(OSError, AttributeError):
            ctypes.CDLL(None).mallopt(M_ARENA_MAX, heaps)
