"""The laws through the six handlers of the distributed lake: what a log may do to messages changes nothing."""

import random
from contextlib import suppress

import msgspec
from faults import Crash, crash
from hypothesis import given
from hypothesis import strategies as st
from strategies import ACLS, DOCS, READERS, WORDS, histories, upsert
from stream_world import StreamWorld, prepared_whole, run_stream
from world import PIPELINE, World

from upwell.errors import Reason
from upwell.records import Lane, Op, Outcome
from upwell.runtime.stream import topics


def laned(events, rng):
    """The events, each in a lane of its own."""
    return [msgspec.structs.replace(event, lane=rng.choice(list(Lane))) for event in events]


def check_ends(world, events):
    """L5: every accepted event has ended, and a dead one is whole among the dead letters."""
    ends, dead = world.ends(), {letter.event.event_id for letter in world.log.messages(topics.DEAD)}
    assert ends.keys() == {event.event_id for event in events}
    fated = {event_id for event_id, found in ends.items() if any(e.fate.outcome is Outcome.DEAD for e in found)}
    assert fated == dead
    for letter in world.log.messages(topics.DEAD):
        assert letter.event.content is not None or letter.fate.reason == Reason.BLOB_MISSING


@given(histories(), st.integers(0, 2**32))
def test_a_storm_through_the_handlers_ends_as_the_embedded_lake_does(registry, memory_store, tenants, events, seed):
    """L1 to L5: whatever order, duplicates, lost commits, crashes and rivals, no search leaks or mixes, every event ends
    and the lake is the one that the embedded runtime makes of the same events."""
    rng = random.Random(seed)
    events = laned(events, rng)
    world = StreamWorld(registry, memory_store, next(tenants))
    run_stream(world, events, rng, DOCS)
    world.check_rest(DOCS)
    check_ends(world, events)
    embedded = World(registry, memory_store, next(tenants), prepare=prepared_whole)
    for event in events:
        embedded.deliver(event)
    assert world.state(DOCS) == embedded.state(DOCS)


@given(histories(), st.integers(0, 2**32))
def test_without_a_crash_no_text_is_embedded_twice(registry, memory_store, tenants, events, seed):
    """L6: neither for two versions in flight at once, nor for the other lane, nor on the way back from upsert."""
    rng = random.Random(seed)
    world = StreamWorld(registry, memory_store, next(tenants))
    run_stream(world, laned(events, rng), rng, DOCS, faults=False)
    assert len(world.embedder.asked) == len(set(world.embedder.asked))
    check_ends(world, events)
    world.check_rest(DOCS)


@given(WORDS, WORDS)
def test_an_edit_embeds_only_what_is_new(registry, memory_store, tenants, before, after):
    """The second version costs what it has and the lake has not; the counts are the embedded lake's."""
    world, embedded = (kind(registry, memory_store, next(tenants)) for kind in (StreamWorld, embedded_world))
    world.through(upsert(before))
    embedded.deliver(upsert(before))
    world.restart()
    world.embedder.asked.clear()
    ended, result = world.through(upsert(after, 2)), embedded.deliver(upsert(after, 2))
    assert sorted(world.embedder.asked) == sorted(set(after) - set(before))
    for count in ("kept", "reused", "embedded", "removed", "tokens_embedded"):
        assert getattr(ended, count) == getattr(result, count), count


def embedded_world(registry, store, tenant):
    return World(registry, store, tenant, prepare=prepared_whole)


@given(WORDS, WORDS)
def test_permissions_metadata_moves_and_parts_elsewhere_embed_nothing(registry, memory_store, tenants, words, inside):
    """L6: none of these asks the model for a word."""
    world = StreamWorld(registry, memory_store, next(tenants))
    world.through(upsert(words, inside=(("a.pdf", inside),)))
    world.restart()
    world.embedder.asked.clear()
    world.through(
        upsert(words, 2, title="renamed", inside=(("b.pdf", inside),)),
        upsert((), 3, op=Op.ACL, content=None, acl=ACLS[1], event_id="acl"),
        upsert(words, 4, "b", previous_doc_id="a", inside=(("c.pdf", inside),)),
    )
    assert world.embedder.asked == []
    assert world.store.present(world.key("a")) == {}
    found = [hit.text for hit in world.search(READERS[1]) if hit.key.doc_id == "b"]
    assert sorted(found) == sorted((*words, *inside))


@given(WORDS, st.data())
def test_what_the_store_has_lost_is_asked_for_once_and_comes_back(registry, memory_store, tenants, words, data):
    """The registry lists points that are gone: upsert sends the document back to embed, which embeds those alone."""
    world = StreamWorld(registry, memory_store, next(tenants))
    world.through(upsert(words))
    entries = {e.point_id: e for e in world.registry.manifest(world.key("a"), PIPELINE).entries}
    lost = data.draw(st.sets(st.sampled_from(sorted(entries)), min_size=1))
    texts = memory_store.texts(sorted(entries))
    gone = {texts[point] for point in lost} - {texts[point] for point in entries.keys() - lost}
    for point in lost:
        memory_store.lose(point)
    world.restart()
    world.embedder.asked.clear()
    ended = world.through(upsert((*words, "new"), 2))
    assert ended.fate.outcome is Outcome.APPLIED
    assert ended.attempts <= 2
    assert gone | {"new"} <= set(world.embedder.asked)
    assert sorted(hit.text for hit in world.search(READERS[0])) == sorted((*words, "new"))


@given(WORDS)
def test_vectors_that_leave_the_lake_on_the_way_are_embedded(registry, memory_store, tenants, words):
    """Embed counted on a document that is deleted before upsert: nothing is published without its vectors."""
    world = StreamWorld(registry, memory_store, next(tenants))
    world.through(upsert(words))
    world.restart()
    world.embedder.asked.clear()
    world.accept(upsert(words, 2, "b"))
    until(world, topics.EMBEDDED)
    assert world.embedder.asked == [], "the lake had them all"
    world.accept(upsert((), 9, op=Op.DELETE, content=None))
    while topics.CONTROL in {topic for topic, _ in world.waiting()}:
        world.take(next(place for place in world.waiting() if place[0] == topics.CONTROL))
    assert world.store.present(world.key("a")) == {}
    world.settle()
    (ended,) = world.ends()["b2"]
    assert (ended.fate.outcome, ended.attempts, ended.embedded) == (Outcome.APPLIED, 1, len(set(words)))
    assert sorted(world.embedder.asked) == sorted(set(words))
    assert sorted(hit.text for hit in world.search(READERS[0])) == sorted(words)


def until(world, step):
    """Take what waits, a stage after the other, until something waits at `step`."""
    while not any(topic.split(".")[1] == step for topic, _ in world.waiting()):
        world.take(world.waiting()[0])


@given(WORDS, st.sampled_from([Op.DELETE, Op.ERASE, Op.ACL]))
def test_control_overtakes_content(registry, memory_store, tenants, words, op):
    """A narrowing, a delete or an erasure binds while its document's next version waits for its parse."""
    world = StreamWorld(registry, memory_store, next(tenants))
    world.through(upsert(words))
    world.accept(upsert((*words, "more"), 2))
    content = [place for place in world.waiting() if place[0] != topics.CONTROL]
    world.accept(upsert((), 3, op=op, content=None, acl=ACLS[1], event_id="stop"))
    while places := [place for place in world.waiting() if place[0] == topics.CONTROL]:
        world.take(places[0])
    assert world.search(READERS[0]) == [], "hidden already"
    assert set(content) <= set(world.waiting()), "the content has not moved"
    parsed = world.handlers.parse
    world.settle()
    assert world.search(READERS[0]) == []
    assert world.ends()["a2"][0].fate.outcome is (Outcome.APPLIED if op is Op.ACL else Outcome.SUPERSEDED)
    assert parsed._parser.seen == (2 if op is Op.ACL else 1), "what is dead already is not parsed"


@given(histories(), st.integers(0, 2**32))
def test_large_messages_travel_as_blobs(registry, memory_store, tenants, events, seed):
    """With a log that takes hardly a word every message goes by the blob store, and nothing else changes."""
    events = [event for event in events if event.op is not Op.ERASE]
    rng = random.Random(seed)
    world = StreamWorld(registry, memory_store, next(tenants), limit_bytes=1)
    run_stream(world, events, rng, DOCS)
    check_ends(world, events)
    world.check_rest(DOCS)


@given(histories(), st.integers(0, 2**32))
def test_what_an_erasure_takes_from_messages_on_their_way_ends_all_the_same(
    registry, memory_store, tenants, events, seed
):
    """Their blobs are gone and their words with them: each event still ends by its name, and nothing of it is found."""
    rng = random.Random(seed)
    world = StreamWorld(registry, memory_store, next(tenants), limit_bytes=1)
    run_stream(world, laned(events, rng), rng, DOCS)
    check_ends(world, events)
    for doc in DOCS:
        row = world.registry.row(world.key(doc))
        if row is not None and row.rank == 2:
            assert world.store.present(world.key(doc)) == {}


@given(WORDS, st.integers(1, 60))
def test_a_crash_anywhere_costs_at_most_one_document_twice(registry, memory_store, tenants, words, where):
    """Cut short at any call and delivered again: the words are there, once, and no more was embedded than twice."""
    world = StreamWorld(registry, memory_store, next(tenants))
    world.accept(upsert(words))
    world.gate.plan(where, crash)
    with suppress(Crash):
        world.settle()
    world.restart()
    world.settle()
    world.gate.clear()
    assert len(world.embedder.asked) <= 2 * len(set(words))
    assert sorted(hit.text for hit in world.search(READERS[0])) == sorted(words)
    assert [line.event_id for line in world.registry.history(world.key("a"))] == ["a1"]
    check_ends(world, [upsert(words)])
