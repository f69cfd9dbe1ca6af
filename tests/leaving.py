"""Servers that end while the next test runs: one takes a fifth of a second to end, and waits all that time."""

from collections import deque
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager

import pytest

MOST = 8
"""Servers that may be about to end; who leaves one more waits for the first."""
PATIENCE_S = 60
ENDING = ThreadPoolExecutor(MOST, "leaving")
LEFT = deque()


@contextmanager
def leaving(made):
    """`contextlib.closing` that does not wait: what closing raises fails a later test, or the last."""
    try:
        yield made
    finally:
        LEFT.append(ENDING.submit(made.close))
        while len(LEFT) > MOST:
            LEFT.popleft().result(PATIENCE_S)


@pytest.fixture(scope="session", autouse=True)
def _all_left():
    yield
    while LEFT:
        LEFT.popleft().result(PATIENCE_S)
