"""The handlers chained on real parts make of real documents what the embedded lake makes of them."""

import os
import shutil
from pathlib import Path

import pytest
from msgspec.structs import replace

from handlers import Handlers, run_in_order
from memory_log import MemoryLog
from upwell import config, wiring
from upwell.chunk.policy import DEFAULT_POLICY
from upwell.clock import now_us
from upwell.embed import embedder_of
from upwell.lake.registry import ACTIVE_PIPELINE, SqlRegistry
from upwell.lake.store.edge import EdgeStore
from upwell.parse.confined.sandbox import SandboxParser
from upwell.records import Acl, ChangeEvent, Inline, Op, Outcome, SourceRef
from upwell.runtime.stream import topics

pytestmark = [pytest.mark.integration, pytest.mark.timeout(300)]
OWNER = "user:ana"
PIPELINE = "p"
PDFS = 3
LARGEST_BYTES = 500_000


class FolderFetcher:
    """`ports.Fetcher` of inline content and of paths."""

    def fetch(self, event):
        return event.content.data if isinstance(event.content, Inline) else Path(event.content.uri)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Real documents of every kind, a few PDFs among them."""
    corpora = os.environ.get("UPWELL_CORPORA")
    if not corpora:
        pytest.skip("UPWELL_CORPORA is not set")
    found = sorted((Path(corpora) / "parsing" / "docs").iterdir())
    pdfs = sorted((path for path in found if path.suffix == ".pdf"), key=lambda path: path.stat().st_size)
    made = tmp_path_factory.mktemp("documents")
    for path in found:
        if path.stat().st_size <= LARGEST_BYTES and (path.suffix != ".pdf" or path in pdfs[:PDFS]):
            shutil.copyfile(path, made / path.name)
    return made


@pytest.fixture(scope="module")
def expected(folder, tmp_path_factory):
    """What the embedded lake makes of them: doc_id -> its dead letter's reason or its entries, and its parts' faults."""
    place = tmp_path_factory.mktemp("embedded") / "lake"
    lake = wiring.connect(config.load(lake=place, embedder="hash"))
    try:
        lake.ingest(folder, owner=OWNER)
        dead = {letter.doc_id: letter.reason for letter in lake.dead_list()}
    finally:
        lake.close()
    registry = SqlRegistry.at(place / "registry.sqlite")
    try:
        live = {
            row.key.doc_id: entries_of(registry, row.key, registry.meta(ACTIVE_PIPELINE)) for row in registry.rows()
        }
    finally:
        registry.close()
    return live | {doc: reason for doc, reason in dead.items() if doc in live}, {
        doc: reason for doc, reason in dead.items() if doc not in live
    }


def test_real_documents_come_out_as_in_the_embedded_lake(folder, expected, tmp_path):
    """Chunk keys, order, texts, places, dead letters and faults of parts inside; half of the content comes by path."""
    embedder = embedder_of("hash")
    registry = SqlRegistry.at(tmp_path / "registry.sqlite")
    store = EdgeStore(tmp_path / "store", dim=embedder.dim)
    parser = SandboxParser()
    log = MemoryLog(clock=now_us)
    try:
        handlers = Handlers(
            registry=registry,
            store=store,
            pipeline=PIPELINE,
            embedder=embedder,
            tokenizer=embedder.tokenizer,
            policy=DEFAULT_POLICY,
            fetcher=FolderFetcher(),
            parser=parser,
            blobs=log.blobs,
            clock=now_us,
        )
        events = [event_of(path, number) for number, path in enumerate(sorted(folder.iterdir()))]
        run_in_order(log, handlers, events)
        found = {event.doc_id: outcome_of(log, registry, event) for event in events}
        faults = {
            fault.key.doc_id: fault.fate.reason for ended in log.messages(topics.APPLIED) for fault in ended.faults
        }
    finally:
        parser.close()
        store.close()
        registry.close()
    wanted, wanted_faults = expected
    assert found == wanted
    assert faults == wanted_faults
    assert sum(len(chunks) for chunks in found.values() if isinstance(chunks, list)) > 300


def event_of(path, number):
    inline = Inline(data=path.read_bytes())
    return ChangeEvent(
        event_id=path.name,
        tenant="default",
        source="documents",
        doc_id=path.name,
        op=Op.UPSERT,
        version=1,
        received_at=now_us(),
        acl=Acl(levels=(frozenset({OWNER}),)),
        content=SourceRef(connector="folder", uri=str(path)) if number % 2 else inline,
    )


def outcome_of(log, registry, event):
    """The reason of a dead letter, or the live entries."""
    (ended,) = (message for message in log.messages(topics.APPLIED) if message.event.event_id == event.event_id)
    return ended.fate.reason if ended.fate.outcome is Outcome.DEAD else entries_of(registry, event.key, PIPELINE)


def entries_of(registry, key, pipeline):
    """Every live chunk, parts inside included: keys, hashes of texts, and places. Not its point, which the key names."""
    return [replace(entry, point_id="") for entry in registry.manifest(key, pipeline).entries]
