"""How far the ledger has read, told to its database: whoever says how fresh sources are need not ask the brokers."""

import threading
from collections.abc import Callable

from upwell import logs
from upwell.clock import Clock
from upwell.errors import UpwellError

PAUSE_S = 1.0
LOOK_S = 0.25
LONGEST_PAUSE_S = 10.0


class CaughtUp:
    """Notes in a thread of its own, from `start` to `close`, up to when all that was accepted has been read.

    `noted` takes the log's ends now and gives what says whether they have been reached (`LagReader.noted`); `tell` is
    told the time (us) at which the ends were taken, once they have. Under load the mark follows; it never stands still.
    """

    def __init__(
        self,
        noted: Callable[[], Callable[[], bool]],
        tell: Callable[[int], None],
        clock: Clock,
        *,
        pause_s: float = PAUSE_S,
    ) -> None:
        self._noted = noted
        self._tell = tell
        self._clock = clock
        self._pause_s = pause_s
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, name="caught up", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def close(self) -> None:
        """Returns within a second, whatever the brokers do; the thread then ends by itself."""
        self._stop.set()
        if self._thread.is_alive():
            self._thread.join(1.0)

    def once(self) -> bool:
        """Wait until what the log holds now has been read, and tell; False when it was closed first."""
        at = self._clock()
        reached = self._noted()
        while not reached():
            if self._stop.wait(min(LOOK_S, self._pause_s)):
                return False
        self._tell(at)
        return True

    def _run(self) -> None:
        pause_s = self._pause_s
        while not self._stop.wait(pause_s):
            try:
                self.once()
            except UpwellError as e:
                pause_s = min(2 * pause_s, LONGEST_PAUSE_S)
                logs.warn("ledger_mark_waits", why=str(e), pause_s=pause_s)
            except Exception as e:  # noqa: BLE001 the thread must stay: sources would look stale for ever
                pause_s = LONGEST_PAUSE_S
                logs.unexpected("ledger_mark_failed", e)
            else:
                pause_s = self._pause_s
