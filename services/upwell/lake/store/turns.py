"""Sharing one slow thing among threads: in order of arrival, and one commit for many."""

import threading
import time
from collections import deque
from collections.abc import Callable
from types import TracebackType
from typing import Self

LOOK_S = 0.002


class Turns:
    """A lock that is taken in order of arrival, so that a search waits for one slice of a big insert, not for all."""

    def __init__(self) -> None:
        self._guard = threading.Lock()
        self._waiting: deque[threading.Lock] = deque()
        self._taken = False

    def __enter__(self) -> Self:
        with self._guard:
            if not self._taken:
                self._taken = True
                return self
            turn = threading.Lock()
            turn.acquire()
            self._waiting.append(turn)
        turn.acquire()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        with self._guard:
            if self._waiting:
                self._waiting.popleft().release()
            else:
                self._taken = False

    def quiet(self, at_most_s: float) -> None:
        """Return when nobody waits for a turn, or after `at_most_s`."""
        deadline = time.monotonic() + at_most_s
        while self._waiting and time.monotonic() < deadline:
            time.sleep(LOOK_S)


class GroupCommit:
    """Calls `commit` for many threads at once, after `gather` has let more of them come.

    Each caller returns after a commit that began after its call, whoever made it. A commit that fails raises for the
    thread that made it; those that waited for it make another.
    """

    def __init__(self, commit: Callable[[], None], gather: Callable[[], None] = lambda: None) -> None:
        self._commit = commit
        self._gather = gather
        self._changed = threading.Condition()
        self._begun = 0
        self._done = 0
        self._running = False

    def __call__(self) -> None:
        with self._changed:
            wanted = self._begun + 1
            self._changed.wait_for(lambda: self._done >= wanted or not self._running)
            if self._done >= wanted:
                return
            self._running = True
        try:
            self._gather()
            with self._changed:
                self._begun += 1
                mine = self._begun
            self._commit()
        except BaseException:
            self._ended(self._done)
            raise
        self._ended(mine)

    def _ended(self, done: int) -> None:
        with self._changed:
            self._done, self._running = done, False
            self._changed.notify_all()
