"""The distributed lake's commands on a real Kafka and a real PostgreSQL; the workers' stages run in a thread here."""

import threading
from contextlib import closing

import pytest
from kafka import KafkaConsumer

import words
from broker import create_topics, settings_of, wait_for
from gateways import Gate
from handlers import Handlers
from memory_store import MemoryStore
from upwell.answers import ChunkCounts, DeadFilter
from upwell.clock import now_us
from upwell.embed import embedder_of
from upwell.lake.blobs import FsspecBlobs
from upwell.lake.registry import SqlRegistry
from upwell.messages import Change
from upwell.runtime.eventlog import EventLog
from upwell.runtime.lazy import Lazy
from upwell.runtime.stream import topics
from upwell.runtime.stream.admin import TopicAdmin
from upwell.runtime.stream.applied import AppliedEnds
from upwell.runtime.stream.checkup import asked, probes
from upwell.runtime.stream.codec import decode
from upwell.runtime.stream.envelope import Taken, Wire, headers_of
from upwell.runtime.stream.lag import LagReader
from upwell.runtime.stream.lake import DistributedLake
from upwell.runtime.stream.memberships import StreamMemberships
from upwell.runtime.stream.parts import LakeParts
from upwell.runtime.stream.producer import LogProducer
from upwell.runtime.stream.sink import KafkaSink
from upwell.sources.fetch import Fetching

pytestmark = [pytest.mark.integration, pytest.mark.timeout(300)]
MESSAGE_BYTES = 200_000
PIPELINE = "pipeline"
OWNER = "user:ana"


class Workers(threading.Thread):
    """Every stage and the ledger in one thread: what it has read it has done, and then it commits."""

    def __init__(self, world):
        super().__init__(name="workers")
        self.world = world
        self.stopped = threading.Event()
        self.failure = None

    def run(self):
        try:
            self._run()
        except Exception as e:
            self.failure = e
            raise

    def _run(self):
        world = self.world
        consumer = KafkaConsumer(
            *topics.ALL,
            bootstrap_servers=world.kafka.address,
            group_id="upwell-ledger",
            auto_offset_reset="earliest",
            enable_auto_commit=False,
        )
        while not self.stopped.is_set():
            for batch in consumer.poll(timeout_ms=100).values():
                for record in batch:
                    self._take(record)
            consumer.commit()
        consumer.close()

    def _take(self, record):
        world = self.world
        taken = Taken(
            topic=record.topic,
            partition=record.partition,
            offset=record.offset,
            key=record.key,
            value=record.value,
            headers=headers_of(record.headers),
        )
        if taken.value is None:
            return
        if taken.topic in (topics.APPLIED, topics.DEAD):
            world.ledger.end([world.decode(taken)])
            return
        message = world.wire.decode(taken)
        if isinstance(message, Change):
            world.ledger.note([message.event])
        world.producer.send(world.handlers.handle(taken.topic, message))


class World:
    """The real parts, with a store in memory that workers and commands share."""

    def __init__(self, kafka, postgres_url, folder):
        self.kafka = kafka
        create_topics(kafka, message_bytes=MESSAGE_BYTES)
        self.blobs = FsspecBlobs(str(folder / "blobs"))
        self.wire = Wire(self.blobs, MESSAGE_BYTES, now_us)
        self.registry = SqlRegistry.at(postgres_url)
        self.ledger = EventLog.at(postgres_url)
        self.store = MemoryStore()
        self.producer = LogProducer(kafka.address, blobs=self.blobs, message_bytes=MESSAGE_BYTES)
        self.lag = LagReader(kafka.address)
        embedder = embedder_of("hash")
        self.handlers = Handlers(
            registry=self.registry,
            store=self.store,
            pipeline=PIPELINE,
            embedder=embedder,
            tokenizer=words.WordsTokenizer(),
            policy=words.POLICY,
            fetcher=Fetching({}, self.blobs, limit_bytes=64 * 1024 * 1024),
            parser=words.WordsParser(),
            blobs=self.blobs,
            clock=now_us,
        )
        sink = KafkaSink(self.producer, self.blobs, pending=lambda: 0, max_pending=1000, ended=lambda _event: None)
        self.lake = DistributedLake(
            LakeParts(
                name=kafka.address,
                folder=folder / "here",
                embedder_name="hash",
                pipeline=lambda: PIPELINE,
                registry=self.registry,
                ledger=self.ledger,
                store=Lazy(lambda: self.store),
                embedder=Lazy(lambda: embedder),
                sink=sink,
                memberships=StreamMemberships(self.producer, self.registry.directory),
                directory=self.registry.directory,
                blobs=self.blobs,
                ends=lambda: AppliedEnds(kafka.address, self.blobs),
                lag=self.lag.totals,
                clock=now_us,
                closers=(self.producer.close, self.lag.close),
            )
        )
        self.workers = Workers(self)
        self.workers.start()

    def decode(self, taken):
        """A dead letter too, which no stage consumes."""
        return decode(taken.value, taken.headers, taken.topic, key=taken.key, blobs=self.blobs)

    def close(self):
        self.workers.stopped.set()
        self.workers.join(30)
        self.lake.close()
        self.ledger.close()
        self.registry.close()
        assert self.workers.failure is None


@pytest.fixture
def world(kafka, postgres_url, tmp_path):
    made = World(kafka, postgres_url, tmp_path)
    yield made
    made.close()


def found(lake):
    return sorted({hit.doc_id for hit in lake.search("any", principals=frozenset({OWNER}), k=50).hits})


def test_a_folder_goes_through_kafka_and_back_to_whoever_asks(world, tmp_path):
    docs = tmp_path / "docs"
    docs.mkdir()
    (docs / "a.txt").write_text("larch maple")
    (docs / "large.txt").write_text("alder" + " " * 300_000 + "birch")
    (docs / "broken.txt").write_text("!corrupt")
    answer = world.lake.ingest(docs, owner=OWNER)
    assert (answer.documents.new, answer.documents.dead) == (3, 1)
    assert answer.chunks == ChunkCounts(embedded=4)
    assert found(world.lake) == ["a.txt", "large.txt"]

    (docs / "a.txt").write_text("larch birch")
    again = world.lake.ingest(docs, owner=OWNER)
    assert again.documents.changed == 1
    assert (again.chunks.kept, again.chunks.removed) == (1, 1)

    wait_for(lambda: world.lake.status().outcomes == {"applied": 3, "dead": 1}, 60, "the ledger has heard all")
    (source,) = world.lake.status().sources
    assert (source.documents, source.pending, source.dead) == (2, 0, 1)
    wait_for(lambda: world.lake.status().lag["upwell-ledger"] == 0, 60, "the ledger has read all")
    assert world.lake.status().sources[0].watermark is not None


def test_a_membership_opens_and_closes_documents_and_rewrites_no_point(world, tmp_path):
    """Put to a gateway: in force in every search after its answer, through groups in groups."""
    docs = tmp_path / "docs"
    docs.mkdir()
    (docs / ".upwell-access.yaml").write_text("allow: [group:eng]")
    (docs / "a.txt").write_text("larch maple")
    world.lake.ingest(docs, owner=OWNER, tenant="acme")
    before = dict(world.store.points), {point: dict(fields) for point, fields in world.store.fields.items()}
    reads = []
    with closing(Gate(clock=now_us, memberships=StreamMemberships(world.producer, world.registry.directory))) as gate:
        told = [
            ("group:core", {"member_of": ["group:eng"]}),
            ("user:bob", {"member_of": ["group:core"]}),
            ("group:core", {"member_of": []}),
            ("user:bob", {"member_of": ["group:eng"]}),
            ("user:bob", None),
        ]
        for principal, body in told:
            assert gate.tell(principal, body, query="?wait=applied&timeout_s=60").status_code == 200
            hits = world.lake.search("any", principals=frozenset({"user:bob"}), tenant="acme").hits
            reads.append({hit.doc_id for hit in hits})
    assert reads == [set(), {"a.txt"}, set(), {"a.txt"}, set()]
    assert (world.store.points, world.store.fields) == before
    told = world.lake.principals_set("user:bob", member_of=frozenset({"group:eng"}), tenant="acme")
    assert world.lake.principals_list(tenant="acme")[1:] == (told,)


def test_dead_letters_are_replayed_discarded_and_erased_with_their_document(world, tmp_path):
    docs = tmp_path / "docs"
    docs.mkdir()
    for name in ("a.txt", "b.txt"):
        (docs / name).write_text("!corrupt")
    world.lake.ingest(docs, owner=OWNER)
    wait_for(lambda: len(world.lake.dead_list()) == 2, 60, "the letters are there")

    assert world.lake.dead_replay(DeadFilter(doc="a*")) == 1
    wait_for(lambda: tries(world.lake) == {"a.txt": 2, "b.txt": 1}, 60, "the replayed one fails again, once more")

    (letter,) = world.lake.dead_list(DeadFilter(doc="b*"))
    assert world.lake.dead_discard(DeadFilter(ids=(letter.id,))) == 1
    assert tries(world.lake) == {"a.txt": 2}

    assert world.lake.erase("a.txt").remaining == ()
    assert world.lake.dead_list() == ()


def tries(lake):
    return {letter.doc_id: letter.attempts for letter in lake.dead_list()}


def test_an_erased_document_is_in_no_store_and_a_new_ingest_starts_afresh(world, tmp_path):
    docs = tmp_path / "docs"
    docs.mkdir()
    (docs / "a.txt").write_text("larch" + " " * 100_000)
    (docs / "b.txt").write_text("alder")
    world.lake.ingest(docs, owner=OWNER)
    answer = world.lake.erase("a.txt")
    assert answer.remaining == ()
    assert answer.removed["points"] == 1
    assert found(world.lake) == ["b.txt"]
    assert not [path for path in (tmp_path / "blobs").rglob("*") if path.is_file()]
    assert world.lake.ingest(docs, owner=OWNER).documents.unchanged == 2, "the erased one is not sent again"


def test_doctor_finds_the_brokers_and_says_which_topics_differ(world, tmp_path):
    admin = TopicAdmin(settings_of(world.kafka, message_bytes=MESSAGE_BYTES))
    other = TopicAdmin(settings_of(world.kafka, message_bytes=MESSAGE_BYTES, partitions=7))
    how = {"registry": lambda: "hash", "store": MemoryStore, "blobs": lambda: FsspecBlobs(str(tmp_path / "probed"))}
    good, wrong = ({check.name: check for check in asked(probes("kafka", one, **how))} for one in (admin, other))
    admin.close()
    other.close()
    assert {check.state for check in good.values()} == {"ok"}
    assert good["brokers"].detail == f"kafka: {len(topics.ALL)} of {len(topics.ALL)} topics"
    assert wrong["topics"].state == "wrong"
    assert "partitions is 4, wanted 7" in wrong["topics"].detail
