"""Upsert: the publish protocol over what embed sends, and the end of every event that had content."""

from upwell.clock import Clock
from upwell.errors import Reason, Rejected
from upwell.lake import decide
from upwell.lake.family import family_chunks, family_faults
from upwell.lake.publish import Publisher, PublishResult
from upwell.lake.vectors import GivenVectors, MissingVectors, keyed
from upwell.messages import Embedded, Message, Prefixed
from upwell.metrics import Metrics
from upwell.ports import Blobs, Fate, Registry, Store
from upwell.records import Op, Outcome, ParseStatus
from upwell.runtime.stream import topics
from upwell.runtime.stream.contract import Outgoing
from upwell.runtime.stream.stages.ends import Ends
from upwell.runtime.stream.stages.fates import READ, onwards
from upwell.runtime.stream.topics import Role

MOST_RETURNS = 20
"""A message that lacks vectors after so many ways back to embed lacks them for another reason than a moving lake. From
the second way back on every vector is asked for, so that a third is not needed. (A replay counts as one, too.)"""


class UpsertStage:
    """Publishes documents. Vectors are taken from the message, then from the lake; nothing is published without them.

    `publisher` publishes into `store`, the active `pipeline`'s; `model` is the embedder's fingerprint.
    """

    def __init__(
        self,
        publisher: Publisher,
        *,
        registry: Registry,
        store: Store,
        pipeline: str,
        model: str,
        blobs: Blobs,
        clock: Clock,
        metrics: Metrics | None = None,
    ) -> None:
        self._publisher = publisher
        self._registry = registry
        self._store = store
        self._pipeline = pipeline
        self._model = model
        self._blobs = blobs
        self._ends = Ends(clock, metrics)

    def handle(self, message: Embedded) -> list[Outgoing]:
        """See `contract.Stage`. Rejected `attempts_exhausted` for a message whose vectors never come."""
        with self._ends.meter.timed(Role.UPSERT):
            if message.fate is None:
                return self._publish(message)
            return self._end(message, message.fate)

    def reject(self, message: Message, fate: Fate) -> list[Outgoing]:
        return self._fail(message, fate, None)

    def close(self) -> None:
        pass

    def _publish(self, message: Embedded) -> list[Outgoing]:
        event, document = message.event, message.document
        vectors = GivenVectors(message.vectors, event.tenant, self._pipeline, self._registry, self._store)
        try:
            result = self._publisher.publish(event, document, vectors=vectors)
        except MissingVectors:
            return self._back(message, vectors)
        faults = family_faults(event.key, document) if result.outcome is Outcome.APPLIED else ()
        return [*self._ends.of(event, result, faults, attempts=message.attempts), *self._after(message, result)]

    def _back(self, message: Embedded, vectors: GivenVectors) -> list[Outgoing]:
        """Back to embed: for what is lacking now, and when that was not enough before, for everything."""
        if message.attempts >= MOST_RETURNS:
            raise Rejected(Reason.ATTEMPTS_EXHAUSTED, "vectors are missing that embed was asked for again and again")
        chunks = keyed(family_chunks(message.document), self._model)
        wanted = vectors.lacking(chunks) if message.attempts == 0 else {chunk.embed_key for chunk in chunks}
        return onwards(
            topics.PREFIXED,
            Prefixed(
                event=message.event,
                attempts=message.attempts + 1,
                document=message.document,
                wanted=tuple(sorted(wanted)),
            ),
        )

    def _end(self, message: Embedded, fate: Fate) -> list[Outgoing]:
        if fate.outcome is Outcome.DEAD:
            status = message.document.status
            return self._fail(message, fate, None if status in READ else status)
        event = message.event
        result = self._publisher.control(event) or self._publisher.supersede(event)
        return [*self._ends.of(event, result, attempts=message.attempts), *self._after(message, result)]

    def _fail(self, message: Message, fate: Fate, status: ParseStatus | None) -> list[Outgoing]:
        result = self._publisher.fail(message.event, status, fate.reason or Reason.ATTEMPTS_EXHAUSTED)
        ended = self._ends.dead(message.event, fate, result, attempts=message.attempts)
        return [*ended, *self._after(message, result)]

    def _after(self, message: Message, result: PublishResult) -> list[Outgoing]:
        """Messages of a document that was erased meanwhile may have been written after its erasure, and stand behind
        its tombstones: large ones go now, and new tombstones take the others out."""
        if result.outcome is not Outcome.SUPERSEDED:
            return []
        key = message.event.key
        row = self._registry.row(key)
        if row is None or row.rank != decide.RANKS[Op.ERASE]:
            return []
        self._blobs.forget(key, message.event.version)
        return [Outgoing(topic=topic, key=key, message=None) for topic in topics.FORGETTING]
