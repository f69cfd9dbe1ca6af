"""What commands ask of a distributed lake, with its workers as handlers over a log in memory."""

import queue
import threading

import pytest

import words
from stream_lake import StreamLake
from upwell.answers import ChunkCounts, DeadFilter, EraseWish, Scope
from upwell.errors import Misconfigured, NotFound, Retryable
from upwell.records import Acl, ChangeEvent, Inline, Op
from upwell.runtime.erasing import erase
from upwell.runtime.reading import operator_as
from upwell.runtime.stream import topics
from upwell.runtime.stream.erasing import erasing
from upwell.runtime.stream.intake import CARRIED_BYTES, alone

OWNER = "user:ana"
EVERYBODY = Acl(levels=(frozenset({"everyone"}),))


@pytest.fixture
def world(tmp_path):
    made = StreamLake(tmp_path / "lake")
    yield made
    made.close()


@pytest.fixture
def docs(tmp_path):
    folder = tmp_path / "docs"
    folder.mkdir()
    return folder


def upsert(doc_id, text, version=1, **fields):
    return ChangeEvent(
        event_id=f"{doc_id} {version}", tenant="default", source="wiki", doc_id=doc_id, op=Op.UPSERT, version=version,
        received_at=version, acl=EVERYBODY, acl_version=version, content=Inline(data=text.encode()), **fields,
    )  # fmt: skip


def found(lake, query="any", who=OWNER):
    return sorted({hit.doc_id for hit in lake.search(query, principals=frozenset({who}), k=50).hits})


def test_a_folder_is_read_here_and_searchable_when_it_returns(world, docs):
    (docs / "a.txt").write_text("larch maple")
    (docs / "b.txt").write_text("!corrupt")
    told = []
    answer = world.lake.ingest(docs, owner=OWNER, progress=told.append)
    assert (answer.documents.seen, answer.documents.new, answer.documents.dead) == (2, 2, 1)
    assert answer.chunks == ChunkCounts(embedded=2)
    assert (told[-1].done, told[-1].total) == (2, 2)
    assert found(world.lake) == ["a.txt"]
    assert found(world.lake, who="user:eve") == []
    assert [chunk.text for chunk in world.lake.show("a.txt").chunks] == ["larch", "maple"]


def test_a_second_look_sends_only_what_has_changed_and_counts_what_stayed(world, docs):
    (docs / "a.txt").write_text("larch maple")
    (docs / "b.txt").write_text("alder")
    world.lake.ingest(docs, owner=OWNER)
    sent = len(world.log.messages(topics.CONTROL))
    (docs / "a.txt").write_text("larch birch")
    (docs / "b.txt").unlink()
    answer = world.lake.ingest(docs, owner=OWNER)
    assert (answer.documents.changed, answer.documents.deleted, answer.documents.new) == (1, 1, 0)
    assert answer.chunks == ChunkCounts(kept=1, embedded=1, removed=2)
    assert len(world.log.messages(topics.CONTROL)) == sent + 2
    assert world.lake.ingest(docs, owner=OWNER).chunks == ChunkCounts()


def test_a_large_file_goes_by_the_blob_store_and_comes_back_whole(world, docs):
    text = " ".join(f"w{n}" for n in range(100)) + " " * CARRIED_BYTES
    (docs / "large.txt").write_text(text)
    world.lake.ingest(docs, owner=OWNER)
    assert len(world.log.blobs.kept) == 1
    assert len(world.lake.show("large.txt").chunks) == 100


def test_a_scan_that_could_not_be_sent_is_not_remembered(world, docs):
    (docs / "a.txt").write_text("larch")
    world.producer.fail_with = Retryable("the brokers do not answer")
    with pytest.raises(Retryable):
        world.lake.ingest(docs, owner=OWNER)
    assert world.lake.ingest(docs, owner=OWNER).documents.new == 1
    assert found(world.lake) == ["a.txt"]


def test_two_ingests_from_one_memory_exclude_each_other(world, docs):
    world.lake.ingest(docs, owner=OWNER)
    with alone(world.folder / "here"), pytest.raises(Misconfigured, match="another ingest"):
        world.lake.ingest(docs, owner=OWNER)
    world.lake.ingest(docs, owner=OWNER)


def test_status_tells_counts_pending_and_how_far_searching_is_current(world):
    world.sink.accept([upsert("a.md", "larch maple"), upsert("b.md", "!corrupt", 2)])
    (source,) = world.lake.status().sources
    assert (source.documents, source.chunks, source.pending, source.dead) == (1, 2, 0, 1)
    assert source.staleness_s == 0
    assert world.lake.status().outcomes == {"applied": 1, "dead": 1}


def test_the_watermark_is_the_oldest_pending_event_and_unknown_while_the_ledger_lags(world):
    world.sink.accept([upsert("a.md", "larch")])
    world.lag = {"upwell-ledger": 3, "upwell-parse-live": 1}
    answer = world.lake.status()
    assert answer.lag == world.lag
    assert answer.sources[0].watermark is None
    assert answer.sources[0].staleness_s is None
    world.ledger.append([upsert("b.md", "alder", 1_000_000)])
    (source,) = world.lake.status().sources
    assert (source.watermark, source.pending) == ("1970-01-01T00:00:01.000000Z", 1)


def test_readers_learn_how_fresh_sources_are_without_the_brokers(world):
    """By what the ledger said last, and by what pends; unknown while it has never caught up."""
    world.sink.accept([upsert("a.md", "larch")])
    world.lag = None

    def fresh():
        (source,) = world.lake.reading().sources(reader=operator_as(frozenset({OWNER}), "default")).sources
        return source.watermark

    assert fresh() is None
    world.ledger.note_read(2_000_000)
    assert fresh() == world.lake.status().sources[0].watermark == "1970-01-01T00:00:02.000000Z"
    world.ledger.append([upsert("b.md", "alder", 3_000_000)])
    assert fresh() == "1970-01-01T00:00:02.000000Z"
    world.ledger.append([upsert("c.md", "alder", 1_000_000)])
    assert fresh() == "1970-01-01T00:00:01.000000Z"
    world.ledger.note_read(4_000_000)
    assert fresh() == "1970-01-01T00:00:01.000000Z"


def test_a_lake_is_answerable_while_its_registry_and_store_are(world):
    world.lake.answerable()
    world.store.texts = _away
    with pytest.raises(Retryable):
        world.lake.answerable()


def _away(*_):
    raise Retryable("the store does not answer")


def test_status_answers_what_it_knows_while_the_brokers_are_away(world):
    world.sink.accept([upsert("a.md", "larch")])
    world.lag = None
    answer = world.lake.status()
    assert answer.lag == {}
    assert (answer.sources[0].documents, answer.sources[0].watermark) == (1, None)


def test_a_replayed_letter_is_gone_when_it_was_taken_in(world):
    world.sink.accept([upsert("a.md", "!timed_out"), upsert("b.md", "!timed_out")])
    world.parser.parsed = lambda _content: words.document_of(["larch"])
    assert world.lake.dead_replay(DeadFilter(doc="a.*")) == 1
    assert [letter.doc_id for letter in world.lake.dead_list()] == ["b.md"]
    assert found(world.lake) == ["a.md"]
    assert world.lake.status().outcomes == {"applied": 1, "dead": 1}


def test_a_letter_that_fails_again_is_one_letter_with_its_tries_counted_up(world):
    world.sink.accept([upsert("a.md", "!corrupt")])
    for tries in (2, 3):
        assert world.lake.dead_replay(DeadFilter(reason="corrupt")) == 1
        assert [letter.attempts for letter in world.lake.dead_list()] == [tries]
    assert world.lake.status().sources[0].pending == 0


def test_a_letter_is_not_lost_while_the_log_cannot_be_reached(world):
    world.sink.accept([upsert("a.md", "!corrupt")])
    world.producer.fail_with = Retryable("the brokers do not answer")
    with pytest.raises(Retryable):
        world.lake.dead_replay(DeadFilter())
    assert [letter.attempts for letter in world.lake.dead_list()] == [1]
    assert world.lake.status().outcomes == {"dead": 1}
    assert world.lake.dead_replay(DeadFilter()) == 1


def test_a_replayed_event_is_pending_until_the_workers_have_ended_it(world):
    world.sink.accept([upsert("a.md", "!corrupt")])
    world.producer.working = False
    assert world.lake.dead_replay(DeadFilter()) == 1
    assert world.lake.dead_list() == ()
    assert world.lake.status().outcomes == {"pending": 1}
    world.work()
    assert [letter.attempts for letter in world.lake.dead_list()] == [2]


def test_a_discarded_letter_is_gone_and_its_event_stays_ended(world):
    world.sink.accept([upsert("a.md", "!corrupt"), upsert("b.md", "!encrypted")])
    (letter,) = world.lake.dead_list(DeadFilter(reason="encrypted"))
    assert world.lake.dead_discard(DeadFilter(ids=(letter.id,))) == 1
    with pytest.raises(NotFound):
        world.lake.dead_show(letter.id)
    assert world.lake.status().outcomes == {"dead": 2}
    assert [left.doc_id for left in world.lake.dead_list()] == ["a.md"]


def test_an_erased_document_is_in_no_store(world):
    world.sink.accept([upsert("a.md", "larch maple"), upsert("b.md", "alder"), upsert("a.md", "!corrupt", 2)])
    key = upsert("a.md", "").key
    world.log.blobs.put(key, b"large", 1)
    answer = world.lake.erase("a.md")
    assert answer.remaining == ()
    assert answer.removed["points"] == 2
    assert world.store.present(key) == {}
    assert [owner for owner, _ in world.log.blobs.kept.values() if owner == key] == []
    assert world.lake.dead_list() == ()
    assert found(world.lake) == ["b.md"]
    world.sink.accept([upsert("a.md", "larch", 3)])
    assert found(world.lake) == ["b.md"], "nothing older than the erasure comes back"


def test_an_erasure_is_fenced_above_a_version_from_another_clock(world):
    world.sink.accept([upsert("a.md", "larch", 2**52)])
    assert world.lake.erase("a.md").remaining == ()
    assert found(world.lake) == []


def test_an_erasure_that_nobody_carries_out_says_so(world):
    world.sink.accept([upsert("a.md", "larch")])
    world.producer.working = False
    with pytest.raises(Retryable, match="has not ended yet"):
        erase(
            erasing(world.lake._parts, patience_s=0.1), EraseWish(scope=Scope.DOCUMENT, name="a.md", tenant="default")
        )


@pytest.fixture
def followed(world, docs):
    """The lake follows `docs`; what it said so far."""
    stop, ready, said = threading.Event(), queue.Queue(), queue.Queue()
    how = {"owner": OWNER, "stop": stop, "on_ready": ready.put, "on_change": said.put}
    thread = threading.Thread(target=lambda: world.lake.follow(docs, **how))
    (docs / "a.txt").write_text("larch")
    thread.start()
    assert ready.get(timeout=30).documents.new == 1
    yield said
    stop.set()
    thread.join(30)
    assert not thread.is_alive()


def test_a_followed_folder_s_changes_are_searchable_and_said(world, docs, followed):
    assert found(world.lake) == ["a.txt"]
    (docs / "b.txt").write_text("alder")
    assert followed.get(timeout=30).startswith("b.txt: searchable in ")
    assert found(world.lake) == ["a.txt", "b.txt"]
    (docs / "a.txt").unlink()
    assert followed.get(timeout=30).startswith("a.txt: gone in ")
    assert found(world.lake) == ["b.txt"]


def test_following_outlasts_a_log_that_cannot_be_reached(world, docs, followed):
    world.producer.fail_with = Retryable("the brokers do not answer")
    (docs / "b.txt").write_text("alder")
    assert followed.get(timeout=30) == "the brokers do not answer; looking again"
    assert followed.get(timeout=30).startswith("b.txt: searchable in ")


def test_the_network_is_the_gateway_s(world):
    with pytest.raises(Misconfigured, match="upwell gateway"):
        world.lake.listen("127.0.0.1", 0)
