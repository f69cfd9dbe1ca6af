"""What a worker says of itself: ready only when it works, alive as long as a restart would not help."""

import asyncio
import socket
import time

import httpx
import pytest

from guarding import taken
from upwell.errors import Misconfigured
from upwell.metrics import Metrics
from upwell.runtime.stream.health import FAILING_S, SILENT_S, STUCK_S, Health, Phase
from upwell.runtime.stream.progress import Progress


class Clock:
    now = 1000.0

    def __call__(self):
        return self.now


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture
def progress(clock):
    return Progress(Metrics(), "parse", "live", clock)


@pytest.fixture
def health(progress):
    """Of a worker that runs well."""
    health = Health(progress, Metrics())
    health.phase, health.partitions, health.answered = Phase.RUNNING, 3, time.monotonic()
    return health


def test_a_worker_that_runs_is_ready_even_if_idle(health, clock):
    """No messages is no fault."""
    clock.now += 10 * STUCK_S
    assert health.unready() is None
    assert health.ill() is None


@pytest.mark.parametrize("phase", [Phase.STARTING, Phase.REBALANCING, Phase.STOPPING])
def test_it_is_not_ready_while_it_does_not_run(health, phase):
    health.phase = phase
    assert health.unready() == phase
    assert health.ill() is None


def test_it_is_not_ready_without_partitions(health):
    health.partitions = 0
    assert health.unready() == "no partitions assigned"


@pytest.mark.parametrize("answered", [None, -SILENT_S - 1])
def test_it_is_not_ready_without_a_broker(health, answered):
    """It never answered, or not lately; a restart would not bring it back."""
    health.answered = None if answered is None else time.monotonic() + answered
    assert health.unready() == "the broker does not answer"
    assert health.ill() is None


def test_it_is_not_ready_while_a_message_fails(health, progress, clock):
    """Retried for long: not ready, but alive, since another process would fare no better; done: ready again."""
    progress.took(taken())
    progress.failed()
    clock.now += FAILING_S + 1
    progress.failed()
    assert health.unready() == "the message in hand fails, and is tried again"
    assert health.ill() is None
    progress.ended("done")
    assert health.unready() is None


def test_it_is_ill_when_a_stage_is_stuck(health, progress, clock):
    """Only while it runs: waiting for the log is no reason to be killed."""
    progress.took(taken())
    progress.runs()
    clock.now += STUCK_S + 1
    assert "has run longer" in health.ill()
    assert health.unready() == health.ill()
    progress.ran()
    assert health.ill() is None


def test_it_is_ill_without_its_thread(health):
    health.hand_alive = False
    assert health.ill() == "the stage's thread has ended"


def test_it_answers_over_http(health):
    """200 or 503 with the reason as text; metrics always. A taken port is said in one line."""

    async def run():
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        await health.serve(port, "127.0.0.1")
        try:
            async with httpx.AsyncClient(base_url=f"http://127.0.0.1:{port}") as client:
                assert (await client.get("/readyz")).status_code == 200
                health.phase = Phase.STOPPING
                answer = await client.get("/readyz")
                assert (answer.status_code, answer.text) == (503, "stopping\n")
                assert (await client.get("/healthz")).text == "alive\n"
                assert "upwell_worker_messages_total" in (await client.get("/metrics")).text
            with pytest.raises(Misconfigured, match="--port"):
                await Health(Progress(Metrics(), "parse", "live"), Metrics()).serve(port, "127.0.0.1")
        finally:
            await health.close()

    asyncio.run(run())
