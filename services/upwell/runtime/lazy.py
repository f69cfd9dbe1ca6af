"""A part that is made when it is first asked for, once, whoever asks."""

import threading
from collections.abc import Callable
from typing import Generic, TypeVar

T = TypeVar("T")


class Lazy(Generic[T]):
    """`part()` makes it or gives what was made; what the making raises is raised, and tried again at the next call."""

    def __init__(self, make: Callable[[], T]) -> None:
        self._make = make
        self._lock = threading.Lock()
        self._made: list[T] = []

    def __call__(self) -> T:
        if not self._made:
            with self._lock:
                if not self._made:
                    self._made.append(self._make())
        return self._made[0]

    @property
    def made(self) -> T | None:
        """The part if it has been made: for closing it."""
        return self._made[0] if self._made else None

    def warm(self) -> None:
        """Make it in the background; whoever asks meanwhile waits for that. An error is left to whoever asks."""
        if not self._made:
            threading.Thread(target=self._quietly, name="warm", daemon=True).start()

    def _quietly(self) -> None:
        try:
            self()
        except Exception:  # noqa: BLE001 the next caller gets it
            return
