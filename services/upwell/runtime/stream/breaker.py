"""When a worker should stop instead of sending one message after the other to the dead letters. Pure."""

from collections import deque


class Breaker:
    """Counts the last `messages` messages; open once more than `share` of them were dead, and at least `minimum` known.

    A mass of dead letters says more of the worker (a bad deployment, a wrong model) than of the messages.
    """

    def __init__(self, share: float, messages: int, minimum: int | None = None) -> None:
        self._share = share
        self._minimum = min(messages, max(10, messages // 4)) if minimum is None else minimum
        self._last: deque[bool] = deque(maxlen=messages)
        self._dead = 0

    def note(self, *, dead: bool) -> None:
        """One more message has ended."""
        if len(self._last) == self._last.maxlen:
            self._dead -= self._last[0]
        self._last.append(dead)
        self._dead += dead

    @property
    def open(self) -> bool:
        """True if the worker should stop."""
        return len(self._last) >= self._minimum and self._dead > self._share * len(self._last)

    @property
    def counts(self) -> tuple[int, int]:
        """How many of how many were dead."""
        return self._dead, len(self._last)
