"""Each handler by itself: what it takes, what it sends, what it refuses, and how its refusals travel."""

import hashlib
from pathlib import Path

import pytest

import words
from chains import BYTES, PIPELINE, PUBLIC, chain, key, upsert
from upwell.errors import Reason, Rejected, Retryable
from upwell.messages import Change, Chunked, Embedded, Parsed, Prefixed
from upwell.parse.limits import Limits
from upwell.ports import Fate
from upwell.records import Inline, Lane, Op, Outcome, ParsedDocument, ParseStatus, SourceRef, Vectors
from upwell.runtime.stream import topics
from upwell.runtime.stream.stages.embed import EmbedStage
from upwell.runtime.stream.stages.parse import ParseStage
from upwell.runtime.stream.stages.recent import RecentVectors
from upwell.runtime.stream.stages.upsert import MOST_RETURNS

DEAD = Fate(outcome=Outcome.DEAD, reason=Reason.ATTEMPTS_EXHAUSTED, detail="unexpected", stage="chunk", attempts=3)
STEPS = {Parsed: 1, Chunked: 2, Prefixed: 3, Embedded: 4}

__all__ = ["chain"]


def only(outputs):
    (outgoing,) = outputs
    return outgoing


def become(chain, event, kind, attempts=0):
    """The message of `kind` that an event is on its way."""
    message, stages = Change(event=event, attempts=attempts), chain.handlers
    for stage in (stages.parse, stages.chunk, stages.prefix, stages.embed)[: STEPS[kind]]:
        message = only(stage.handle(message)).message
    assert isinstance(message, kind)
    return message


class PathFetcher:
    """Content lies where its SourceRef says; counts how often it was asked."""

    def __init__(self):
        self.asked = 0

    def fetch(self, event):
        self.asked += 1
        return Path(event.content.uri)


@pytest.fixture
def reading(chain):
    """A parse stage over paths, with a limit of 100 bytes, and its fetcher."""
    fetcher = PathFetcher()
    limits = Limits(file_bytes=100, text_bytes=100)
    stage = ParseStage(fetcher=fetcher, parser=chain.parser, registry=chain.registry, limits=limits)
    return stage, fetcher


def lying_at(path, sha256=None, **changes):
    return upsert("", content=SourceRef(connector="x", uri=str(path), sha256=sha256), **changes)


def test_parse_sends_blocks_and_the_hash_of_what_it_read(chain):
    """On the topic of the event's lane, under the document's key, with the attempts so far."""
    outgoing = only(chain.handlers.parse.handle(Change(event=upsert("one", lane=Lane.BACKFILL), attempts=2)))
    assert (outgoing.topic, outgoing.key) == ("upwell.parsed.backfill.v1", key("a"))
    assert [block.text for block in outgoing.message.document.blocks] == ["one"]
    assert outgoing.message.content_sha256 == hashlib.sha256(b"one").hexdigest()
    assert outgoing.message.attempts == 2


def test_parse_reads_a_path_once_and_within_the_limit(reading, tmp_path):
    """What is larger ends as too_large; what is no plain file is refused."""
    stage, _ = reading
    file = tmp_path / "a.txt"
    file.write_text("one")
    assert only(stage.handle(Change(event=lying_at(file)))).message.document.blocks[0].text == "one"
    file.write_text("one " * 100)
    message = only(stage.handle(Change(event=lying_at(file)))).message
    assert (message.fate.reason, message.document.status) == ("too_large", ParseStatus.TOO_LARGE)
    with pytest.raises(Rejected, match="plain file"):
        stage.handle(Change(event=lying_at(tmp_path)))


def test_content_that_has_moved_on_is_superseded(reading, tmp_path):
    """Another file than the source observed, or none any more: a newer event follows, this one only ends."""
    stage, _ = reading
    file = tmp_path / "a.txt"
    file.write_text("two")
    same = lying_at(file, hashlib.sha256(b"two").hexdigest())
    assert isinstance(only(stage.handle(Change(event=same))).message, Parsed)
    for event in (lying_at(file, hashlib.sha256(b"one").hexdigest()), lying_at(tmp_path / "gone.txt")):
        outgoing = only(stage.handle(Change(event=event)))
        assert outgoing.topic == "upwell.embedded.live.v1"
        assert outgoing.message.fate.outcome is Outcome.SUPERSEDED


def test_what_stands_behind_the_registry_is_neither_fetched_nor_embedded(chain, reading, tmp_path):
    """An upsert under newer content or under a tombstone goes straight to its end."""
    prefixed = become(chain, upsert("one two", 2, event_id="late"), Prefixed)
    chain.run(upsert("three", 3), upsert("", 4, op=Op.DELETE, content=None))
    chain.embedder.asked.clear()
    stage, fetcher = reading
    for version in (2, 4):
        message = only(stage.handle(Change(event=lying_at(tmp_path, version=version)))).message
        assert message.fate.outcome is Outcome.SUPERSEDED
    assert fetcher.asked == 0
    message = only(chain.handlers.embed.handle(prefixed)).message
    assert message.fate.outcome is Outcome.SUPERSEDED
    assert message.document.chunks == ()
    assert chain.embedder.asked == []
    ended = only(chain.handlers.upsert.handle(message)).message
    assert ended.fate.outcome is Outcome.SUPERSEDED


def test_a_superseded_move_still_hides_its_old_id(chain):
    """Its content has gone; that the document is no longer where it was remains true, and holds no points for good."""
    chain.run(upsert("one"))
    moved = upsert("one", 2, "b", previous_doc_id="a")
    fate = Fate(outcome=Outcome.SUPERSEDED, stage="parse")
    message = Embedded(event=moved, document=become(chain, moved, Prefixed).document, fate=fate)
    assert only(chain.handlers.upsert.handle(message)).message.fate.outcome is Outcome.SUPERSEDED
    assert chain.store.present(key("a")) == {}
    row = chain.registry.row(key("a"))
    assert (row.moved_to, row.hold) == ("b", False)


def test_parse_takes_upserts_alone_and_needs_content(chain):
    """Anything else is no document; an upsert without content is unsupported."""
    with pytest.raises(Rejected, match="delete is no change of content"):
        chain.handlers.parse.handle(Change(event=upsert("", op=Op.DELETE, content=None)))
    message = only(chain.handlers.parse.handle(Change(event=upsert("", content=None)))).message
    assert (message.fate.outcome, message.fate.reason) == (Outcome.DEAD, "unsupported")


@pytest.mark.parametrize("kind", [Change, Parsed, Chunked, Prefixed])
def test_what_a_stage_gives_up_is_told_by_upsert(chain, kind):
    """Whatever stage it was: the event ends dead in the registry, on `applied`, and whole on `dead`."""
    event = upsert("one")
    message = Change(event=event) if kind is Change else become(chain, event, kind)
    handlers = chain.handlers
    stage = {
        Change: handlers.parse,
        Parsed: handlers.chunk,
        Chunked: handlers.prefix,
        Prefixed: handlers.embed,
    }[kind]
    outgoing = only(stage.reject(message, DEAD))
    assert outgoing.topic == "upwell.embedded.live.v1"
    ended, dead = handlers.upsert.handle(outgoing.message)
    assert (ended.topic, dead.topic) == (topics.APPLIED, topics.DEAD)
    assert ended.message.fate == dead.message.fate == DEAD
    assert dead.message.event == event
    row = chain.registry.row(key("a"))
    assert (row.failed_version, row.stale_reason, row.status) == (1, "attempts_exhausted", None)


def test_what_upsert_itself_gives_up_ends_as_well(chain):
    """The registry is told, and the event ends dead."""
    message = become(chain, upsert("one"), Embedded)
    ended, dead = chain.handlers.upsert.reject(message, DEAD)
    assert ended.message.fate == dead.message.fate == DEAD
    assert chain.registry.row(key("a")).failed_version == 1


def test_a_failure_under_newer_content_is_superseded_and_no_dead_letter(chain):
    """What nobody needs any more need not be repaired."""
    old = upsert("!corrupt", 1)
    message = only(chain.handlers.parse.handle(Change(event=old))).message
    chain.run(upsert("two", 2))
    outgoing = only(chain.handlers.upsert.handle(message))
    assert (outgoing.topic, outgoing.message.fate.outcome) == (topics.APPLIED, Outcome.SUPERSEDED)


def test_a_dead_event_that_comes_again_is_dead_again_with_its_reason(chain):
    """Delivered twice, with newer content in between: its end stays what it was."""
    message = only(chain.handlers.parse.handle(Change(event=upsert("!corrupt", 1)))).message
    first, _ = chain.handlers.upsert.handle(message)
    chain.run(upsert("two", 2))
    again, letter = chain.handlers.upsert.handle(message)
    assert again.message.fate == first.message.fate == letter.message.fate
    late = only(chain.handlers.parse.handle(Change(event=upsert("!corrupt", 1)))).message
    (ended,) = chain.handlers.upsert.handle(late)
    assert (ended.message.fate.outcome, ended.message.fate.reason) == (Outcome.DEAD, "corrupt")


def test_an_encrypted_version_hides_its_document(chain):
    """Somebody locked it: nothing is found any more, and the event is a dead letter."""
    ended = chain.run(upsert("one"), upsert("!encrypted", 2))
    assert (ended.fate.outcome, ended.fate.reason, ended.removed) == (Outcome.DEAD, "encrypted", 1)
    assert chain.texts() == []


def test_parts_that_will_not_parse_travel_with_the_end(chain):
    """The document is applied; its faults are in the message."""
    child = ParsedDocument(status=ParseStatus.CORRUPT, reason="broken", name="x.pdf", media_type="application/pdf")
    chain.parser.parsed = lambda data: words.document_of(("one",), children=(child,))
    ended = chain.run(upsert("one"))
    assert ended.fate.outcome is Outcome.APPLIED
    assert [(fault.key.doc_id, fault.fate.reason) for fault in ended.faults] == [("a!/x.pdf", "corrupt")]


def test_embed_sends_what_the_lake_lacks_and_what_is_wanted(chain):
    """By the registry alone; a wanted one although the registry lists it."""
    chain.run(upsert("one two"))
    prefixed = become(chain, upsert("two three", 2), Prefixed)
    embedded = only(chain.handlers.embed.handle(prefixed)).message
    two, three = (chunk.embed_key for chunk in prefixed.document.chunks)
    assert embedded.vectors.keys() == {three}
    wanted = Prefixed(event=prefixed.event, document=prefixed.document, wanted=(two,))
    assert only(chain.handlers.embed.handle(wanted)).message.vectors.keys() == {two, three}
    assert chain.embedder.asked == ["one", "two", "three"], "the worker remembers what it has just made"


def test_vectors_that_no_worker_could_hold_are_refused(chain):
    """In time, not when all have been made; the event ends as too large instead of ending workers for ever."""
    stage = EmbedStage(registry=chain.registry, pipeline=PIPELINE, embedder=chain.embedder, most_bytes=5000)
    prefixed = become(chain, upsert(" ".join(f"w{n}" for n in range(1000))), Prefixed)
    with pytest.raises(Rejected, match="1000 chunks") as e:
        stage.handle(prefixed)
    assert e.value.reason is Reason.TOO_LARGE
    assert len(chain.embedder.asked) < 500


def test_the_live_lane_is_urgent(chain):
    """The embedder is told which lane waits."""
    for lane in (Lane.BACKFILL, Lane.LIVE):
        chain.handlers.embed.handle(become(chain, upsert(str(lane), lane=lane), Prefixed))
    assert chain.embedder.urgent == [False, True]


def test_vectors_that_never_come_end_the_event(chain):
    """Back for what is lacking, then for everything, and after too many ways back not again."""
    event = upsert("one two")
    whole = become(chain, event, Embedded)
    for attempts in (0, 1):
        vectors = dict(list(whole.vectors.items())[:1])
        message = Embedded(event=event, document=whole.document, vectors=vectors, attempts=attempts)
        outgoing = only(chain.handlers.upsert.handle(message))
        assert (outgoing.topic, outgoing.message.attempts) == ("upwell.prefixed.live.v1", attempts + 1)
        assert len(outgoing.message.wanted) == attempts + 1
    assert chain.registry.manifest(key("a"), PIPELINE).entries == (), "nothing is published without its vectors"
    with pytest.raises(Rejected, match="again and again"):
        chain.handlers.upsert.handle(Embedded(event=event, document=whole.document, attempts=MOST_RETURNS))


def test_a_narrower_permission_binds_the_content_that_is_still_on_its_way(chain):
    """Two versions of a new document: the control half of the second is there before the first is published."""
    first, second = upsert("one"), upsert("two", 2, acl=PUBLIC.__class__())
    for event in (first, second):
        assert chain.handlers.control.handle(Change(event=event)) == []
    chain.handlers.upsert.handle(become(chain, first, Embedded))
    row = chain.registry.row(key("a"))
    assert (row.version, row.effective_acl.levels) == (first.version, ())


def test_the_control_half_of_an_upsert_binds_at_once_and_ends_nothing(chain):
    chain.run(upsert("one"))
    hidden = upsert("two", 2, acl=PUBLIC.__class__(), content=None)
    assert chain.handlers.control.handle(Change(event=hidden)) == []
    assert chain.registry.row(key("a")).effective_acl.levels != PUBLIC.levels


def test_control_that_is_given_up_ends_dead_but_for_an_upsert(chain):
    """An upsert's content half ends it."""
    assert chain.handlers.control.reject(Change(event=upsert("one")), DEAD) == []
    ended, dead = chain.handlers.control.reject(Change(event=upsert("", op=Op.DELETE, content=None)), DEAD)
    assert ended.message.fate == dead.message.fate == DEAD


def test_what_an_erased_document_wrote_after_its_erasure_goes_when_it_ends(chain):
    """A large message of an older version, on its way while the erasure was applied."""
    late = become(chain, upsert("one"), Embedded)
    chain.run(upsert("", 2, op=Op.ERASE, content=None))
    chain.blobs.put(key("a"), b"a large message", 1)
    ended, *tombstones = chain.handlers.upsert.handle(late)
    assert ended.message.fate.outcome is Outcome.SUPERSEDED
    assert [(one.topic, one.key, one.message) for one in tombstones] == [
        (topic, key("a"), None) for topic in topics.FORGETTING
    ], "its messages stand behind the erasure's tombstones"
    assert chain.blobs.kept == {}


def test_a_store_that_is_away_is_tried_again(chain):
    """Nothing ends, nothing is sent: the guard asks again."""
    message = become(chain, upsert("one"), Embedded)
    chain.store.insert = _away
    with pytest.raises(Retryable):
        chain.handlers.upsert.handle(message)
    assert chain.registry.row(key("a")) is None


def _away(points):
    raise Retryable("the store is away")


def test_stages_count_their_work(chain):
    """Time by stage, chunks by effect, tokens where the model runs, latency by lane and kind."""
    chain.run(upsert("one two"), upsert("", 2, op=Op.DELETE, content=None))
    value = chain.metrics.registry.get_sample_value
    for stage in ("parse", "chunk", "prefix", "embed"):
        assert value("upwell_stage_seconds_count", {"stage": stage}) == 1
    assert value("upwell_stage_seconds_count", {"stage": "upsert"}) == 3
    assert value("upwell_parsed_documents_total", {"status": "ok", "media_type": "text/plain"}) == 1
    assert (
        value("upwell_chunks_total", {"effect": "embedded"}) == value("upwell_chunks_total", {"effect": "removed"}) == 2
    )
    assert value("upwell_tokens_embedded_total") == 2
    labels = {"source": "s", "lane": "live"}
    assert value("upwell_event_to_searchable_seconds_count", labels) == value("upwell_revocation_seconds_count", labels)


def test_recent_vectors_are_bounded_and_a_tenants_own():
    """The least lately used go first; another tenant's equal text is not answered from here."""
    one = Vectors(dense=BYTES, late=bytes(1000), late_count=1, sparse_indices=(), sparse_values=())
    recent = RecentVectors(limit_bytes=2500)
    recent.put("t", "a", one)
    recent.put("t", "b", one)
    assert recent.get("t", "a") is one
    recent.put("t", "b", one)
    recent.get("t", "a")
    recent.put("t", "c", one)
    assert [recent.get("t", name) is not None for name in "abc"] == [True, False, True]
    assert recent.get("u", "a") is None


def test_inline_content_of_no_words_is_published_empty(chain):
    """Blanking a page removes its text; the event is applied."""
    ended = chain.run(upsert("one"), upsert("", 2, content=Inline(data=b"")))
    assert (ended.fate.outcome, ended.removed) == (Outcome.APPLIED, 1)
