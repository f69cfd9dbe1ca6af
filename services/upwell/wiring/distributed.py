"""The distributed lake put together: what the gateway and the commands are made of, and how it is made."""

from collections.abc import Callable
from contextlib import closing
from typing import TYPE_CHECKING

from upwell.answers import Check, InitAnswer
from upwell.clock import now_us
from upwell.config import Settings
from upwell.errors import Misconfigured
from upwell.lake import decide
from upwell.lake.registry import SqlRegistry
from upwell.metrics import Metrics
from upwell.ports import Blobs, Embedder, EventSink, Fate, MembershipSink, Store
from upwell.records import ChangeEvent, Outcome
from upwell.runtime.eventlog import EventLog
from upwell.runtime.lazy import Lazy
from upwell.runtime.parts import Identity
from upwell.wiring import opening
from upwell.wiring.serving import desk

if TYPE_CHECKING:
    from upwell.runtime.gateway.process import Gateway
    from upwell.runtime.serve.process import ReadServer
    from upwell.runtime.stream.lake import DistributedLake
    from upwell.runtime.stream.parts import LakeParts


def init(settings: Settings) -> InitAnswer:
    """See `wiring.init`."""
    registry = opening.open_registry(settings)
    try:
        known = opening.known_identity(registry, settings)()
        name = opening.chosen_embedder(settings, known)
        embedder = opening.open_embedder(name, settings, known)
        identity = known or opening.new_identity(registry, name, embedder)
        opening.open_store(settings, identity).close()
    finally:
        registry.close()
    opening.open_ledger(settings).close()
    _prepare_audit(settings)
    return InitAnswer(embedder=identity.embedder, pipeline=identity.pipeline, dim=identity.dim, created=known is None)


def _prepare_audit(settings: Settings) -> None:
    """Have its tables, and the right to write them."""
    with closing(opening.open_audit(settings)) as audit:
        audit.prepare()


def identity_of(registry: SqlRegistry, settings: Settings) -> Identity:
    """What the lake was made with. Raises Misconfigured when nobody has made it yet."""
    identity = opening.known_identity(registry, settings)()
    if identity is None:
        raise Misconfigured("there is no lake in this registry yet: `upwell init` makes it")
    return identity


def lake(settings: Settings) -> "DistributedLake":
    """What commands ask of a distributed lake. Each part is opened when it is needed, but for registry and ledger."""
    from upwell.runtime.stream.lake import DistributedLake

    return DistributedLake(_parts(settings))


def read_server(settings: Settings) -> "ReadServer":
    """See `wiring.read_server`."""
    from prometheus_client import generate_latest

    from upwell.runtime.serve.process import ReadServer
    from upwell.runtime.stream.lake import DistributedLake

    parts = _parts(settings)
    answering = DistributedLake(parts)
    metrics = Lazy(Metrics)
    server = ReadServer(
        desk(settings, lake=answering.reading, audit=parts.audit, metrics=metrics),
        port=settings.port,
        exposition=lambda: generate_latest(metrics().registry),
        ready=answering.answerable,
    )
    parts.pipeline()
    _prepare_audit(settings)
    parts.store.warm()
    parts.embedder.warm()
    server.after.append(answering.close)
    return server


def _parts(settings: Settings) -> "LakeParts":
    from upwell.runtime.stream.applied import AppliedEnds
    from upwell.runtime.stream.lag import LagReader
    from upwell.runtime.stream.parts import LakeParts

    registry = opening.open_registry(settings)
    ledger, blobs = opening.open_ledger(settings), opening.open_blobs(settings)
    known = opening.known_identity(registry, settings)
    sink, memberships, close_sink = _sinks(settings, registry, ledger, blobs)
    lag = LagReader(settings.brokers)
    audit = opening.open_audit(settings)
    readers = opening.open_registry(settings, reading=True)
    return LakeParts(
        name=settings.brokers or "",
        folder=settings.lake,
        embedder_name=opening.chosen_embedder(settings, known()),
        pipeline=lambda: identity_of(registry, settings).pipeline,
        registry=registry,
        ledger=ledger,
        store=Lazy(lambda: opening.open_store(settings, identity_of(registry, settings), make=False)),
        embedder=Lazy(lambda: _embedder(settings, registry)),
        sink=sink,
        memberships=memberships,
        directory=registry.directory,
        blobs=blobs,
        ends=lambda: AppliedEnds(settings.brokers, blobs),
        lag=lag.totals,
        clock=now_us,
        certifying=opening.certifying(settings),
        noted=lag.noted,
        readers=readers,
        audit=audit,
        owed=registry.outbox.length,
        acl_max_age_us=int(settings.acl_max_age_s * 1e6),
        shrink_limit=settings.shrink_limit,
        audit_queries=settings.audit_queries,
        rescan_s=settings.rescan_s,
        closers=(close_sink, lag.close, audit.close, ledger.close, readers.close, registry.close, blobs.close),
    )


def gateway(settings: Settings) -> "Gateway":
    """The gateway in front of the log, not listening yet."""
    from upwell.runtime.gateway.process import Gateway
    from upwell.runtime.meter import exposed
    from upwell.runtime.stream.answering import LogAnswers

    registry = opening.open_registry(settings)
    ledger, blobs = opening.open_ledger(settings), opening.open_blobs(settings)
    identity_of(registry, settings)
    sink, memberships, close_sink = _sinks(settings, registry, ledger, blobs)
    metrics = Lazy(Metrics)
    acl_max_age_us = int(settings.acl_max_age_s * 1e6)
    log_answers = LogAnswers(settings.brokers)

    def ready() -> None:
        ledger.pending_counts()
        log_answers()

    made = Gateway(
        sink,
        memberships,
        settings,
        metrics=metrics,
        exposition=lambda: exposed(
            metrics(), lambda: registry.counts(acl_max_age_us=acl_max_age_us), registry.outbox.length
        ),
        ready=ready,
    )
    made.after.extend((log_answers.close, close_sink, ledger.close, registry.close, blobs.close))
    return made


def _sinks(
    settings: Settings, registry: SqlRegistry, ledger: EventLog, blobs: Blobs
) -> tuple[EventSink, MembershipSink, Callable[[], None]]:
    """Where events and memberships go, and what closes both."""
    from upwell.runtime.stream.memberships import StreamMemberships
    from upwell.runtime.stream.producer import LogProducer
    from upwell.runtime.stream.sink import KafkaSink

    producer = LogProducer(settings.brokers, blobs=blobs, message_bytes=settings.message_bytes)

    def pending() -> int:
        return sum(count for count, _ in ledger.pending_counts().values())

    def ended(event: ChangeEvent) -> Fate | None:
        line = registry.ended(event.key, event.event_id)
        if line is None:
            return None
        return Fate(outcome=line.outcome, reason=line.detail or None if line.outcome is Outcome.DEAD else None)

    sink = KafkaSink(
        producer,
        blobs,
        pending=pending,
        max_pending=settings.max_pending,
        ended=ended,
        binds=lambda event: decide.binds_before_content(registry.row(event.key), event),
    )
    return sink, StreamMemberships(producer, registry.directory), producer.close


def _embedder(settings: Settings, registry: SqlRegistry) -> Embedder:
    identity = identity_of(registry, settings)
    return opening.open_embedder(identity.embedder, settings, identity)


def doctor(settings: Settings) -> list[Check]:
    """Whether each part answers, and is as the settings have it."""
    from upwell.runtime.stream.checkup import asked, probes
    from upwell.wiring.topics import topic_admin

    def found() -> Identity:
        with closing(opening.open_registry(settings)) as registry:
            return identity_of(registry, settings)

    def made() -> str:
        identity = found()
        return f"a lake made with {identity.embedder}, pipeline {identity.pipeline}"

    def store() -> Store:
        return opening.open_store(settings, found(), make=False)

    with closing(topic_admin(settings)) as admin:
        questions = probes(
            settings.brokers or "", admin, registry=made, store=store, blobs=lambda: opening.open_blobs(settings)
        )
        return list(asked(questions))
