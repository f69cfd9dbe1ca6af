"""From the outbox to the audit: in the background, at its own pace, each act once.

An act is written down first and taken out of the outbox then; what a crash leaves between the two is found by its
origin and not written again. Several processes may drain one outbox.
"""

import threading
from collections.abc import Callable

from upwell import logs
from upwell.audit.log import SqlAudit
from upwell.errors import UpwellError
from upwell.ports import Outbox

PORTION = 500
PAUSE_S = 1.0
LONGEST_PAUSE_S = 30.0
LAST_TRY_S = 5.0
"""How long an act waits for its record while the process closes; what is not written then stays in the outbox."""


class Drain:
    """Drains until it is closed. `audit` is asked for once there is something to write."""

    def __init__(self, outbox: Callable[[], Outbox], audit: Callable[[], SqlAudit], pause_s: float = PAUSE_S) -> None:
        self._outbox = outbox
        self._audit = audit
        self._pause_s = pause_s
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, name="audit outbox", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def once(self, wait_s: float = LAST_TRY_S) -> int:
        """Write down what the outbox holds now; how many acts. Raises Retryable while a part is away."""
        written = 0
        while portion := self._outbox().owed(PORTION):
            self._audit().write_once([(owed.entry, owed.origin) for owed in portion], wait_s)
            self._outbox().paid([owed.id for owed in portion])
            written += len(portion)
            if len(portion) < PORTION:
                break
        return written

    def close(self) -> None:
        """Stop, with what the outbox holds written down if that can be done now."""
        if self._thread.is_alive():
            self._stop.set()
            self._thread.join()
        try:
            self.once()
        except UpwellError as e:
            logs.warn("audit_outbox_waits", why=str(e))

    def _run(self) -> None:
        pause_s = self._pause_s
        while not self._stop.wait(pause_s):
            try:
                self.once()
            except UpwellError as e:
                pause_s = min(2 * pause_s, LONGEST_PAUSE_S)
                logs.warn("audit_outbox_waits", why=str(e), pause_s=pause_s)
            except Exception as e:  # noqa: BLE001 the thread must stay; the acts are still in the outbox
                pause_s = LONGEST_PAUSE_S
                logs.unexpected("audit_outbox_failed", e)
            else:
                pause_s = self._pause_s
