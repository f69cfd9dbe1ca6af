"""Keeps the worker processes of one machine running: starts them, starts again what died, and ends them together.

    status = Supervisor(tasks, drain_s=20, say=note).run()

A child's lines on standard error come out with its name before them. A child that ends with status 2 is misconfigured:
starting it again would not help, so all are stopped.
"""

import signal
import subprocess
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from types import FrameType
from typing import IO

from upwell.records import Record

FIRST_PAUSE_S = 0.5
LONGEST_PAUSE_S = 30.0
STEADY_S = 60.0
"""A child that has lived so long starts again after the first pause when it dies."""
GRACE_S = 5.0
"""How much longer than the children's own deadline they are waited for."""
TURN_S = 0.1
FLOOR_NICE = 9
"""Weight 137 against 1024 where live work wants the CPU: an eighth of it is the backfill's floor share.

All children stay in one session: where Linux groups the CPU by session (`sched_autogroup_enabled`), `nice` weighs
nothing between two of them.
"""
MISCONFIGURED, INTERRUPTED = 2, 130


class Task(Record, frozen=True, kw_only=True):
    """A process to keep running. Its standard input is held open: a child may end when it closes."""

    name: str
    command: tuple[str, ...]
    nice: int = 0


class Supervisor:
    """Runs in the main thread, whose SIGTERM and SIGINT it takes. `say` prints a line; threads call it."""

    def __init__(self, tasks: Sequence[Task], *, drain_s: float, say: Callable[[str], None]) -> None:
        self._drain_s = drain_s
        self._say = say
        self._children = [_Child(task, say) for task in tasks]
        self._stop = threading.Event()
        self._status = 0

    def run(self) -> int:
        """Until a signal (0, or 130 for SIGINT) or a misconfigured child (2); the status is that of the whole."""
        before = {number: signal.signal(number, self._asked) for number in (signal.SIGTERM, signal.SIGINT)}
        try:
            for child in self._children:
                child.start()
            while not self._stop.wait(TURN_S):
                self._turn()
        finally:
            self._end()
            for number, handler in before.items():
                signal.signal(number, handler)
        return self._status

    def _asked(self, number: int, _frame: FrameType | None) -> None:
        self._status = INTERRUPTED if number == signal.SIGINT else 0
        self._stop.set()

    def _turn(self) -> None:
        for child in self._children:
            if child.tend() == MISCONFIGURED:
                self._say(f"{child.task.name}: misconfigured; all are stopped")
                self._status = MISCONFIGURED
                self._stop.set()

    def _end(self) -> None:
        for child in self._children:
            child.terminate()
        deadline = time.monotonic() + self._drain_s + GRACE_S
        for child in self._children:
            child.end(deadline)


class _Child:
    """One task's process, and when to start it again."""

    def __init__(self, task: Task, say: Callable[[str], None]) -> None:
        self.task = task
        self._say = say
        self._process: subprocess.Popen[bytes] | None = None
        self._reader: threading.Thread | None = None
        self._started = 0.0
        self._pause_s = FIRST_PAUSE_S
        self._due: float | None = None

    def start(self) -> None:
        lower = ("nice", "-n", str(self.task.nice)) if self.task.nice else ()
        self._process = subprocess.Popen(
            [*lower, *self.task.command],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            process_group=0,  # a terminal's ctrl-C is the supervisor's to pass on; see FLOOR_NICE
        )
        self._started, self._due = time.monotonic(), None
        assert self._process.stdout is not None
        self._reader = threading.Thread(target=self._repeat, args=(self._process.stdout,), daemon=True)
        self._reader.start()

    def tend(self) -> int | None:
        """Start the process again if it is due; the exit status of one that has just died."""
        if self._due is not None:
            if time.monotonic() >= self._due:
                self.start()
            return None
        assert self._process is not None
        status = self._process.poll()
        if status is None:
            return None
        self._buried()
        if status != MISCONFIGURED:
            lived_s = time.monotonic() - self._started
            pause_s = FIRST_PAUSE_S if lived_s > STEADY_S else self._pause_s
            self._due, self._pause_s = time.monotonic() + pause_s, min(LONGEST_PAUSE_S, pause_s * 2)
            self._say(f"{self.task.name}: ended ({_how(status)}) after {lived_s:.0f} s; again in {pause_s:g} s")
        return status

    def terminate(self) -> None:
        if self._process is not None:
            self._process.terminate()

    def end(self, deadline: float) -> None:
        """Wait until then (monotonic seconds), and kill it if it has not ended."""
        if self._process is None:
            return
        try:
            self._process.wait(max(0.0, deadline - time.monotonic()))
        except subprocess.TimeoutExpired:
            self._say(f"{self.task.name}: killed, since it did not end")
            self._process.kill()
            self._process.wait()
        self._buried()

    def _buried(self) -> None:
        assert self._process is not None
        assert self._reader is not None
        self._reader.join(1.0)  # a grandchild may hold the pipe
        assert self._process.stdin is not None
        with suppress(OSError):
            self._process.stdin.close()
        if not self._reader.is_alive():
            assert self._process.stdout is not None
            self._process.stdout.close()

    def _repeat(self, lines: IO[bytes]) -> None:
        with suppress(ValueError, OSError):
            for line in lines:
                self._say(f"{self.task.name}: {line.decode(errors='replace').rstrip()}")


def _how(status: int) -> str:
    return f"status {status}" if status >= 0 else signal.Signals(-status).name
