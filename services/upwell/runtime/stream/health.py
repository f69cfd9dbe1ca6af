"""What a worker says of itself: alive, ready, and its metrics. Served on its own event loop, so that a blocked loop
answers nobody.

| route | 200 when |
|---|---|
| `/healthz` | the loop turns, the stage's thread lives, and no stage has run longer than STUCK_S on one message |
| `/readyz` | the group has assigned partitions, the broker has answered lately, and nothing in hand fails for long |
| `/metrics` | always |
"""

import time
from enum import StrEnum

from aiohttp import web
from prometheus_client import CONTENT_TYPE_LATEST, generate_latest

from upwell.errors import Misconfigured
from upwell.metrics import Metrics
from upwell.runtime.stream.progress import Progress

STUCK_S = 7200.0
"""Longer than the largest document takes to embed on a slow machine; parsing has a limit of its own."""
SILENT_S = 5.0
FAILING_S = 10.0


class Phase(StrEnum):
    STARTING = "starting"
    REBALANCING = "rebalancing"
    RUNNING = "running"
    STOPPING = "stopping"


class Health:
    """Facts of a worker, and the answers drawn from them. `answered` is when the broker last did (monotonic)."""

    def __init__(self, progress: Progress, metrics: Metrics) -> None:
        self._progress = progress
        self._metrics = metrics
        self._runner: web.AppRunner | None = None
        self.phase = Phase.STARTING
        self.hand_alive = True
        self.partitions = 0
        self.answered: float | None = None

    def ill(self) -> str | None:
        """Why the process should be ended and started again; None when it need not be."""
        if not self.hand_alive:
            return "the stage's thread has ended"
        if self._progress.age(self._progress.running_since) > STUCK_S:
            return f"the stage has run longer than {STUCK_S:.0f} s on one message"
        return None

    def unready(self) -> str | None:
        """Why the worker does not work as it should now; None when it does. Idle for lack of messages is ready."""
        if self.phase is not Phase.RUNNING:
            return str(self.phase)
        if not self.partitions:
            return "no partitions assigned"
        if self.answered is None or time.monotonic() - self.answered > SILENT_S:
            return "the broker does not answer"
        if self._progress.age(self._progress.failing_since) > FAILING_S:
            return "the message in hand fails, and is tried again"
        return self.ill()

    async def serve(self, port: int, host: str = "0.0.0.0") -> None:  # noqa: S104  probes come from other hosts
        """Listen. Raises Misconfigured when the port is taken."""
        app = web.Application()
        app.add_routes(
            [
                web.get("/healthz", self._healthz),
                web.get("/readyz", self._readyz),
                web.get("/metrics", self._scrape),
            ]
        )
        self._runner = web.AppRunner(app, access_log=None, handle_signals=False)
        await self._runner.setup()
        try:
            await web.TCPSite(self._runner, host, port).start()
        except OSError as e:
            raise Misconfigured(f"port {port} cannot be listened on ({e.strerror}): choose another with --port") from e

    async def close(self) -> None:
        if self._runner is not None:
            await self._runner.cleanup()

    async def _healthz(self, _request: web.Request) -> web.Response:
        return _answer(self.ill(), "alive")

    async def _readyz(self, _request: web.Request) -> web.Response:
        return _answer(self.unready(), "ready")

    async def _scrape(self, _request: web.Request) -> web.Response:
        return web.Response(body=generate_latest(self._metrics.registry), headers={"Content-Type": CONTENT_TYPE_LATEST})


def _answer(trouble: str | None, well: str) -> web.Response:
    return web.Response(text=f"{trouble or well}\n", status=200 if trouble is None else 503)
