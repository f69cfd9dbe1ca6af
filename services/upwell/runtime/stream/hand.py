"""The one thread of a worker in which its stage runs, away from the event loop that keeps the group membership."""

import asyncio
import queue
import threading
from collections.abc import Callable
from contextlib import suppress
from typing import Any, TypeVar

T = TypeVar("T")


class Hand:
    """Runs one job at a time, in order. The thread is a daemon: a job that never ends does not keep the process."""

    def __init__(self, name: str) -> None:
        self.name = name
        self._jobs: queue.SimpleQueue[tuple[Callable[[], Any], asyncio.Future[Any]] | None] = queue.SimpleQueue()
        self._thread = threading.Thread(target=self._work, name=name, daemon=True)
        self._thread.start()

    @property
    def alive(self) -> bool:
        return self._thread.is_alive()

    def do(self, job: Callable[[], T]) -> "asyncio.Future[T]":
        """Run `job` and return its result or exception, as a future of the running loop.

        Cancelling the future does not end the job.
        """
        future: asyncio.Future[T] = asyncio.get_running_loop().create_future()
        self._jobs.put((job, future))
        return future

    def close(self) -> None:
        """End the thread after the jobs before; returns at once."""
        self._jobs.put(None)

    def _work(self) -> None:
        while (item := self._jobs.get()) is not None:
            job, future = item
            result, error = None, None
            try:
                result = job()
            except BaseException as e:  # noqa: BLE001  whatever it is belongs to whoever waits for the job
                error = e
            with suppress(RuntimeError):  # the loop has ended before the job
                future.get_loop().call_soon_threadsafe(_settle, future, result, error)
            del item, job, future, result, error  # an idle worker holds no document


def _settle(future: "asyncio.Future[Any]", result: Any, error: BaseException | None) -> None:
    if future.done():
        return
    if error is None:
        future.set_result(result)
    else:  # a StopIteration cannot travel in a future, and a SystemExit of a parser ends no worker
        future.set_exception(error if isinstance(error, Exception) else RuntimeError(type(error).__name__))
