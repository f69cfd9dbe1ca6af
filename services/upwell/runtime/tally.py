"""Counting what a set of events came to, and waiting for the last of them."""

import threading
from collections.abc import Callable, Iterable

from upwell.answers import ChunkCounts, Progress
from upwell.errors import Retryable
from upwell.records import ChangeEvent, Outcome
from upwell.runtime.backlog import Ticket
from upwell.runtime.engine import Work

PATIENCE_TRIES = 6
"""A one-shot command gives up on what the world refuses after so many tries (some seconds); the events stay."""


class Tally:
    """Hears of every event from the engine. Counts from its making on; `wait` returns when none is open.

    With `patience_tries` None it never gives up: a `run` outlasts what troubles it. With `place` (tenant and source)
    only the events of that source are counted, though all are waited for.
    """

    def __init__(self, patience_tries: int | None = PATIENCE_TRIES, *, place: tuple[str, str] | None = None) -> None:
        self._patience_tries = patience_tries
        self._place = place
        self._open: set[int] = set()
        self._seen = 0
        self._current = ""
        self._trouble: Retryable | None = None
        self._changed = threading.Condition()
        self.dead = 0
        self.chunks = ChunkCounts()
        self.tokens_embedded = 0

    def expect(self, tickets: Iterable[Ticket]) -> None:
        with self._changed:
            before = len(self._open)
            self._open.update(ticket.seq for ticket in tickets)
            self._seen += len(self._open) - before

    def ended(self, ticket: Ticket, event: ChangeEvent, work: Work) -> None:
        with self._changed:
            self._open.discard(ticket.seq)
            self._current = event.doc_id
            self._changed.notify_all()
            if self._place not in (None, (event.tenant, event.source)):
                return
            self.dead += work.fate.outcome is Outcome.DEAD
            self.chunks = ChunkCounts(
                kept=self.chunks.kept + work.kept,
                reused=self.chunks.reused + work.reused,
                embedded=self.chunks.embedded + work.embedded,
                removed=self.chunks.removed + work.removed,
            )
            self.tokens_embedded += work.tokens_embedded

    def trouble(self, ticket: Ticket, error: Retryable) -> None:
        with self._changed:
            if self._patience_tries is not None and ticket.attempts + 1 >= self._patience_tries:
                self._trouble = error
                self._changed.notify_all()

    def wait(self, progress: Callable[[Progress], None] | None = None, stop: threading.Event | None = None) -> bool:
        """Wait until no event is open (True) or `stop` is set (False), telling `progress` some times a second.

        Raises Retryable when an event could not be taken further in several tries.
        """
        while True:
            with self._changed:
                if self._open and self._trouble is None:
                    self._changed.wait(0.1)
                trouble, left = self._trouble, len(self._open)
                now = Progress(phase="ingest", done=self._seen - left, total=self._seen, current=self._current)
            if progress is not None:
                progress(now)
            if trouble is not None:
                raise Retryable(f"{trouble}; nothing is lost: run the command again when that is mended")
            if not left:
                return True
            if stop is not None and stop.is_set():
                return False
