"""What a worker is at: facts for its health endpoints, and its metrics."""

import time
from collections.abc import Callable, Mapping

from upwell import metrics as m
from upwell.metrics import Metrics
from upwell.runtime.stream.envelope import Taken

DONE, DEAD, SKIPPED, LET_GO = "done", "dead", "skipped", "let_go"


class Progress:
    """Written by the guard alone, on the event loop; read there too. Times are seconds of `clock`, which only grows."""

    def __init__(self, metrics: Metrics, stage: str, line: str, clock: Callable[[], float] = time.monotonic) -> None:
        self._metrics = metrics
        self._labels = {"stage": stage, "line": line}
        self._clock = clock
        self.in_hand: Taken | None = None
        self.in_hand_since: float | None = None
        self.running_since: float | None = None
        self.failing_since: float | None = None
        self.last_progress = clock()
        self.done: dict[tuple[str, int], int] = {}
        """(topic, partition) -> the offset after the last one that is done."""
        metrics.set(m.WORKER_IN_HAND, 0, **self._labels)
        metrics.set(m.WORKER_BREAKER, 0, **self._labels)

    def took(self, taken: Taken) -> None:
        self.in_hand, self.in_hand_since = taken, self._clock()
        self._metrics.set(m.WORKER_IN_HAND, 1, **self._labels)

    def gave_way(self, seconds: float) -> None:
        """The next message waited so long for live work."""
        self._metrics.count(m.WORKER_GAVE_WAY, seconds, **self._labels)

    def runs(self) -> None:
        """A job has been given to the stage's thread."""
        self.running_since = self._clock()

    def ran(self) -> None:
        self.running_since = None

    def failed(self) -> None:
        """An attempt failed and will be made again."""
        self.failing_since = self.failing_since or self._clock()
        self._metrics.count(m.WORKER_RETRIES, 1, **self._labels)

    def ended(self, outcome: str) -> None:
        """What was in hand is done, dead, skipped, or let go."""
        assert self.in_hand is not None
        assert self.in_hand_since is not None
        now = self._clock()
        self._metrics.count(m.WORKER_MESSAGES, 1, outcome=outcome, **self._labels)
        self._metrics.observe(m.WORKER_SECONDS, now - self.in_hand_since, **self._labels)
        self._metrics.set(m.WORKER_IN_HAND, 0, **self._labels)
        if outcome != LET_GO:
            self.done[self.in_hand.topic, self.in_hand.partition] = self.in_hand.offset + 1
        self.in_hand = self.in_hand_since = self.failing_since = None
        self.last_progress = now

    def passed(self, outcomes: Mapping[str, int], seconds: float) -> None:
        """A batch is done: how many of its messages ended how."""
        for outcome, messages in outcomes.items():
            self._metrics.count(m.WORKER_MESSAGES, messages, outcome=outcome, **self._labels)
        self._metrics.observe(m.WORKER_SECONDS, seconds, **self._labels)
        self.failing_since = None
        self.last_progress = self._clock()

    def tripped(self) -> None:
        self._metrics.set(m.WORKER_BREAKER, 1, **self._labels)

    def assigned(self, partitions: int) -> None:
        self._metrics.set(m.WORKER_PARTITIONS, partitions, **self._labels)

    def lag(self, messages: int) -> None:
        self._metrics.set(m.WORKER_LAG, messages, **self._labels)

    def age(self, since: float | None) -> float:
        """Seconds since then; 0 for None."""
        return 0.0 if since is None else self._clock() - since
