"""The parts of a lake by their URLs, each opened in one place: registry, identity, store, embedder, blobs.

Without a URL a part lies in the lake's folder.
"""

from collections.abc import Callable
from pathlib import Path

import msgspec

from upwell.audit.chain import Verifier
from upwell.audit.log import SqlAudit
from upwell.audit.read import AuditTables
from upwell.chunk.policy import DEFAULT_POLICY
from upwell.config import Settings
from upwell.database import open_database
from upwell.embed import MINILM, embedder_of
from upwell.erase.remaining import Surroundings, Topics
from upwell.errors import Misconfigured
from upwell.lake.registry import ACTIVE_PIPELINE, SqlRegistry
from upwell.ports import Blobs, Embedder, Signer, Store
from upwell.prefix.structural import PREFIXER
from upwell.records import stable_hash
from upwell.runtime.erasing_parts import Certifying
from upwell.runtime.eventlog import EventLog
from upwell.runtime.owner.lock import make_folder
from upwell.runtime.parts import Identity

IDENTITY = "identity"
AUDIT_FILE = "audit.sqlite"
COLLECTION = "upwell"
"""Collections of a Qdrant server are called `upwell_` and the pipeline's fingerprint."""


def open_registry(settings: Settings, *, reading: bool = False) -> SqlRegistry:
    """The registry that the settings name, with its tables brought up to date; `reading`: for who answers askers."""
    return SqlRegistry.at(_database(settings, "registry.sqlite"), reading=reading)


def open_ledger(settings: Settings) -> EventLog:
    """The ledger of a distributed lake, in the registry's database."""
    return EventLog.at(_database(settings, "ledger.sqlite"))


def open_audit(settings: Settings) -> SqlAudit:
    """A chain of the audit for this process, in the registry's database or in the lake's folder; sealed with the lake's
    key. An embedded lake's owner makes the key, the processes of a distributed lake take it where they find it.
    """
    signer = audit_signer(settings)
    return SqlAudit(lambda: open_database(_database(settings, AUDIT_FILE), "upwell audit"), signer=signer)


def audit_tables(settings: Settings) -> AuditTables | None:
    """The audit to be read, beside whoever writes it; None where nothing has been audited yet."""
    if settings.registry is None and not (settings.lake / AUDIT_FILE).exists():
        return None
    return AuditTables(open_database(_database(settings, AUDIT_FILE), "upwell audit"))


def audit_signer(settings: Settings) -> Callable[[], Signer | None]:
    """What finds the key that seals, once it is wanted."""

    def found() -> Signer | None:
        from upwell.identity.own_key import LakeKey, signing_key_of

        path = signing_key_of(settings)
        return LakeKey.at(path).signing_key() if settings.brokers is None or path.exists() else None

    return found


def audit_verifier(settings: Settings) -> Verifier | None:
    """What checks seals with the lake's keys, or None where there are none."""
    from upwell.identity.own_key import LakeKey, signing_key_of

    path = signing_key_of(settings)
    if not path.exists():
        return None
    key = LakeKey(path)

    def verified(kid: str, data: bytes, signature: bytes) -> bool | None:
        return key.verify(kid, data, signature) if key.public_jwk(kid) else None

    return verified


def open_store(settings: Settings, identity: Identity, *, make: bool = True) -> Store:
    """The collection of the identity's pipeline: on a Qdrant server, or in the lake's folder.

    Without `make` a server's collection that is gone is Misconfigured, not made again without its points; so are
    workers without a server, for a folder's store serves one process.
    """
    if settings.store is None and settings.brokers is not None:
        raise Misconfigured("store is not set: the workers of a distributed lake share a Qdrant server (its URL)")
    if settings.store is None:
        from upwell.lake.store.edge import EdgeStore

        folder = store_folder(settings, identity)
        assert folder is not None
        return EdgeStore(folder, dim=identity.dim)
    if not settings.store.startswith(("http://", "https://")):  # a name alone would be a folder to qdrant-client
        raise Misconfigured("setting store: not the URL of a Qdrant server, such as http://qdrant:6333")
    from upwell.lake.store.qdrant import QdrantStore

    key = settings.store_api_key
    return QdrantStore(
        settings.store,
        collection=f"{COLLECTION}_{identity.pipeline}",
        dim=identity.dim,
        api_key=key.get_secret_value() if key else None,
        make=make,
    )


def open_blobs(settings: Settings) -> Blobs:
    """Where content goes that is too large for a message."""
    from upwell.lake.blobs import FsspecBlobs

    return FsspecBlobs(settings.blobs or str((settings.lake / "blobs").absolute()), settings.blob_options)


def store_folder(settings: Settings, identity: Identity) -> Path | None:
    """Where the store lies in the lake's folder; None for a server's."""
    return None if settings.store else settings.lake / "store" / identity.pipeline


def known_identity(registry: SqlRegistry, settings: Settings) -> Callable[[], Identity | None]:
    """The lake's identity, read once it is there. Raises Misconfigured when the settings want another embedder."""
    found: list[Identity] = []

    def known() -> Identity | None:
        if not found and (text := registry.meta(IDENTITY)) is not None:
            identity = msgspec.json.decode(text, type=Identity)
            if settings.embedder not in (None, identity.embedder):
                raise Misconfigured(
                    f"{_named(settings)} is made with the embedder {identity.embedder!r}: leave --embedder "
                    f"{settings.embedder} out, or make another lake with --lake"
                )
            found.append(identity)
        return found[0] if found else None

    return known


def new_identity(registry: SqlRegistry, name: str, embedder: Embedder) -> Identity:
    """Remember what this lake is made with."""
    pipeline = stable_hash(embedder.fingerprint, DEFAULT_POLICY.fingerprint, PREFIXER)[:16]
    identity = Identity(embedder=name, model=embedder.fingerprint, dim=embedder.dim, pipeline=pipeline)
    registry.set_meta(ACTIVE_PIPELINE, pipeline)
    registry.set_meta(IDENTITY, msgspec.json.encode(identity).decode())
    return identity


def open_embedder(name: str, settings: Settings, known: Identity | None) -> Embedder:
    """The embedder `name`. Raises Misconfigured when its weights are not those that the lake was made with."""
    embedder = embedder_of(name, settings.threads, settings.models)
    if known is not None and embedder.fingerprint != known.model:
        raise Misconfigured(
            f"the weights of {name!r} are not those that this lake was made with: bring those back (--models), or make "
            "another lake with --lake"
        )
    return embedder


def chosen_embedder(settings: Settings, known: Identity | None) -> str:
    """The name of the lake's embedder, or of the one that a new lake gets."""
    return settings.embedder or (known.embedder if known else MINILM)


def _database(settings: Settings, file: str) -> Path | str:
    """The database's URL, or a file in the lake's folder: processes of one machine may share that, too."""
    if settings.registry is not None:
        url = settings.registry.get_secret_value()
        if "://" not in url:  # not repeated: it may hold a password
            raise Misconfigured("setting registry: not a URL, such as postgresql://user:password@host/name")
        return url
    make_folder(settings.lake)
    return settings.lake / file


def _named(settings: Settings) -> str:
    return str(settings.lake) if settings.registry is None else "the lake"


def certifying(settings: Settings) -> Certifying:
    """Who signs certificates of erasure, and how this lake is built. The key is made when it is first needed."""
    from upwell.identity.own_key import LakeKey, signing_key_of

    return Certifying(
        signer=lambda: LakeKey.at(signing_key_of(settings)).signing_key(),
        where=Surroundings(
            lake=str(settings.lake.absolute()) if settings.brokers is None else settings.brokers,
            registry_server=settings.registry is not None,
            store_server=settings.store is not None,
            blobs=_blobs_protocol(settings),
            topics=None if settings.brokers is None else log_topics(settings),
            query_words=settings.audit_queries == "text",
        ),
    )


def _blobs_protocol(settings: Settings) -> str | None:
    """None in the embedded lake, which has no blob store."""
    if settings.brokers is None:
        return None
    protocol, scheme, _ = (settings.blobs or "").partition("://")
    return protocol if scheme else "file"


def log_topics(settings: Settings) -> Topics:
    """The topics that carry what is known of documents, and for how long."""
    from upwell.runtime.stream import topics

    dead = {topics.DEAD: settings.dead_retention_days}
    return Topics(
        forgetting=tuple((topic, dead.get(topic, settings.retention_days)) for topic in topics.FORGETTING),
        passing=tuple((topic, settings.retention_days) for topic in (topics.CONTROL, topics.APPLIED)),
        members=topics.PRINCIPALS,
        compaction_lag_days=settings.compaction_lag_days,
    )
