"""Waiting until accepted events have ended, and counting what they came to, from the log's own word."""

import time
from collections.abc import Callable, Mapping, Sequence
from typing import Protocol

from upwell.answers import ChunkCounts, Progress
from upwell.errors import Retryable
from upwell.messages import Ended
from upwell.records import ChangeEvent, Outcome

PATIENCE_S = 120.0
"""When nothing has ended for so long, nobody works, or not on these."""
ASK_S = 5.0
"""After so long without a word the ledger is asked as well."""
POLL_S = 0.2


class Ends(Protocol):
    """The ends of events as they come, from the moment that it was opened on."""

    def poll(self, timeout_s: float) -> list[Ended]:
        """What has come; waits up to `timeout_s` for something. Raises Retryable while the brokers are away."""
        ...

    def close(self) -> None: ...


class Waiting:
    """Counts from its making on. `ledger` says how those events ended that have, `patience_s` is how long none may.

    An event that only the ledger knows to have ended counts without its chunks. One thread may `expect` while another
    waits or hears.
    """

    def __init__(
        self,
        ends: Ends,
        ledger: Callable[[Sequence[str]], Mapping[str, Outcome]],
        *,
        patience_s: float = PATIENCE_S,
        ask_s: float = ASK_S,
        now_s: Callable[[], float] = time.monotonic,
    ) -> None:
        self._ends = ends
        self._ledger = ledger
        self._patience_s = patience_s
        self._ask_s = ask_s
        self._now_s = now_s
        self._open: dict[str, str] = {}
        self._seen = 0
        self._current = ""
        self._heard_at = self._asked_at = now_s()
        self.dead = 0
        self.chunks = ChunkCounts()
        self.tokens_embedded = 0

    def expect(self, events: Sequence[ChangeEvent]) -> None:
        """To be called before they are produced: an end that comes before is nobody's."""
        self._seen += len(events)
        self._open.update((event.event_id, event.doc_id) for event in events)

    @property
    def open(self) -> int:
        """How many of the expected events have not ended."""
        return len(self._open)

    def wait(self, progress: Callable[[Progress], None] | None = None) -> None:
        """Return when every expected event has ended. Raises Retryable when none has for long; none is lost by it."""
        self._heard_at = self._asked_at = self._now_s()
        while self._open:
            self.hear()
            if self._now_s() - self._heard_at >= self._patience_s:
                raise Retryable(
                    f"{len(self._open)} events wait and none has ended for {self._patience_s:.0f} s: do the workers "
                    "run? (upwell status shows what waits for whom) Nothing is lost: they go on when the workers do"
                )
            self.tell(progress)

    def hear(self) -> list[Ended]:
        """Count what has ended since the last time, waiting a moment for something; those that were expected."""
        mine = [ended for ended in self._ends.poll(POLL_S) if self._take(ended)]
        now = self._now_s()
        if mine:
            self._heard_at = now
        elif self._open and now - max(self._heard_at, self._asked_at) >= self._ask_s:
            self._asked_at = now
            self._ask()
        return mine

    def tell(self, progress: Callable[[Progress], None] | None) -> None:
        """How far it is."""
        if progress is not None:
            done = self._seen - len(self._open)
            progress(Progress(phase="ingest", done=done, total=self._seen, current=self._current))

    def _take(self, ended: Ended) -> bool:
        """False for another's end, and for one that is told twice."""
        if self._open.pop(ended.event.event_id, None) is None:
            return False
        self._current = ended.event.doc_id
        self.dead += ended.fate.outcome is Outcome.DEAD
        self.tokens_embedded += ended.tokens_embedded
        self.chunks = ChunkCounts(
            kept=self.chunks.kept + ended.kept,
            reused=self.chunks.reused + ended.reused,
            embedded=self.chunks.embedded + ended.embedded,
            removed=self.chunks.removed + ended.removed,
        )
        return True

    def _ask(self) -> None:
        for event_id, outcome in self._ledger(tuple(self._open)).items():
            self._current = self._open.pop(event_id)
            self.dead += outcome is Outcome.DEAD
            self._heard_at = self._now_s()
