"""A folder followed by a thread, so that the main thread stays free for signals and questions."""

from collections.abc import Callable
from pathlib import Path
from threading import Event, Thread
from types import TracebackType
from typing import Self

from upwell.answers import FollowingLake, IngestAnswer, Progress

POLL_S = 0.2


class Following:
    """`lake.follow(folder)` on a thread: enter to start it, leave to stop it and wait for its end."""

    def __init__(
        self,
        lake: FollowingLake,
        folder: Path,
        *,
        owner: str,
        source: str | None = None,
        tenant: str = "default",
        progress: Callable[[Progress], None] | None = None,
        on_change: Callable[[str], None] | None = None,
    ) -> None:
        self.stop = Event()
        self._ready = Event()
        self._ended = Event()
        self._answer: IngestAnswer | None = None
        self._error: BaseException | None = None

        def on_ready(answer: IngestAnswer) -> None:
            self._answer = answer
            self._ready.set()

        def follow() -> None:
            try:
                lake.follow(
                    folder,
                    owner=owner,
                    stop=self.stop,
                    source=source,
                    tenant=tenant,
                    progress=progress,
                    on_ready=on_ready,
                    on_change=on_change,
                )
            except BaseException as e:  # noqa: BLE001  raised again in the thread that waits
                self._error = e
            finally:
                self._ended.set()
                self._ready.set()

        self._thread = Thread(target=follow, name="follow")

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop.set()
        self._thread.join()
        if error is None:
            self._raise()

    def ready(self) -> IngestAnswer | None:
        """Wait for the first pass and return what it did; None if it was stopped before. Raises what it raised."""
        while not self._ready.wait(POLL_S):
            pass
        self._raise()
        return self._answer

    def ended(self) -> None:
        """Wait until following ends. Raises what it raised."""
        while not self._ended.wait(POLL_S):
            pass
        self._raise()

    def _raise(self) -> None:
        if self._error is not None:
            raise self._error
