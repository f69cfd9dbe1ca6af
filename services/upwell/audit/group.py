"""Group commit: callers wait while one thread writes down together whatever they have brought."""

import threading
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field

from upwell import logs
from upwell.errors import Overloaded, Retryable, UpwellError
from upwell.ports import AuditEntry

MOST_WAITING = 20_000
"""Records that wait at most: what comes beyond is refused, for memory is not without end."""
MOST_TOGETHER = 1_000
WAIT_S = 30.0
"""A record that is not durable after so long is given up, and whoever brought it shows nothing."""


@dataclass(eq=False)
class Lot:
    """What one caller brings: acts, each with its origin if it has one; `done` once they are durable, or never will be.

    After `given_up` nobody waits any more; what has not been taken up by then is not written.
    """

    acts: tuple[tuple[AuditEntry, str | None], ...]
    done: threading.Event = field(default_factory=threading.Event)
    error: UpwellError | None = None
    given_up: bool = False


class GroupCommit:
    """One thread, started by the first lot, that hands lots to `commit` and wakes their callers.

    `commit` gets what there is, or nothing when `due` says (in seconds) that it wants to be called anyway; `finish` is
    called once, at the end. What they raise every caller of that commit gets, as Retryable.
    """

    def __init__(
        self, commit: Callable[[list[Lot]], None], *, due: Callable[[], float | None], finish: Callable[[], None]
    ) -> None:
        self._commit = commit
        self._due = due
        self._finish = finish
        self._changed = threading.Condition()
        self._waiting: deque[Lot] = deque()
        self._count = 0
        self._closed = False
        self._thread: threading.Thread | None = None

    def put(self, lot: Lot, wait_s: float = WAIT_S) -> None:
        """Return when the lot is durable. Raises Retryable when it may not be, Overloaded when too much waits."""
        with self._changed:
            if self._closed:
                raise Retryable("the audit is closed")
            if self._count + len(lot.acts) > MOST_WAITING:
                raise Overloaded("the audit cannot keep up with what is asked", retry_after_s=1.0)
            self._waiting.append(lot)
            self._count += len(lot.acts)
            if self._thread is None:
                self._thread = threading.Thread(target=self._run, name="audit", daemon=True)
                self._thread.start()
            self._changed.notify_all()
        if not lot.done.wait(wait_s):
            lot.given_up = True
            raise Retryable("the audit could not be written in time")
        if lot.error is not None:
            raise lot.error

    def close(self) -> None:
        """Write what waits, and end."""
        with self._changed:
            self._closed = True
            self._changed.notify_all()
        if self._thread is not None:
            self._thread.join()

    def _run(self) -> None:
        while (lots := self._take()) is not None:
            self._hand_over(lots)
        try:
            self._finish()
        except Exception as e:  # noqa: BLE001 the chain stays verifiable, its end unsealed
            logs.unexpected("audit_not_sealed", e)

    def _take(self) -> list[Lot] | None:
        """What waits, an empty list when something is due, None at the end."""
        with self._changed:
            due_s = self._due()
            until = None if due_s is None else time.monotonic() + due_s
            while not self._waiting:
                left_s = None if until is None else until - time.monotonic()
                if self._closed:
                    return None
                if left_s is not None and left_s <= 0:
                    return []
                self._changed.wait(left_s)
            lots: list[Lot] = []
            taken = 0
            while self._waiting and (not lots or taken + len(self._waiting[0].acts) <= MOST_TOGETHER):
                lot = self._waiting.popleft()
                taken += len(lot.acts)
                lots.append(lot)
            self._count -= taken
        return [lot for lot in lots if not lot.given_up]

    def _hand_over(self, lots: list[Lot]) -> None:
        error: UpwellError | None = None
        try:
            self._commit(lots)
        except Retryable as e:
            error = e
        except UpwellError as e:
            logs.warn("audit_refused", why=str(e))
            error = Retryable("the audit cannot be written now")
        except Exception as e:  # noqa: BLE001 whoever waits must hear of it, and the thread must stay
            logs.unexpected("audit_failed", e)
            error = Retryable(f"the audit cannot be written: unexpected {type(e).__name__}")
        for lot in lots:
            lot.error = error
            lot.done.set()
