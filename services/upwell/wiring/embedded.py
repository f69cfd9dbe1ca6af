"""The embedded lake put together: one process, its owner, with everything in the lake's folder unless a URL says so."""

import threading
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from upwell.answers import FollowingLake, IngestAnswer, Progress
from upwell.audit.drain import Drain
from upwell.clock import now_us
from upwell.config import Settings
from upwell.errors import Misconfigured, Retryable
from upwell.lake.publish import Publisher
from upwell.lake.registry import SqlRegistry
from upwell.lake.vectors import lake_vectors
from upwell.metrics import Metrics
from upwell.parse.limits import DEFAULT_LIMITS
from upwell.ports import Embedder, Preparer, Store
from upwell.reading import ReadableLake, ReadApi
from upwell.records import ChangeEvent
from upwell.runtime import looks
from upwell.runtime.accepting import EngineSink
from upwell.runtime.engine import Engine
from upwell.runtime.eventlog import EventLog
from upwell.runtime.following import Following
from upwell.runtime.heaps import bound_heaps
from upwell.runtime.ingesting import first_answer
from upwell.runtime.intact import check_intact
from upwell.runtime.lazy import Lazy
from upwell.runtime.local import LocalLake
from upwell.runtime.memberships import DirectMemberships
from upwell.runtime.owner.handover import HandedOverLake
from upwell.runtime.owner.lock import Ownership, acquire_within, silent
from upwell.runtime.parts import Identity, Parts
from upwell.runtime.scanning import Looked
from upwell.runtime.serving import Answering
from upwell.runtime.stages import EmbeddedStages
from upwell.runtime.tally import Tally
from upwell.sources.fetch import Fetching
from upwell.sources.folder import state as folder_state
from upwell.wiring import opening, parsing
from upwell.wiring.serving import desk

if TYPE_CHECKING:
    from upwell.runtime.gateway.process import Gateway
    from upwell.runtime.serve.desk import Desk
    from upwell.runtime.serve.process import ReadServer


def connect(settings: Settings, *, role: str = "command", create: bool = True) -> ReadableLake:
    """The lake: through its running owner, or opened here as its owner.

    Raises Misconfigured when it cannot be a lake, is another embedder's, or (without `create`) does not exist.
    """
    if not create and not settings.lake.is_dir():
        raise Misconfigured(f"no lake at {settings.lake}: make one with `upwell ingest DIR`, or name it with --lake")
    return HandedOverLake(lambda: _owned_or_asked(settings, role))


def _owned_or_asked(settings: Settings, role: str) -> ReadableLake:
    held = acquire_within(settings.lake, role, settings.owner_wait_s)
    if isinstance(held, Ownership):
        return _open(settings, held)
    from upwell.runtime.owner.remote import RemoteLake

    lake = RemoteLake(held.socket)
    if lake.greet(settings.owner_wait_s):
        return lake
    raise silent(settings.lake, held)


def own(settings: Settings) -> FollowingLake:
    """The lake as its owner, for `run`. Raises Misconfigured saying who holds it, when another does."""
    held = acquire_within(settings.lake, "run", settings.owner_wait_s, give_way_to_run=False)
    if isinstance(held, Ownership):
        return _open(settings, held)
    raise Misconfigured(
        f"{settings.lake}: process {held.pid} runs this lake already (upwell {held.role}); stop it first"
    )


def read_server(settings: Settings) -> "ReadServer":
    """See `wiring.read_server`: this process owns the lake meanwhile."""
    if not settings.lake.is_dir():
        raise Misconfigured(f"no lake at {settings.lake}: make one with `upwell ingest DIR`, or name it with --lake")
    held = acquire_within(settings.lake, "serve", settings.owner_wait_s, give_way_to_run=False)
    if not isinstance(held, Ownership):
        raise Misconfigured(
            f"{settings.lake}: process {held.pid} has this lake (upwell {held.role}); stop it, or let it answer "
            "readers too: `upwell run DIR --listen HOST:PORT`"
        )
    return _open(settings, held).read_server()


def _open(settings: Settings, held: Ownership) -> "OwnedLake":
    bound_heaps()
    try:
        return OwnedLake(settings, held)
    except BaseException:
        held.close()
        raise


class OwnedLake(LocalLake):
    """The lake of this process: answers other processes on its socket, and can follow a folder."""

    def __init__(self, settings: Settings, held: Ownership) -> None:
        self._settings = settings
        parts = _parts(settings, held, self.look_again)
        super().__init__(parts)
        self._answering = Answering(held.listener, self._application)
        self._gateways: list[Gateway] = []
        parts.closers.append(held.close)

    def listen(self, host: str, port: int) -> str:
        """See `answers.FollowingLake.listen`."""
        from upwell.runtime.gateway.process import Gateway

        parts = self._parts
        sink = EngineSink(parts.engine, parts.log, self._settings.max_pending)
        gateway = Gateway(
            sink,
            DirectMemberships(parts.registry.directory),
            self._settings,
            metrics=parts.metrics,
            exposition=self.exposition,
            ready=self.status,
            desk=self._desk(),
        )
        self._gateways.append(gateway)
        return gateway.listen(host, port)

    def read_server(self) -> "ReadServer":
        """What answers readers alone, not listening yet; closing it closes the lake."""
        from upwell.runtime.serve.process import ReadServer

        server = ReadServer(self._desk(), port=self._settings.port, exposition=self.exposition, ready=self.status)
        server.after.append(self.close)
        return server

    def _desk(self) -> "Desk":
        parts = self._parts
        return desk(self._settings, lake=self._answering_readers, audit=parts.audit, metrics=parts.metrics)

    def close(self) -> None:
        for gateway in self._gateways:
            gateway.close()
        self._answering.close()
        super().close()

    def follow(
        self,
        folder: Path,
        *,
        owner: str,
        stop: threading.Event,
        source: str | None = None,
        tenant: str = "default",
        progress: Callable[[Progress], None] | None = None,
        on_ready: Callable[[IngestAnswer], None] | None = None,
        on_change: Callable[[str], None] | None = None,
    ) -> None:
        """See `answers.FollowingLake.follow`."""
        scanning = self.scanning(folder, owner=owner, source=source, tenant=tenant)
        if self._gateways:
            _keep_apart(self._settings, tenant, scanning.source.source)
        self._parts.embedder.warm()

        def ready(looked: Looked, tally: Tally, seconds: float) -> None:
            if on_ready is not None:
                on_ready(first_answer(looked, tally, seconds))

        following = Following(self._parts, scanning, self._settings.rescan_s)
        following.run(stop, progress, ready, on_change or (lambda _line: None))

    def _answering_readers(self) -> ReadApi:
        """What the network may ask. Raises Retryable, which names no folder, while there is nothing to ask."""
        if self._parts.known() is None:
            raise Retryable("the lake holds no documents yet; try again later")
        return self.reading()

    def _application(self) -> Any:
        from upwell.runtime.owner.routes import build

        return build(self, self.exposition)


def _parts(settings: Settings, held: Ownership, look_again: Callable[[ChangeEvent], None]) -> Parts:
    folder = settings.lake
    log = EventLog.at(folder / "events.sqlite", tables=(looks.METADATA, folder_state.METADATA))
    registry = opening.open_registry(settings)
    known = opening.known_identity(registry, settings)
    current = known()
    if settings.store is None:
        check_intact(folder, log, registry, opening.store_folder(settings, current) if current else None)
    name = opening.chosen_embedder(settings, current)
    metrics = Lazy(Metrics)
    embedder: Lazy[Embedder] = Lazy(lambda: opening.open_embedder(name, settings, known()))
    identity = Lazy(lambda: known() or opening.new_identity(registry, name, embedder()))
    store: Lazy[Store] = Lazy(lambda: opening.open_store(settings, identity()))
    preparer: Lazy[Preparer] = Lazy(lambda: _preparer(settings, identity()))
    publisher = Lazy(lambda: _publisher(registry, store(), identity(), embedder))
    stages = EmbeddedStages(
        registry=registry,
        publisher=publisher,
        fetcher=Fetching(settings.sources, None, limit_bytes=DEFAULT_LIMITS.file_bytes, folders=True),
        preparer=preparer,
        metrics=metrics,
        again=look_again,
        forget=log.erase,
    )
    audit = opening.open_audit(settings)
    drain = Drain(lambda: registry.outbox, lambda: audit)
    drain.start()
    engine = Engine(log, stages, workers=settings.workers, pause_limit_s=settings.retry_limit_s)
    return Parts(
        folder=folder,
        owner=f"process {held.info.pid} ({held.info.role})",
        embedder_name=name,
        clock=now_us,
        log=log,
        registry=registry,
        metrics=metrics,
        known=known,
        identity=identity,
        store=store,
        embedder=embedder,
        preparer=preparer,
        publisher=publisher,
        engine=engine,
        certifying=opening.certifying(settings),
        audit=audit,
        audit_rest=drain.close,
        acl_max_age_us=int(settings.acl_max_age_s * 1e6),
        shrink_limit=settings.shrink_limit,
        audit_queries=settings.audit_queries,
    )


def _keep_apart(settings: Settings, tenant: str, folder: str) -> None:
    """A followed folder and the network would undo one another's changes of one source."""
    taken = {(key.tenant, key.source) for key in settings.keys}
    taken |= {(source.tenant, name) for name, source in settings.sources.items() if source.hook}
    if (tenant, folder) in taken:
        raise Misconfigured(
            f"the source {folder!r} is the folder's, and a key or hook in the settings brings events of the same name: "
            "name another --source"
        )


def _preparer(settings: Settings, identity: Identity) -> Preparer:
    from upwell.parse.confined.sandbox import SandboxPreparer

    return SandboxPreparer(
        identity.embedder,
        identity.model,
        workers=settings.parsers,
        limits=parsing.limits_of(settings),
        policy=parsing.policy_of(settings),
    )


def _publisher(registry: SqlRegistry, store: Store, identity: Identity, embedder: Lazy[Embedder]) -> Publisher:
    return Publisher(
        registry,
        {identity.pipeline: store},
        active=identity.pipeline,
        model=identity.model,
        vectors=lake_vectors(registry, store, identity.pipeline, embedder),
        clock=now_us,
    )
