"""A lake that is held only while it is asked: for processes that live long and ask seldom, beside those that work."""

import threading
from collections.abc import Callable
from typing import Any

import msgspec

from upwell.reading import ReadableLake, Reader
from upwell.runtime.reading_asked import AskedReading
from upwell.search.questions import QUESTIONS

IDLE_S = 5.0
"""Shorter than any command waits for a lake's owner, long enough for the next question of a conversation."""


class BorrowedReading(AskedReading):
    """`reading.ReadApi` over what `connect` gives, which is closed when nobody has asked for `idle_s`. Thread-safe.

    Raises what `connect` and the lake raise.
    """

    def __init__(self, connect: Callable[[], ReadableLake], idle_s: float = IDLE_S) -> None:
        super().__init__(self._put_to_lake)
        self._connect = connect
        self._idle_s = idle_s
        self._lock = threading.Lock()
        self._lake: ReadableLake | None = None
        self._asking = 0
        self._rest: threading.Timer | None = None

    def close(self) -> None:
        """Give the lake back now; the next question would borrow it again."""
        with self._lock:
            self._calm()
            self._give_back()

    def _put_to_lake(self, name: str, fields: dict[str, Any], reader: Reader) -> Any:
        question = msgspec.convert(fields, QUESTIONS[name])
        with self._lock:
            self._calm()
            lake = self._lake = self._lake or self._connect()
            self._asking += 1
        try:
            return question.ask(lake.reading(), reader)
        finally:
            with self._lock:
                self._asking -= 1
                self._calm()
                self._rest = threading.Timer(self._idle_s, self._rested)
                self._rest.daemon = True
                self._rest.start()

    def _rested(self) -> None:
        with self._lock:
            if not self._asking:
                self._give_back()

    def _calm(self) -> None:
        if self._rest is not None:
            self._rest.cancel()
            self._rest = None

    def _give_back(self) -> None:
        if self._lake is not None:
            self._lake.close()
            self._lake = None
