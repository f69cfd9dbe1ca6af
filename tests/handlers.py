"""The six handlers of the distributed lake over given parts, and a log in memory driven through them in order."""

from memory_log import MemoryLog
from upwell.errors import Rejected
from upwell.lake.publish import Publisher
from upwell.lake.vectors import GivenVectors
from upwell.messages import Change, without_words
from upwell.ports import Fate
from upwell.records import Op, Outcome
from upwell.runtime.stream import topics
from upwell.runtime.stream.contract import Outgoing
from upwell.runtime.stream.stages.chunk import ChunkStage
from upwell.runtime.stream.stages.control import ControlStage
from upwell.runtime.stream.stages.embed import EmbedStage
from upwell.runtime.stream.stages.parse import ParseStage
from upwell.runtime.stream.stages.prefix import PrefixStage
from upwell.runtime.stream.stages.upsert import UpsertStage


def publisher_of(registry, store, pipeline, *, model, clock, batch_chunks=16):
    """The publisher of a worker that has no model."""
    return Publisher(
        registry,
        {pipeline: store},
        active=pipeline,
        model=model,
        vectors=lambda event: GivenVectors({}, event.tenant, pipeline, registry, store),
        clock=clock,
        batch_chunks=batch_chunks,
    )


class Handlers:
    """topic -> the stage that takes it, as one process would have it."""

    def __init__(
        self,
        *,
        registry,
        store,
        pipeline,
        embedder,
        tokenizer,
        policy,
        fetcher,
        parser,
        blobs,
        clock,
        batch_chunks=16,
        metrics=None,
    ):
        model = embedder.fingerprint
        publisher = publisher_of(registry, store, pipeline, model=model, clock=clock, batch_chunks=batch_chunks)
        self.parse = ParseStage(fetcher=fetcher, parser=parser, registry=registry, metrics=metrics)
        self.chunk = ChunkStage(tokenizer, policy=policy, metrics=metrics)
        self.prefix = PrefixStage(tokenizer, model, policy=policy, metrics=metrics)
        self.embed = EmbedStage(registry=registry, pipeline=pipeline, embedder=embedder, metrics=metrics)
        self.upsert = UpsertStage(
            publisher,
            registry=registry,
            store=store,
            pipeline=pipeline,
            model=model,
            blobs=blobs,
            clock=clock,
            metrics=metrics,
        )
        self.control = ControlStage(
            publisher,
            registry=registry,
            directory=registry.directory,
            blobs=blobs,
            clock=clock,
            metrics=metrics,
        )
        by_step = {
            topics.CHANGES: self.parse,
            topics.PARSED: self.chunk,
            topics.CHUNKED: self.prefix,
            topics.PREFIXED: self.embed,
            topics.EMBEDDED: self.upsert,
        }
        self.by_topic = {
            **{
                topic: stage for step, stage in by_step.items() for topic in topics.LANED if topic.split(".")[1] == step
            },
            topics.CONTROL: self.control,
            topics.PRINCIPALS: self.control,
        }

    def handle(self, topic, message):
        """What the stage of a topic makes of a message; what it refuses is rejected, as the guard does."""
        try:
            return self.by_topic[topic].handle(message)
        except Rejected as e:
            return self.reject(topic, message, e)

    def reject(self, topic, message, error):
        """What the stage of a topic sends for a message that was refused, or that is in a blob no more."""
        fate = Fate(outcome=Outcome.DEAD, reason=error.reason, detail=error.detail, stage=topic.split(".")[1])
        return self.by_topic[topic].reject(message, fate)


def accepted(event):
    """What a gateway sends for an event."""
    control = Outgoing(topic=topics.CONTROL, key=event.key, message=Change(event=without_words(event)))
    if event.op is not Op.UPSERT:
        return [control]
    content = topics.laned(topics.CHANGES, event.lane)
    return [control, Outgoing(topic=content, key=event.key, message=Change(event=event))]


def run_in_order(log: MemoryLog, handlers, events):
    """Each event to its end before the next is accepted."""
    for event in events:
        for outgoing in accepted(event):
            log.send(outgoing)
            drain(log, handlers)


def drain(log, handlers):
    """Take what waits until nothing does."""
    while waiting := log.waiting(handlers.by_topic):
        taken = log.take(waiting[0])
        if taken.value is not None:
            for outgoing in handlers.handle(taken.topic, log.wire.decode(taken)):
                log.send(outgoing)
        log.commit(taken)
