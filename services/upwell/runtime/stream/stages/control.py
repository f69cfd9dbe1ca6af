"""Control: what must not wait behind a parse: permissions, deletes, erasures; of an upsert, permission and move. Who is
in which group must not either.
"""

from upwell.clock import Clock
from upwell.errors import Reason
from upwell.lake import decide
from upwell.lake.publish import Publisher, PublishResult
from upwell.messages import Change, Dead, Member, Message
from upwell.metrics import Metrics
from upwell.ports import Blobs, Directory, Fate, Registry
from upwell.records import ENCODER, ChangeEvent, Op
from upwell.runtime.stream import topics
from upwell.runtime.stream.contract import Outgoing
from upwell.runtime.stream.stages.ends import Ends
from upwell.runtime.stream.topics import Role


class ControlStage:
    """Applies the control half of every event, and every membership. An upsert's ends nothing here: its content half
    always follows.
    """

    def __init__(
        self,
        publisher: Publisher,
        *,
        registry: Registry,
        directory: Directory,
        blobs: Blobs,
        clock: Clock,
        metrics: Metrics | None = None,
    ) -> None:
        self._publisher = publisher
        self._registry = registry
        self._directory = directory
        self._blobs = blobs
        self._clock = clock
        self._ends = Ends(clock, metrics)

    def handle(self, message: Change | Member) -> list[Outgoing]:
        """See `contract.Stage`. A membership leads to nothing: it is in force when this returns."""
        with self._ends.meter.timed(Role.UPSERT):
            if isinstance(message, Member):
                self._directory.put(message.membership)
                return []
            return self._handle(message.event)

    def reject(self, message: Message | Member, fate: Fate) -> list[Outgoing]:
        if isinstance(message, Member):
            letter = Dead(fate=fate, at=self._clock(), raw=ENCODER.encode(message))
            return [Outgoing(topic=topics.DEAD, key=message.membership.key, message=letter)]
        event = message.event
        if event.op is Op.UPSERT:
            return []
        result = self._publisher.fail(event, None, fate.reason or Reason.ATTEMPTS_EXHAUSTED)
        return self._ends.dead(event, fate, result)

    def close(self) -> None:
        pass

    def _handle(self, event: ChangeEvent) -> list[Outgoing]:
        match event.op:
            case Op.UPSERT:
                self._publisher.announce(event)
                return []
            case Op.ERASE:
                return self._erase(event)
            case _:
                return self._ends.of(event, self._applied(event))

    def _erase(self, event: ChangeEvent) -> list[Outgoing]:
        """Remove the blobs first, so that a crash in between leaves an erasure that is not yet done. Newer content
        keeps its own, and where it stands already its messages too."""
        self._blobs.forget(event.key, event.version)
        row = self._registry.row(event.key)
        if row is not None and decide.order_of(row) > (event.version, decide.RANKS[Op.ERASE], "", ""):
            return self._ends.of(event, self._applied(event))
        ended = self._ends.of(event, self._applied(event))
        return [*ended, *(Outgoing(topic=topic, key=event.key, message=None) for topic in topics.FORGETTING)]

    def _applied(self, event: ChangeEvent) -> PublishResult:
        result = self._publisher.control(event)
        assert result is not None, "only an upsert goes on"
        return result
