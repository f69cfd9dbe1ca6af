"""What befalls the machines, and when: a seeded plan, each blow at a share of the events that have ended."""

import random
import signal
import threading
import time
from contextlib import suppress
from dataclasses import dataclass
from enum import StrEnum

from machines import SESSION_S, Fleet

FIRST, LAST = 0.02, 0.93
"""Between which shares of the work the blows fall: all of them at work in progress."""
PAUSE_S = SESSION_S + 3.0
"""How long a worker sleeps that shall find its partitions gone."""
DATABASE_PAUSE_S = 3.0
STALL_S = 25.0
"""Once the work has begun: with nothing ending for so long the next blow falls all the same."""


class Blow(StrEnum):
    KILL = "kill -9 a worker"
    TERMINATE = "SIGTERM to a worker"
    SLEEP = "SIGSTOP a worker past its session"
    STORE = "kill -9 the store"
    BROKER_KILL = "kill -9 the broker"
    BROKER_RESTART = "restart the broker"
    DATABASE = "pause PostgreSQL"


@dataclass(frozen=True)
class Planned:
    at: float
    blow: Blow
    machine: str = ""


def planned(
    seed: int, kills: int, workers: list[str], *, sleeps: int = 2, services: bool = True, store: bool = True
) -> list[Planned]:
    """`kills` kills and terminations (with `store` a few at that), `sleeps` sleepers; with `services` the broker goes
    down twice, once by kill -9, and the database hangs once. In the order in which they fall."""
    rng = random.Random(seed)
    blows = [Blow.STORE] * (max(1, kills // 12) if kills and store else 0)
    while len(blows) < kills:
        blows.append(Blow.TERMINATE if rng.random() < 0.3 else Blow.KILL)
    blows += [Blow.SLEEP] * sleeps
    if services:
        blows += [Blow.BROKER_KILL, Blow.BROKER_RESTART, Blow.DATABASE]
    rng.shuffle(blows)
    ats = sorted(rng.uniform(FIRST, LAST) for _ in blows)
    at_worker = {Blow.KILL, Blow.TERMINATE, Blow.SLEEP}
    return [
        Planned(at, blow, rng.choice(workers) if blow in at_worker else "") for at, blow in zip(ats, blows, strict=True)
    ]


class Storm(threading.Thread):
    """Strikes as planned while `share()` (of the work that is done) rises. `struck` says what fell, and how often."""

    def __init__(self, fleet: Fleet, plan: list[Planned], share, say=lambda _line: None) -> None:
        super().__init__(daemon=True)
        self._say = say
        self._fleet, self._plan, self._share = fleet, list(plan), share
        self._by_name = {machine.name: machine for machine in fleet.workers}
        self._stopping = threading.Event()
        self._asleep: list[threading.Timer] = []
        self.struck: list[Planned] = []
        self.failure: BaseException | None = None

    def run(self) -> None:
        try:
            for planned in self._plan:
                if not self._due(planned.at):
                    return
                self._say(f"{self._share():4.0%} {planned.blow} {planned.machine}")
                self._strike(planned)
                self.struck.append(planned)
        except BaseException as error:
            self.failure = error
            raise
        finally:
            for timer in self._asleep:
                timer.join()

    def stop(self) -> None:
        self._stopping.set()
        self.join()

    @property
    def left(self) -> int:
        return len(self._plan) - len(self.struck)

    def _due(self, at: float) -> bool:
        seen, since = self._share(), time.monotonic()
        while self._share() < at and (not seen or time.monotonic() - since < STALL_S):
            if self._stopping.wait(0.05):
                return False
            if self._share() > seen:
                seen, since = self._share(), time.monotonic()
        return not self._stopping.is_set()

    def _strike(self, planned: Planned) -> None:
        fleet = self._fleet
        match planned.blow:
            case Blow.KILL | Blow.TERMINATE:
                machine = self._up(planned.machine)
                machine.signal(signal.SIGKILL if planned.blow is Blow.KILL else signal.SIGTERM)
            case Blow.SLEEP:
                machine = self._up(planned.machine)
                machine.signal(signal.SIGSTOP)
                timer = threading.Timer(PAUSE_S, machine.signal, [signal.SIGCONT])
                timer.start()
                self._asleep.append(timer)
            case Blow.STORE:
                fleet.store.signal(signal.SIGKILL)
            case Blow.BROKER_KILL | Blow.BROKER_RESTART:
                fleet.broker.restart(kill=planned.blow is Blow.BROKER_KILL)
            case Blow.DATABASE:
                fleet.postgres.pause()
                try:
                    self._stopping.wait(DATABASE_PAUSE_S)
                finally:
                    fleet.postgres.resume()

    def _up(self, name: str):
        """The machine, once it runs: a blow at one that is down already would be none."""
        machine = self._by_name[name]
        deadline = time.monotonic() + 10
        while not machine.alive and time.monotonic() < deadline:
            with suppress(TimeoutError):
                self._stopping.wait(0.02)
        return machine
