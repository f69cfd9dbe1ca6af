"""Whether the log can take events, for who asks a gateway if it is ready."""

import threading
import time
from typing import Any

from upwell.errors import Retryable
from upwell.runtime.stream.admin import Administration, partitions
from upwell.runtime.stream.topics import ACCEPTING

KEPT_S = 2.0
"""Anybody may ask: the brokers are asked once in this time, whatever came out of it."""
ANSWER_S = 3.0


class LogAnswers:
    """Called: returns while the brokers answer and have the topics that events go to. Thread-safe.

    Raises Retryable saying what is missing, Misconfigured when the brokers refuse.
    """

    def __init__(self, brokers: str | None, *, kept_s: float = KEPT_S) -> None:
        self._kept_s = kept_s
        self._administration = Administration(brokers, answer_s=ANSWER_S)
        self._lock = threading.Lock()
        self._asked = float("-inf")
        self._missing: str | None = None

    def __call__(self) -> None:
        with self._lock:
            if time.monotonic() - self._asked > self._kept_s:
                self._missing = self._ask()
                self._asked = time.monotonic()
            missing = self._missing
        if missing is not None:
            raise Retryable(missing)

    def close(self) -> None:
        self._administration.close()

    def _ask(self) -> str | None:
        try:
            found = self._administration.ask(_found)
        except Retryable as e:
            return str(e)
        missing = [topic for topic in ACCEPTING if topic not in found]
        return f"Kafka has no topic {missing[0]}: `upwell topics create` makes what is missing" if missing else None


def _found(client: Any) -> set[str]:
    return set(partitions(client, ACCEPTING))
