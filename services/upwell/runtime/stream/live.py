"""When live work is under way, as the control topic tells it: each live change passes there, without its words."""

import threading
import time
from collections.abc import Callable
from typing import Protocol

import msgspec

from upwell import logs
from upwell.errors import Retryable
from upwell.records import Lane

UNDER_WAY_S = 0.2
"""How long a live change is taken to be under way: from accepted to searchable, on machines that have time for it."""
POLL_S = 1.0
PAUSE_S = 2.0


class Heard(Protocol):
    """A record of the log, as far as it is looked at."""

    @property
    def value(self) -> bytes | None: ...


class Source(Protocol):
    """Where records come from: `Tail`."""

    def poll(self, timeout_s: float) -> "list[Heard]": ...

    def close(self) -> None: ...


class _Event(msgspec.Struct):
    lane: str = Lane.LIVE


class _Change(msgspec.Struct):
    event: _Event


_DECODER = msgspec.msgpack.Decoder(_Change)


class LiveTraffic:
    """Listens in a thread of its own from `start` to `close`; while the brokers are away, nothing counts as live.

    `open_source` makes the source; it is called again after every failure.
    """

    def __init__(self, open_source: Callable[[], Source], clock: Callable[[], float] = time.monotonic) -> None:
        self._open_source = open_source
        self._clock = clock
        self._quiet_at = clock()
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._listen, name="live", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def quiet_at(self) -> float:
        """When what is known to be under way will be over, in seconds of `clock`."""
        return self._quiet_at

    def close(self) -> None:
        """Returns at once; the thread ends within a poll."""
        self._stop.set()

    def _listen(self) -> None:
        while not self._stop.is_set():
            try:
                source = self._open_source()
            except Retryable:
                self._stop.wait(PAUSE_S)
                continue
            try:
                while not self._stop.is_set():
                    self.hear(source.poll(POLL_S))
            except Retryable as e:
                logs.warn("live_traffic_unheard", why=str(e))
                self._stop.wait(PAUSE_S)
            finally:
                source.close()

    def hear(self, records: "list[Heard]") -> None:
        """Take note of records of the control topic."""
        if any(_is_live(record.value) for record in records):
            self._quiet_at = self._clock() + UNDER_WAY_S


def _is_live(value: bytes | None) -> bool:
    """Whether a change came by the live lane; what cannot be read here (it lies in a blob) is taken for one."""
    if value is None:
        return False
    try:
        return bool(_DECODER.decode(value).event.lane == Lane.LIVE)
    except (msgspec.DecodeError, UnicodeError):
        return True
