"""A lake of handlers over a log in memory and parts in memory, its documents made of words."""

import itertools

import numpy as np
import pytest

import words
from handlers import Handlers, run_in_order
from memory_log import MemoryBlobs, MemoryLog
from memory_store import MemoryStore
from upwell.lake.registry import SqlRegistry
from upwell.metrics import Metrics
from upwell.records import Acl, ChangeEvent, DocKey, Inline, Op, Vectors
from upwell.runtime.stream import topics
from upwell.sqlite import open_sqlite

PIPELINE = "words"
PUBLIC = Acl(levels=(frozenset({"everyone"}),))
BYTES = np.ones(4, np.float16).tobytes()


class CountingEmbedder:
    """One vector for all; remembers what it was asked."""

    name = fingerprint = "counting"
    dim = 4

    def __init__(self):
        self.asked = []
        self.urgent = []

    def embed(self, texts, *, urgent=False):
        self.asked.extend(texts)
        self.urgent.append(urgent)
        return [
            Vectors(dense=BYTES, late=BYTES, late_count=1, sparse_indices=(1,), sparse_values=(1.0,)) for _ in texts
        ]


class Chain:
    """A lake of handlers over a log in memory."""

    def __init__(self, registry):
        ticks = itertools.count(1)
        self.registry, self.store, self.embedder = registry, MemoryStore(), CountingEmbedder()
        self.blobs = MemoryBlobs()
        self.parser = words.WordsParser()
        self.metrics = Metrics()
        self.log = MemoryLog(blobs=self.blobs)
        self.handlers = Handlers(
            registry=registry,
            store=self.store,
            pipeline=PIPELINE,
            embedder=self.embedder,
            tokenizer=words.WordsTokenizer(),
            policy=words.POLICY,
            fetcher=words.InlineFetcher(),
            parser=self.parser,
            blobs=self.blobs,
            clock=lambda: next(ticks),
            metrics=self.metrics,
        )

    def run(self, *events):
        """Deliver events in order; the last one's end."""
        run_in_order(self.log, self.handlers, events)
        ends = {ended.event.event_id: ended for ended in self.log.messages(topics.APPLIED)}
        return ends[events[-1].event_id]

    def texts(self, doc="a"):
        entries = self.registry.manifest(key(doc), PIPELINE).entries
        found = self.store.texts([entry.point_id for entry in entries])
        return [found[entry.point_id] for entry in entries]


@pytest.fixture
def chain(tmp_path):
    registry = SqlRegistry(open_sqlite(tmp_path / "registry.sqlite", synchronous="OFF"), lambda: 1)
    yield Chain(registry)
    registry.close()


def key(doc):
    return DocKey(tenant="t", source="s", doc_id=doc)


def upsert(text, version=1, doc="a", **changes):
    fields = {
        "event_id": f"{doc}{version}",
        "tenant": "t",
        "source": "s",
        "doc_id": doc,
        "op": Op.UPSERT,
        "version": version,
        "received_at": version,
        "acl": PUBLIC,
        "acl_version": version,
        "content": Inline(data=text.encode()),
    }
    return ChangeEvent(**(fields | changes))
