"""What benchmarks share: the command in a process of its own, its memory, and quantiles."""

import json
import statistics
import subprocess
import sys
import threading
import time
from pathlib import Path

import psutil

UPWELL = [str(Path(sys.executable).with_name("upwell"))]


def upwell_json(*args: str | Path, timeout_s: float = 1200) -> dict:
    """Run the command with --json and return what it printed."""
    command = [*UPWELL, *map(str, args), "--json"]
    done = subprocess.run(command, check=False, capture_output=True, text=True, timeout=timeout_s)
    assert done.returncode == 0, done.stderr[-2000:]
    return json.loads(done.stdout)


class PeakMemory:
    """The highest sum of proportional set sizes (shared pages counted once) of a process and its children, in MB."""

    def __init__(self, pid: int) -> None:
        self.peak_mb = 0.0
        self._process = psutil.Process(pid)
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._sample, daemon=True)
        self._thread.start()

    def stop(self) -> float:
        self._stop.set()
        self._thread.join()
        return self.peak_mb

    def _sample(self) -> None:
        while not self._stop.wait(0.1):
            total = 0
            try:
                for process in [self._process, *self._process.children(recursive=True)]:
                    try:
                        total += process.memory_full_info().pss
                    except psutil.Error:
                        continue
            except psutil.Error:
                return
            self.peak_mb = max(self.peak_mb, total / 1e6)


def summary(name: str, seconds: list[float]) -> str:
    """One line: count, median, p90, p99, worst, in milliseconds."""
    cuts = statistics.quantiles(seconds, n=100, method="inclusive")
    median, p90, p99 = cuts[49] * 1e3, cuts[89] * 1e3, cuts[98] * 1e3
    return f"{name}: n={len(seconds)} p50={median:.0f} p90={p90:.0f} p99={p99:.0f} max={max(seconds) * 1e3:.0f} ms"


def p99(seconds: list[float]) -> float:
    return statistics.quantiles(seconds, n=100, method="inclusive")[98]


def until(condition, timeout_s: float, every_s: float = 0.005) -> float:
    """Poll until `condition()` holds; the seconds that took. Fails after timeout_s."""
    start = time.perf_counter()
    while not condition():
        assert time.perf_counter() - start < timeout_s, "it did not happen in time"
        time.sleep(every_s)
    return time.perf_counter() - start
