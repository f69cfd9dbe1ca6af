"""What waits to be worked on: control first, then live before backfill, one of a document at a time.

Backfill keeps a floor share; retries come after a pause. Pure of I/O but for the lock; holds tickets, not contents, so
that ten thousand waiting documents cost little memory.
"""

import heapq
import threading
import time
from collections import deque
from collections.abc import Iterable

import msgspec

from upwell.records import Lane, Op, Record

BACKFILL_SHARE = 8
"""While live tickets wait too, every eighth ticket is a backfill one: a busy day never starves the backfill."""


class Ticket(Record, frozen=True, kw_only=True):
    """A waiting event: its place in the log, its document (key digest), what it does, its lane and source.

    `bound` once the registry has been changed by it, so that it is effective already.
    """

    seq: int
    document: str
    op: Op
    lane: Lane
    tenant: str = ""
    source: str = ""
    attempts: int = 0
    bound: bool = False

    @property
    def rank(self) -> int:
        """0 for permissions, deletes and erasures, 1 for live content, 2 for backfill."""
        if self.op is not Op.UPSERT:
            return 0
        return 1 if self.lane is Lane.LIVE else 2

    @property
    def hurries(self) -> bool:
        """True if it may take something away from readers, by an edit or by more than that."""
        return self.op is not Op.UPSERT or self.lane is Lane.LIVE

    def once_more(self) -> "Ticket":
        """The same ticket, after one more attempt."""
        return msgspec.structs.replace(self, attempts=self.attempts + 1)


class Backlog:
    """Tickets in the order in which they should be worked on. `take` gives a document's tickets one after the other."""

    def __init__(self) -> None:
        self._waiting: tuple[deque[Ticket], ...] = (deque(), deque(), deque())
        self._behind: dict[str, deque[Ticket]] = {}
        self._busy: set[str] = set()
        self._paused: list[tuple[float, int, Ticket]] = []
        self._taken = 0
        self._closed = False
        self._changed = threading.Condition()

    def put(self, tickets: Iterable[Ticket]) -> None:
        """Queue tickets, each behind those of its document that came before it."""
        with self._changed:
            for ticket in tickets:
                self._waiting[ticket.rank].append(ticket)
            self._changed.notify_all()

    def take(self, timeout_s: float | None = None, *, live_only: bool = False) -> Ticket | None:
        """The next ticket whose document nobody works on; None after `timeout_s` or when closed."""
        deadline = None if timeout_s is None else time.monotonic() + timeout_s
        with self._changed:
            while not self._closed:
                self._wake_paused()
                ticket = self._next(live_only=live_only)
                if ticket is not None:
                    self._busy.add(ticket.document)
                    return ticket
                if not self._wait(deadline):
                    return None
            return None

    def done(self, ticket: Ticket) -> None:
        """The ticket's work has ended: its document's next one may be taken."""
        with self._changed:
            self._release(ticket)
            self._changed.notify_all()

    def again(self, ticket: Ticket, pause_s: float) -> None:
        """Try the ticket again after a pause; its document's later tickets wait behind it."""
        with self._changed:
            heapq.heappush(self._paused, (time.monotonic() + pause_s, ticket.seq, ticket.once_more()))
            self._changed.notify_all()

    def close(self) -> None:
        """Nobody gets a ticket any more."""
        with self._changed:
            self._closed = True
            self._changed.notify_all()

    def _next(self, *, live_only: bool) -> Ticket | None:
        control, live, backfill = self._waiting
        backfill_first = self._taken % BACKFILL_SHARE == BACKFILL_SHARE - 1
        content = (live,) if live_only else (backfill, live) if backfill_first else (live, backfill)
        for queue in (control, *content):
            while queue:
                ticket: Ticket = queue.popleft()
                if ticket.document in self._busy:
                    self._behind.setdefault(ticket.document, deque()).append(ticket)
                    continue
                self._taken += 1
                return ticket
        return None

    def _release(self, ticket: Ticket) -> None:
        self._busy.discard(ticket.document)
        behind = self._behind.pop(ticket.document, None)
        for waiting in reversed(behind or ()):
            self._waiting[waiting.rank].appendleft(waiting)

    def _wake_paused(self) -> None:
        now = time.monotonic()
        while self._paused and self._paused[0][0] <= now:
            _, _, ticket = heapq.heappop(self._paused)
            self._release(ticket)
            self._waiting[ticket.rank].appendleft(ticket)

    def _wait(self, deadline: float | None) -> bool:
        now = time.monotonic()
        if deadline is not None and now >= deadline:
            return False
        until = [t for t in (deadline, self._paused[0][0] if self._paused else None) if t is not None]
        self._changed.wait(min(until) - now if until else None)
        return True
