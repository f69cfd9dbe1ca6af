"""Partitions that hold nothing any more, and of which a group has committed nothing.

Brokers forget the offsets of a group that has long had no worker (offsets.retention.minutes, a week), as a backfill's
has none for lack of work; by then the topic's retention has emptied its partitions. Whoever scales by lag (KEDA) takes
all that such a partition ever held for work that waits, and starts as many workers as it may. Without this commit
nothing that they do would ever end that.
"""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any


class Emptied:
    """Has `commit` look at the partitions of each new assignment once, beside all other work; until it can."""

    def __init__(self, commit: Callable[[], Awaitable[bool]]) -> None:
        self._commit = commit
        self._noted: frozenset[Any] = frozenset()
        self._asked: frozenset[Any] = frozenset()
        self._asking: asyncio.Future[bool] | None = None

    def note(self, held: frozenset[Any]) -> None:
        """Called now and then on the event loop, with what is assigned."""
        if self._asking is not None and self._asking.done():
            self._noted = self._asked if self._asking.result() else self._noted
            self._asking = None
        if self._asking is None and held != self._noted:
            self._asked, self._asking = held, asyncio.ensure_future(self._commit())
