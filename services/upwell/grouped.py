"""Writes of several threads in one transaction: those that wait for the disk wait together."""

import threading
from collections import deque
from collections.abc import Callable
from contextlib import AbstractContextManager, suppress
from typing import Any, Generic, TypeVar

import sqlalchemy as sa

from upwell.errors import Retryable

MOST_TOGETHER = 8
"""How many share a transaction: whoever waits for the writer's place waits for a few of them, never for all."""

T = TypeVar("T")


class _Asked(Generic[T]):
    """One thread's write: what it is, and once `done` what it came to."""

    def __init__(self, write: Callable[[sa.Connection], T]) -> None:
        self._write = write
        self._made: list[T] = []
        self._error: BaseException | None = None
        self.done = False

    def make(self, connection: sa.Connection) -> None:
        self._made = [self._write(connection)]

    def end(self, error: BaseException | None = None) -> None:
        self._error, self.done = error, True

    def result(self) -> T:
        if self._error is not None:
            raise self._error
        return self._made[0]


class GroupedWrites:
    """Calls writes in a `transaction`, and with them those of the threads that came meanwhile.

    Each caller returns, or raises what its own write raised, after the transaction that held it has ended; so a write
    must know its connection alone. When one of several raises, none of them is kept and each is made again by itself:
    what fails one fails no other.
    """

    def __init__(self, transaction: Callable[[], AbstractContextManager[sa.Connection]]) -> None:
        self._transaction = transaction
        self._turn = threading.Lock()
        self._waiting: deque[_Asked[Any]] = deque()

    def __call__(self, write: Callable[[sa.Connection], T]) -> T:
        asked = _Asked(write)
        self._waiting.append(asked)
        try:
            with self._turn:
                while not asked.done:
                    self._make_some()
        except BaseException:
            with suppress(ValueError):  # an interrupt: what its caller has given up is not to be written later
                self._waiting.remove(asked)
            raise
        return asked.result()

    def _make_some(self) -> None:
        some: list[_Asked[Any]] = []
        try:
            while self._waiting and len(some) < MOST_TOGETHER:
                some.append(self._waiting.popleft())
            self._make(some)
        except Exception as error:  # noqa: BLE001 it is raised to whose write it was
            if len(some) == 1:
                some[0].end(error)
                return
            for one in some:
                self._make_alone(one)
        finally:
            for one in some:
                if not one.done:
                    one.end(Retryable("another thread's write was interrupted, and this one with it"))

    def _make_alone(self, one: _Asked[Any]) -> None:
        try:
            self._make([one])
        except Exception as error:  # noqa: BLE001 as above
            one.end(error)

    def _make(self, some: list[_Asked[Any]]) -> None:
        with self._transaction() as connection:
            for one in some:
                one.make(connection)
        for one in some:
            one.end()
