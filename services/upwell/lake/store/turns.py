"""Sharing one slow thing among threads: by turns, and one commit for many."""

import threading
import time
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager

LOOK_S = 0.002


class Turns:
    """A lock for readers and writers, each in order of arrival; while both wait they take it by turns.

    So a search waits for one slice of a big insert, not for all of it, and a permission for one search, not for the
    hundred that wait.
    """

    def __init__(self) -> None:
        self._guard = threading.Lock()
        self._waiting: dict[bool, deque[threading.Lock]] = {False: deque(), True: deque()}
        self._taken = False

    @contextmanager
    def take(self, *, reads: bool) -> Iterator[None]:
        """Hold it for the length of a block."""
        self._enter(reads)
        try:
            yield
        finally:
            self._leave(reads)

    def _enter(self, reads: bool) -> None:
        with self._guard:
            if not self._taken:
                self._taken = True
                return
            turn = threading.Lock()
            turn.acquire()
            self._waiting[reads].append(turn)
        turn.acquire()

    def _leave(self, reads: bool) -> None:
        with self._guard:
            following = self._waiting[not reads] or self._waiting[reads]
            if following:
                following.popleft().release()
            else:
                self._taken = False

    def quiet(self, at_most_s: float) -> None:
        """Return when no writer waits for a turn, or after `at_most_s`."""
        deadline = time.monotonic() + at_most_s
        while self._waiting[False] and time.monotonic() < deadline:
            time.sleep(LOOK_S)


class GroupCommit:
    """Calls `commit` for many threads at once, after `gather` has let more of them come; it is told how many seconds
    the last commit took.

    Each caller returns after a commit that began after its call, whoever made it. A commit that fails raises for the
    thread that made it; those that waited for it make another.
    """

    def __init__(
        self,
        commit: Callable[[], None],
        gather: Callable[[float], None] = lambda _: None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._commit = commit
        self._gather = gather
        self._clock = clock
        self._took_s = 0.0
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
            self._gather(self._took_s)
            with self._changed:
                self._begun += 1
                mine = self._begun
            started = self._clock()
            self._commit()
            self._took_s = self._clock() - started
        except BaseException:
            self._ended(self._done)
            raise
        self._ended(mine)

    def _ended(self, done: int) -> None:
        with self._changed:
            self._done, self._running = done, False
            self._changed.notify_all()
