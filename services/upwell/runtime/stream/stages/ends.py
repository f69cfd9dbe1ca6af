"""How upsert and control tell the end of an event: on `applied` to everybody, on `dead` whole, to be replayed."""

from upwell.clock import Clock
from upwell.lake.publish import PublishResult
from upwell.messages import Dead, Ended, without_words
from upwell.metrics import Metrics
from upwell.ports import ChildFault, Fate
from upwell.records import ChangeEvent, Outcome
from upwell.runtime.stream import topics
from upwell.runtime.stream.contract import Outgoing
from upwell.runtime.stream.meter import StageMeter


class Ends:
    """Says and counts how events end."""

    def __init__(self, clock: Clock, metrics: Metrics | None) -> None:
        self._clock = clock
        self.meter = StageMeter(metrics)

    def of(
        self, event: ChangeEvent, result: PublishResult, faults: tuple[ChildFault, ...] = (), *, attempts: int = 0
    ) -> list[Outgoing]:
        """The end that the publisher gave the event; `faults` are parts of its document that will not parse."""
        reason = result.detail if result.outcome is Outcome.DEAD else None  # it ended so when it first came
        fate = Fate(outcome=result.outcome, reason=reason, detail=result.detail)
        return [self._ended(event, fate, result, faults, attempts=attempts)]

    def dead(self, event: ChangeEvent, fate: Fate, result: PublishResult, *, attempts: int = 0) -> list[Outgoing]:
        """The end of an event that was given up with `fate`, unless the publisher found that it had ended otherwise."""
        if result.outcome is not Outcome.DEAD:
            return self.of(event, result, attempts=attempts)
        letter = Dead(fate=fate, at=self._clock(), event=event)
        return [
            self._ended(event, fate, result, (), attempts=attempts),
            Outgoing(topic=topics.DEAD, key=event.key, message=letter),
        ]

    def _ended(
        self, event: ChangeEvent, fate: Fate, result: PublishResult, faults: tuple[ChildFault, ...], *, attempts: int
    ) -> Outgoing:
        now = self._clock()
        self.meter.ended(event, result, now)
        ended = Ended(
            event=without_words(event),
            attempts=attempts,
            fate=fate,
            at=now,
            faults=faults,
            kept=result.kept,
            reused=result.reused,
            embedded=result.embedded,
            removed=result.removed,
            tokens_embedded=result.tokens_embedded,
        )
        return Outgoing(topic=topics.APPLIED, key=event.key, message=ended)
