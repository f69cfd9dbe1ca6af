"""The workers of a distributed lake put together: each opens only what its stage asks for."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from upwell.audit.drain import Drain
from upwell.clock import now_us
from upwell.config import Settings
from upwell.embed import tokenizer_of
from upwell.lake.publish import Publisher
from upwell.lake.registry import SqlRegistry
from upwell.lake.vectors import GivenVectors
from upwell.metrics import Metrics
from upwell.parse.limits import DEFAULT_LIMITS
from upwell.ports import Blobs, Embedder, Fetcher, Parser, Store
from upwell.runtime.lazy import Lazy
from upwell.runtime.parts import Identity
from upwell.runtime.stream.contract import Stage
from upwell.runtime.stream.stages.chunk import ChunkStage
from upwell.runtime.stream.stages.control import ControlStage
from upwell.runtime.stream.stages.embed import EmbedStage
from upwell.runtime.stream.stages.parse import ParseStage
from upwell.runtime.stream.stages.prefix import PrefixStage
from upwell.runtime.stream.stages.upsert import UpsertStage
from upwell.runtime.stream.topics import Line, Role
from upwell.wiring import opening, parsing
from upwell.wiring.distributed import identity_of

Equipped = tuple[Stage[Any], Blobs]


def worker(settings: Settings, role: Role, line: Line) -> int:
    """Be one worker until it is told to stop; the exit status."""
    if role is Role.LEDGER:
        from upwell.runtime.stream import ledger_worker

        with draining(settings):
            return ledger_worker.run(settings, lambda: (opening.open_ledger(settings), opening.open_blobs(settings)))
    from upwell.runtime.stream import worker as stage_worker

    return stage_worker.run(settings, role, line, equip(settings, role, line))


@contextmanager
def draining(settings: Settings) -> Iterator[None]:
    """Meanwhile, what publishing owes the audit is written down."""
    registry = Lazy(lambda: opening.open_registry(settings))
    audit = opening.open_audit(settings)
    drain = Drain(lambda: registry().outbox, lambda: audit)
    drain.start()
    try:
        yield
    finally:
        drain.close()
        audit.close()
        if registry.made is not None:
            registry.made.close()


def equip(settings: Settings, role: Role, line: Line) -> Callable[[Metrics], Equipped]:
    """What makes the stage of a worker, in the worker: it opens only what that stage asks for."""

    def made(metrics: Metrics) -> Equipped:
        registry = opening.open_registry(settings)
        identity = identity_of(registry, settings)
        blobs = opening.open_blobs(settings)
        making = _Making(settings, registry, identity, blobs, metrics)
        return making.control() if line is Line.CONTROL else making.stages[role](), blobs

    return made


class _Making:
    """The stages over parts that several of them share."""

    def __init__(
        self, settings: Settings, registry: SqlRegistry, identity: Identity, blobs: Blobs, metrics: Metrics
    ) -> None:
        self._settings = settings
        self._registry = registry
        self._identity = identity
        self._blobs = blobs
        self._metrics = metrics
        self.stages: dict[Role, Callable[[], Stage[Any]]] = {
            Role.PARSE: self.parse,
            Role.CHUNK: self.chunk,
            Role.PREFIX: self.prefix,
            Role.EMBED: self.embed,
            Role.UPSERT: self.upsert,
        }

    def parse(self) -> Stage[Any]:
        return ParseStage(
            fetcher=fetcher(self._settings, self._blobs),
            parser=_parser(self._settings),
            registry=self._registry,
            metrics=self._metrics,
        )

    def chunk(self) -> Stage[Any]:
        return ChunkStage(tokenizer_of(self._identity.embedder, self._settings.models), metrics=self._metrics)

    def prefix(self) -> Stage[Any]:
        tokenizer = tokenizer_of(self._identity.embedder, self._settings.models)
        return PrefixStage(tokenizer, self._identity.model, metrics=self._metrics)

    def embed(self) -> Stage[Any]:
        return EmbedStage(
            registry=self._registry,
            pipeline=self._identity.pipeline,
            embedder=_embedder(self._settings, self._identity),
            metrics=self._metrics,
        )

    def upsert(self) -> Stage[Any]:
        store = opening.open_store(self._settings, self._identity, make=False)
        return UpsertStage(
            self._publisher(store),
            registry=self._registry,
            store=store,
            pipeline=self._identity.pipeline,
            model=self._identity.model,
            blobs=self._blobs,
            clock=now_us,
            metrics=self._metrics,
        )

    def control(self) -> Stage[Any]:
        store = opening.open_store(self._settings, self._identity, make=False)
        return ControlStage(
            self._publisher(store),
            registry=self._registry,
            directory=self._registry.directory,
            blobs=self._blobs,
            clock=now_us,
            metrics=self._metrics,
        )

    def _publisher(self, store: Store) -> Publisher:
        return Publisher(
            self._registry,
            {self._identity.pipeline: store},
            active=self._identity.pipeline,
            model=self._identity.model,
            vectors=lambda event: GivenVectors({}, event.tenant, self._identity.pipeline, self._registry, store),
            clock=now_us,
        )


def fetcher(settings: Settings, blobs: Blobs) -> Fetcher:
    """What brings the content of events."""
    from upwell.sources.fetch import Fetching

    return Fetching(settings.sources, blobs, limit_bytes=DEFAULT_LIMITS.file_bytes)


def _parser(settings: Settings) -> Parser:
    from upwell.parse.confined.sandbox import SandboxParser

    return SandboxParser(limits=parsing.limits_of(settings), policy=parsing.policy_of(settings))


def _embedder(settings: Settings, identity: Identity) -> Embedder:
    return opening.open_embedder(identity.embedder, settings, identity)
