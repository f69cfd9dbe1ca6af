"""One worker process: a stage, its line of topics, and a clean way out of every state.

Exit status: 0 stopped as asked, 1 failed (whoever supervises starts it again), 2 misconfigured (that would not help).
"""

import asyncio
import os
import signal
import threading
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Any

from upwell import logs
from upwell.clock import now_us
from upwell.config import Settings
from upwell.errors import Misconfigured, Retryable, UpwellError
from upwell.metrics import Metrics
from upwell.ports import Blobs
from upwell.runtime.stream import faust_app, topics
from upwell.runtime.stream.breaker import Breaker
from upwell.runtime.stream.contract import Stage
from upwell.runtime.stream.emptied import Emptied
from upwell.runtime.stream.envelope import Taken, Wire
from upwell.runtime.stream.floorshare import FloorShare
from upwell.runtime.stream.guard import Guard
from upwell.runtime.stream.hand import Hand
from upwell.runtime.stream.health import Health, Phase
from upwell.runtime.stream.live import LiveTraffic
from upwell.runtime.stream.progress import Progress
from upwell.runtime.stream.reach import Reach, patiently, until_ready
from upwell.runtime.stream.tail import Tail
from upwell.runtime.stream.topics import Line, Role

STOPPED, FAILED, MISCONFIGURED, INTERRUPTED = 0, 1, 2, 130
PULSE_S = 1.0

Equip = Callable[[Metrics], tuple[Stage[Any], Blobs]]
"""Makes the stage, which counts in the worker's metrics, and the blobs that hold what is too large for a message;
called in the worker's thread.

Raises Retryable while something is away (it is tried again), Misconfigured.
"""


def run(settings: Settings, role: Role, line: Line, equip: Equip) -> int:
    """Be the worker until SIGTERM or SIGINT, or until it cannot go on; returns the exit status.

    After `drain_s` from the signal the process ends where it stands (status 1): nothing unfinished is acknowledged.
    """
    faust_app.quiet()
    worker = Worker(settings, role, line)
    status = asyncio.run(worker.run(equip))
    if worker.why is not None:
        raise worker.why
    return status


class Worker:
    """The parts of the process, from start to end. `why` is the error that ended it, if one did."""

    def __init__(self, settings: Settings, role: Role, line: Line) -> None:
        self.why: UpwellError | None = None
        self._settings = settings
        self._role = role
        self._line = line
        self._status = STOPPED
        self._metrics = Metrics()
        self._progress = Progress(self._metrics, role, line)
        self._health = Health(self._progress, self._metrics)
        self._reach = Reach(settings.brokers)
        self._hand = Hand(f"{role}-{line}")
        self._consumed = topics.taken_by(role, line)

    async def run(self, equip: Equip) -> int:
        self._stop = asyncio.Event()
        loop = asyncio.get_running_loop()
        for number in (signal.SIGTERM, signal.SIGINT):
            loop.add_signal_handler(number, self._asked, number)
        try:
            if self._settings.port:
                await self._health.serve(self._settings.port)
            await self._work(equip)
        except UpwellError as e:
            self._fail(e)
        finally:
            await self._health.close()
            await self._reach.close()
        return self._status

    async def _work(self, equip: Equip) -> None:
        if not await self._unless_stopped(until_ready(self._reach, self._consumed)):
            return
        opening = asyncio.ensure_future(patiently(lambda: self._hand.do(lambda: equip(self._metrics))))
        if not await self._unless_stopped(opening):
            return
        stage, blobs = opening.result()
        app = faust_app.make(self._settings, topics.group_of(self._role, self._line), self._consumed)
        guard = self._guard(stage, blobs, app)
        app.take = self._after_live(guard) if self._line is Line.BACKFILL else guard
        app.on_revoked = lambda session: self._revoked(guard, session)
        app.on_crash = self._crash
        if await self._unless_stopped(faust_app.start(app)):
            await self._pulse(app)
        self._health.phase = Phase.STOPPING
        guard.close()
        await app.stop()
        await self._hand.do(stage.close)

    def _guard(self, stage: Stage[Any], blobs: Blobs, app: faust_app.LineApp) -> Guard:
        settings = self._settings
        wire = Wire(blobs, settings.message_bytes, now_us)
        return Guard(
            stage,
            name=self._role,
            hand=self._hand,
            decode=wire.decode,
            encode=wire.encode,
            bury=wire.bury,
            spend=wire.spend,
            send=faust_app.sender(app),
            progress=self._progress,
            breaker=Breaker(settings.breaker_share, settings.breaker_messages),
            end=self._fail,
            retry_limit_s=settings.retry_limit_s,
        )

    def _after_live(self, guard: Guard) -> Callable[[Taken], Awaitable[bool]]:
        """The guard of a backfill's worker: it waits while live work is under way."""
        live = LiveTraffic(lambda: Tail(self._settings.brokers, topics.CONTROL, f"{self._hand.name}-live"))
        share = FloorShare(live.quiet_at)
        live.start()

        async def take(taken: Taken) -> bool:
            self._progress.gave_way(await share.turn())
            return await guard(taken)

        return take

    async def _pulse(self, app: faust_app.LineApp) -> None:
        """Look around once a second until the worker is to stop."""
        emptied = Emptied(app.note_emptied)
        while not self._stop.is_set():
            with suppress(Retryable):
                await self._reach.topics()
            held = app.assigned()
            emptied.note(held)
            self._health.answered = self._reach.answered
            self._health.partitions = len(held)
            self._health.hand_alive = self._hand.alive
            self._health.phase = Phase.REBALANCING if app.rebalancing else Phase.RUNNING
            self._progress.assigned(len(held))
            self._progress.lag(app.waiting(self._progress.done))
            with suppress(TimeoutError):
                await asyncio.wait_for(self._stop.wait(), PULSE_S)

    def _revoked(self, guard: Guard, session: int) -> None:
        self._health.phase = Phase.REBALANCING
        guard.let_go(session)
        asyncio.get_running_loop().call_later(self._settings.drain_s, guard.abandon, session)

    def _asked(self, number: int) -> None:
        self._end(INTERRUPTED if number == signal.SIGINT else STOPPED)

    def _fail(self, error: UpwellError) -> None:
        self.why = self.why or error
        self._end(MISCONFIGURED if isinstance(error, Misconfigured) else FAILED)

    def _end(self, status: int) -> None:
        if self._stop.is_set():
            return
        self._status = status
        self._stop.set()
        deadline = threading.Timer(self._settings.drain_s, self._too_late)
        deadline.daemon = True
        deadline.start()

    def _too_late(self) -> None:
        logs.warn("stopped_at_deadline", stage=self._role, line=self._line, drain_s=self._settings.drain_s)
        os._exit(FAILED)

    def _crash(self, error: BaseException) -> None:
        logs.warn("worker_failed", stage=self._role, line=self._line, why=type(error).__name__)
        os._exit(FAILED)

    async def _unless_stopped(self, work: Awaitable[Any]) -> bool:
        """Wait for the work; False when the worker is to stop before it is done."""
        working, stopping = asyncio.ensure_future(work), asyncio.ensure_future(self._stop.wait())
        await asyncio.wait({working, stopping}, return_when=asyncio.FIRST_COMPLETED)
        stopping.cancel()
        if not working.done():
            working.cancel()
            await asyncio.wait({working})
            return False
        working.result()
        return True
