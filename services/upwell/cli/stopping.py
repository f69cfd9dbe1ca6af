"""What SIGINT and SIGTERM ask of a command that serves until it is told to stop."""

import signal
import threading
from types import FrameType

from upwell.cli.errors import INTERRUPTED


class Stopping:
    """`asked` is set by SIGINT (then `status` is 130) and by SIGTERM (0)."""

    def __init__(self) -> None:
        self.status = 0
        self.asked = threading.Event()
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, self._ask)

    def _ask(self, number: int, _frame: FrameType | None) -> None:
        self.status = INTERRUPTED if number == signal.SIGINT else 0
        self.asked.set()
