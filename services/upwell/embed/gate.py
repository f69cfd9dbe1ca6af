"""Whose turn it is: a live edit overtakes the backfill between two batches of the model."""

from collections.abc import Iterator
from contextlib import contextmanager
from threading import Condition


class PriorityGate:
    """Lets one caller in at a time; whoever waits with `urgent` goes before all who wait without."""

    def __init__(self) -> None:
        self._changed = Condition()
        self._busy = False
        self._urgent_waiting = 0

    @contextmanager
    def turn(self, *, urgent: bool) -> Iterator[None]:
        """Hold the gate for the body. Keep the body short: nobody is interrupted."""
        with self._changed:
            self._urgent_waiting += urgent
            try:
                self._changed.wait_for(lambda: not self._busy and (urgent or not self._urgent_waiting))
            finally:
                self._urgent_waiting -= urgent
            self._busy = True
        try:
            yield
        finally:
            with self._changed:
                self._busy = False
                self._changed.notify_all()
