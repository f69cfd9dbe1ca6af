"""Following a folder for a distributed lake: looks here, work elsewhere, and a line for a person at each end."""

import threading
import time
from collections.abc import Callable

from upwell.answers import IngestAnswer, Progress
from upwell.clock import Clock
from upwell.errors import UpwellError
from upwell.messages import Ended
from upwell.records import Lane, Outcome
from upwell.runtime.following import PAUSE_S, Say, follow_changes, line_of
from upwell.runtime.ingesting import first_answer
from upwell.runtime.scanning import Scanning
from upwell.runtime.stream.waiting import Waiting
from upwell.sources.folder.watch import FolderWatch

ASK_S = 2.0
"""How often it is asked whether somebody has approved the deletes that wait."""


class StreamFollowing:
    """One folder followed by this process, from its first look until it is told to stop. It outlasts every trouble
    after that look: what it has sent is in the log.
    """

    def __init__(self, scanning: Scanning, waiting: Waiting, rescan_s: float, clock: Clock) -> None:
        self._scanning = scanning
        self._waiting = waiting
        self._rescan_s = rescan_s
        self._clock = clock
        self._ask_at = 0.0

    def run(
        self,
        stop: threading.Event,
        progress: Callable[[Progress], None] | None,
        on_ready: Callable[[IngestAnswer], None],
        on_change: Say,
    ) -> None:
        """Returns when `stop` is set. Raises only what the first look raises."""
        source = self._scanning.source
        with FolderWatch(source.root, stop, excluded=source.excluded, rescan_s=self._rescan_s) as watch:
            started = time.monotonic()
            first = self._scanning.look(Lane.BACKFILL, also=watch.notices)

            def hear() -> None:
                if self._first_pass(stop, progress, on_change):
                    on_ready(first_answer(first, self._waiting, time.monotonic() - started))
                while not stop.is_set():
                    self._hear(stop, on_change)
                    self._let_pass(stop, on_change)

            hearing = threading.Thread(target=hear, name="ends")
            hearing.start()
            try:
                follow_changes(watch, self._scanning, stop, first.recheck_at, say=on_change, clock=self._clock)
            finally:
                stop.set()
                hearing.join()

    def _first_pass(self, stop: threading.Event, progress: Callable[[Progress], None] | None, say: Say) -> bool:
        """True once everything that was sent has ended; False when it is stopped before."""
        while self._waiting.open:
            if stop.is_set():
                return False
            self._hear(stop, say)
            self._waiting.tell(progress)
        return True

    def _hear(self, stop: threading.Event, say: Say) -> None:
        try:
            ends = self._waiting.hear()
        except UpwellError as e:  # whatever it is, somebody waits for this thread
            say(f"{e}; trying again")
            stop.wait(PAUSE_S)
            return
        for ended in ends:
            if ended.event.lane is Lane.LIVE and ended.fate.outcome is not Outcome.SUPERSEDED:
                say(self._line(ended))

    def _let_pass(self, stop: threading.Event, say: Say) -> None:
        """Deletes that somebody has approved in another process of this machine, now and then."""
        if not self._scanning.held or time.monotonic() < self._ask_at:
            return
        self._ask_at = time.monotonic() + ASK_S
        try:
            self._scanning.let_pass()
        except UpwellError as e:
            say(f"{e}; trying again")
            stop.wait(PAUSE_S)

    def _line(self, ended: Ended) -> str:
        return line_of(ended.event, ended, max(0.0, (ended.at - ended.event.received_at) / 1e6))
