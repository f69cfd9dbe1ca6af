"""Where questions are answered: in threads of their own, so that no search holds up an event, and never too many."""

import asyncio
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

from upwell import logs
from upwell import metrics as m
from upwell.errors import Broken, Retryable, UpwellError
from upwell.reading import ReadApi, Reader
from upwell.runtime.refusing import status_of
from upwell.runtime.serve.guests import Guests
from upwell.search.questions import Question

T = TypeVar("T")

READERS = 32
AWAY = "the lake cannot be asked now; try again later"
MOST_WAITING = 256
"""Whoever comes while so many wait is told to come again (503)."""


class Desk:
    """One lake's answers to the network. `lake` gives what answers; it may raise while that cannot be had."""

    def __init__(self, lake: Callable[[], ReadApi], guests: Guests, metrics: Callable[[], m.Metrics]) -> None:
        self._lake = lake
        self._guests = guests
        self._metrics = metrics
        self._threads = ThreadPoolExecutor(READERS, "read")
        self._waiting = 0

    async def admit(self, authorization: str, via: str) -> Reader:
        """See `Guests.admit`. Raises Retryable when too many wait."""
        return await self._run(lambda: self._guests.admit(authorization, via))

    async def answer(self, question: Question, reader: Reader) -> Any:
        """The answer's record. Raises what `ReadApi` raises, and Retryable when too many wait."""
        return await self._run(lambda: question.ask(self._lake(), reader))

    def answered(self, route: str, status: int, started: float) -> None:
        """Count a request that began at `started` (time.monotonic)."""
        metrics = self._metrics()
        metrics.count(m.READ_REQUESTS, route=route, status=str(status))
        metrics.observe(m.READ_SECONDS, time.monotonic() - started, route=route)

    def close(self) -> None:
        """Answer what is in hand; nothing more."""
        self._threads.shutdown(wait=True, cancel_futures=True)

    async def _run(self, work: Callable[[], T]) -> T:
        if self._waiting >= READERS + MOST_WAITING:
            raise Retryable("too many questions wait; try again later")
        self._waiting += 1
        try:
            return await asyncio.get_running_loop().run_in_executor(self._threads, work)
        finally:
            self._waiting -= 1


def known(error: Exception, route: str) -> UpwellError:
    """The error to tell of. One that nobody foresaw is logged by its place, for its text may be a document's; why a
    part of the lake is away or refuses us, and where it is, are for its operator alone.
    """
    if isinstance(error, Broken) or (type(error) is Retryable and error.__cause__ is not None):
        logs.warn("not_answered", route=route, status=503, kind=type(error).__name__, why=str(error))
        return Retryable(AWAY)
    if isinstance(error, UpwellError):
        status = status_of(error)[0]
        if status >= 500:
            logs.warn("not_answered", route=route, status=status, kind=type(error).__name__)
        return error
    logs.unexpected("not_answered", error, route=route)
    return UpwellError("internal error")
