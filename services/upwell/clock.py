"""Time as records carry it: whole microseconds since the epoch, UTC."""

import time
from collections.abc import Callable
from datetime import UTC, datetime

Clock = Callable[[], int]


def now_us() -> int:
    """Microseconds since the epoch."""
    return time.time_ns() // 1000


def rfc3339(us: int | None) -> str | None:
    """`2026-01-02T03:04:05.678901Z`, or None."""
    if us is None:
        return None
    return datetime.fromtimestamp(us / 1_000_000, UTC).isoformat(timespec="microseconds").replace("+00:00", "Z")
