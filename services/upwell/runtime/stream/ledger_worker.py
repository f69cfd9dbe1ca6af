"""The ledger's process: its consumer in a thread, its health on the event loop, and a clean way out of every state.

Exit status as `worker` has it. The event loop asks the brokers itself, so that a database that hangs does not look like
a broker that does.
"""

import asyncio
import logging
import os
import signal
import threading
import time
from collections.abc import Callable
from contextlib import suppress

from upwell import logs
from upwell.clock import now_us
from upwell.config import Settings
from upwell.errors import Misconfigured, Retryable, UpwellError
from upwell.messages import Dead, Member, Message
from upwell.metrics import Metrics
from upwell.ports import Blobs
from upwell.runtime.eventlog import EventLog
from upwell.runtime.stream import codec, faust_app
from upwell.runtime.stream.caught_up import CaughtUp
from upwell.runtime.stream.envelope import Taken
from upwell.runtime.stream.health import Health, Phase
from upwell.runtime.stream.lag import LagReader
from upwell.runtime.stream.ledger import TAKES, Decode, Ledger
from upwell.runtime.stream.progress import Progress
from upwell.runtime.stream.reach import Reach, patiently, until_ready
from upwell.runtime.stream.topics import Line, Role
from upwell.runtime.stream.worker import FAILED, INTERRUPTED, MISCONFIGURED, PULSE_S, STOPPED

TIDY_S = 3600.0

Equip = Callable[[], tuple[EventLog, Blobs]]
"""Opens the ledger's database and the blobs that hold what is too large for a message.

Raises Retryable while something is away (it is tried again), Misconfigured.
"""


def run(settings: Settings, equip: Equip) -> int:
    """Be the ledger until SIGTERM or SIGINT, or until it cannot go on; returns the exit status.

    What is in hand at the signal is delivered again. After `drain_s` the process ends where it stands (status 1).
    """
    faust_app.quiet()
    logging.getLogger("kafka").setLevel(logging.CRITICAL)  # the ledger says itself what troubles it
    worker = LedgerWorker(settings)
    status = asyncio.run(worker.run(equip))
    if worker.why is not None:
        raise worker.why
    return status


class LedgerWorker:
    """The parts of the process, from start to end. `why` is the error that ended it, if one did."""

    def __init__(self, settings: Settings) -> None:
        if not settings.brokers:
            raise Misconfigured("brokers is not set: the ledger needs Kafka (UPWELL_BROKERS or upwell.toml)")
        self.why: UpwellError | None = None
        self._settings = settings
        self._status = STOPPED
        self._metrics = Metrics()
        self._progress = Progress(self._metrics, Role.LEDGER, Line.LIVE)
        self._health = Health(self._progress, self._metrics)
        self._reach = Reach(settings.brokers)
        self._stop = threading.Event()
        self._tidy_at = time.monotonic() + TIDY_S

    async def run(self, equip: Equip) -> int:
        self._stopping = asyncio.Event()
        loop = asyncio.get_running_loop()
        for number in (signal.SIGTERM, signal.SIGINT):
            loop.add_signal_handler(number, self._end, INTERRUPTED if number == signal.SIGINT else STOPPED)
        try:
            if self._settings.port:
                await self._health.serve(self._settings.port)
            working = asyncio.ensure_future(self._work(equip))
            stopping = asyncio.ensure_future(self._stopping.wait())
            await asyncio.wait({working, stopping}, return_when=asyncio.FIRST_COMPLETED)
            stopping.cancel()
            if not working.done() and self._health.phase is Phase.STARTING:
                working.cancel()  # it only waits for something to come up
            with suppress(asyncio.CancelledError):
                await working
        except UpwellError as e:
            self.why = e
            self._end(MISCONFIGURED if isinstance(e, Misconfigured) else FAILED)
        finally:
            await self._health.close()
            await self._reach.close()
        return self._status

    async def _work(self, equip: Equip) -> None:
        await until_ready(self._reach, TAKES)
        log, blobs = await patiently(lambda: asyncio.to_thread(equip))
        lag = LagReader(self._settings.brokers)
        mark = CaughtUp(lag.noted, log.note_read, now_us)
        try:
            ledger = Ledger(
                self._settings.brokers,
                log,
                _decoder(blobs),
                progress=self._progress,
                metrics=self._metrics,
                session_timeout_s=self._settings.session_timeout_s,
                retry_limit_s=self._settings.retry_limit_s,
            )
            self._health.phase = Phase.RUNNING
            consuming = asyncio.ensure_future(asyncio.to_thread(ledger.run, self._stop))
            mark.start()
            while not consuming.done():
                await self._pulse(ledger)
                await self._tidy(blobs)
                await asyncio.wait({consuming}, timeout=PULSE_S)
            consuming.result()
        finally:
            await asyncio.to_thread(mark.close)
            lag.close()
            log.close()
            blobs.close()

    async def _pulse(self, ledger: Ledger) -> None:
        with suppress(Retryable):
            await self._reach.topics()
        self._health.answered = self._reach.answered
        self._health.partitions = ledger.partitions
        if self._stop.is_set():
            self._health.phase = Phase.STOPPING

    async def _tidy(self, blobs: Blobs) -> None:
        """Now and then: remove blobs that no message or dead letter can need any more."""
        if time.monotonic() < self._tidy_at:
            return
        self._tidy_at = time.monotonic() + TIDY_S
        old = now_us() - int(max(self._settings.retention_days, self._settings.dead_retention_days) * 86_400e6)
        with suppress(Retryable):
            await asyncio.to_thread(blobs.expire, old)

    def _end(self, status: int) -> None:
        if self._stop.is_set():
            return
        self._status = status
        self._stop.set()
        self._stopping.set()
        deadline = threading.Timer(self._settings.drain_s, self._too_late)
        deadline.daemon = True
        deadline.start()

    def _too_late(self) -> None:
        logs.warn("stopped_at_deadline", stage=Role.LEDGER, drain_s=self._settings.drain_s)
        os._exit(FAILED)


def _decoder(blobs: Blobs) -> Decode:
    def decode(taken: Taken) -> Message | Dead:
        assert taken.value is not None
        message = codec.decode(taken.value, taken.headers, taken.topic, key=taken.key, blobs=blobs)
        assert not isinstance(message, Member)  # of no topic that the ledger takes
        return message

    return decode
