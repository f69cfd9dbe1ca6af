"""A small lake that readers ask, on real parts: a registry in SQLite, a Qdrant collection in memory, the hash embedder."""

import itertools

from hashed import hash_embedder
from upwell.access import Asker
from upwell.answers import SourceStatus
from upwell.errors import Retryable
from upwell.lake.publish import Publisher
from upwell.lake.registry import SqlRegistry
from upwell.lake.store.qdrant import QdrantStore
from upwell.lake.vectors import lake_vectors
from upwell.parse.prepare import prepare_document
from upwell.reading import Reader
from upwell.records import Acl, ChangeEvent, DocKey, Inline, Op
from upwell.runtime.reading import GovernedReading
from upwell.sqlite import open_sqlite

PIPELINE = "pipeline"
PUBLIC = Acl(levels=(frozenset({"everyone"}),))
SECRET = Acl(levels=(frozenset({"group:board"}),))
START = 1_767_225_600_000_000
"""2026-01-01T00:00:00Z"""
HOUR = 3_600_000_000


def unsynced(path, clock):
    """A registry without fsync: power is not what these tests cut."""
    return SqlRegistry(open_sqlite(path, synchronous="OFF"), clock)


class Notes:
    """An audit that can be read, and that can fail."""

    def __init__(self):
        self.entries = []
        self.away = False

    def write(self, entry):
        if self.away:
            raise Retryable("the audit is away")
        self.entries.append(entry)

    def close(self):
        pass


class Library:
    """The lake, what is published in it, and `reading`. Its clock goes on by a millisecond at each look."""

    def __init__(self, folder, where=None, **how):
        self.now = START
        self.registry = SqlRegistry.at(where, self.clock) if where else unsynced(folder / "registry.sqlite", self.clock)
        self.embedder = hash_embedder()
        self.store = QdrantStore(":memory:", collection="lake", dim=self.embedder.dim)
        self.audit = Notes()
        self.publisher = Publisher(
            self.registry,
            {PIPELINE: self.store},
            active=PIPELINE,
            model=self.embedder.fingerprint,
            vectors=lake_vectors(self.registry, self.store, PIPELINE, lambda: self.embedder),
            clock=self.clock,
        )
        self.statuses = []
        self._numbers = itertools.count(1)
        self.reading = self.reading_over(self.store, **how)

    def reading_over(self, store, **how):
        return GovernedReading(
            registry=how.pop("registry", self.registry),
            store=lambda: store,
            embedder=lambda: self.embedder,
            pipeline=lambda: PIPELINE,
            freshness=lambda places: [s for s in self.statuses if (s.tenant, s.source) in places],
            audit=self.audit,
            clock=self.clock,
            acl_max_age_us=24 * HOUR,
            **how,
        )

    def clock(self):
        self.now += 1_000
        return self.now

    def at(self, number):
        """The next change has this number, and the time that goes with it, whatever came before it."""
        self._numbers = itertools.count(number)
        self.now = START + number * 1_000_000

    def publish(self, doc_id, text, *, acl=PUBLIC, source="wiki", tenant="default", name=None, **fields):
        """The next version of a document, prepared as the stages do it."""
        data = text if isinstance(text, bytes) else text.encode()
        event = self._event(Op.UPSERT, doc_id, source, tenant, acl=acl, content=Inline(data=data), **fields)
        prepared = prepare_document(
            data,
            name or doc_id,
            None,
            tokenizer=self.embedder.tokenizer,
            model_fingerprint=self.embedder.fingerprint,
        )
        assert self.publisher.publish(event, prepared).outcome == "applied"
        return event

    def permit(self, doc_id, acl, *, source="wiki", tenant="default"):
        row = self.registry.row(DocKey(tenant=tenant, source=source, doc_id=doc_id))
        event = self._event(Op.ACL, doc_id, source, tenant, acl=acl, content_version=row.version)
        self.publisher.control(event)

    def delete(self, doc_id, *, op=Op.DELETE, source="wiki", tenant="default"):
        self.publisher.control(self._event(op, doc_id, source, tenant))

    def status(self, source, tenant="default", watermark="2026-01-01T00:00:00Z"):
        self.statuses.append(
            SourceStatus(
                tenant=tenant,
                source=source,
                documents=9,
                chunks=9,
                watermark=watermark,
                staleness_s=1.5,
                pending=0,
                dead=0,
            )
        )

    def close(self):
        self.store.close()
        self.registry.close()

    def _event(self, op, doc_id, source, tenant, content_version=None, **fields):
        number = next(self._numbers)
        return ChangeEvent(
            event_id=f"e{number}",
            tenant=tenant,
            source=source,
            doc_id=doc_id,
            op=op,
            version=number if content_version is None else content_version,
            acl_version=number,
            received_at=self.clock(),
            **fields,
        )


def who(*principals, tenant="default", claimed=()):
    """A reader of these principals."""
    asker = Asker(tenant=tenant, principals=frozenset(principals or {"user:ana"}), claimed=frozenset(claimed))
    return Reader(asker=asker, actor=min(asker.principals), via="library")
