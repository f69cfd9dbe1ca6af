"""L6 nothing twice, counted by what the model was asked; and L8 where each hit comes from."""

import random

import msgspec
import pytest
from faults import Crash, crash
from hypothesis import given
from hypothesis import strategies as st
from strategies import ACLS, DOCS, READERS, WORDS, histories, upsert
from world import PIPELINE, World, run_history

from upwell.access import Asker
from upwell.records import Op, Outcome


def points(world, *docs):
    """Point ids of the documents' live chunks."""
    return {e.point_id for doc in docs for e in world.registry.manifest(world.key(doc), PIPELINE).entries}


@given(WORDS, WORDS)
def test_an_edit_embeds_only_what_is_new(registry, memory_store, tenants, before, after):
    """A second version asks the model only for texts that the first has not; what stays keeps its points."""
    world = World(registry, memory_store, next(tenants))
    world.deliver(upsert(before))
    assert sorted(world.embedder.asked) == sorted(set(before))
    kept = points(world, "a")
    world.embedder.asked.clear()
    result = world.deliver(upsert(after, 2))
    assert sorted(world.embedder.asked) == sorted(set(after) - set(before))
    common = sum(min(before.count(word), after.count(word)) for word in set(before))
    assert (result.kept, result.removed) == (common, len(before) - common)
    assert len(points(world, "a") & kept) == common
    assert result.kept + result.reused + result.embedded >= len(set(after))
    assert result.tokens_embedded == len(world.embedder.asked)


@given(WORDS)
def test_metadata_permission_and_the_same_again_embed_nothing(registry, memory_store, tenants, words):
    """New titles and permissions change rows and stamps, never points; a redelivery changes nothing at all."""
    world = World(registry, memory_store, next(tenants))
    world.deliver(upsert(words))
    before = points(world, "a")
    world.embedder.asked.clear()
    result = world.deliver(upsert(words, 2, title="renamed", metadata={"team": "two"}))
    assert (result.outcome, result.kept, result.embedded, result.reused) == (Outcome.APPLIED, len(words), 0, 0)
    world.deliver(upsert(words, 2, title="renamed", metadata={"team": "two"}))
    permission = upsert(words, 3, op=Op.ACL, version=2, content=None, acl=ACLS[1], event_id="acl")
    assert world.control(permission) is False
    assert world.embedder.asked == []
    assert points(world, "a") == before
    assert all(fields["allow_0"] == ["user:ana"] for fields in memory_store_fields(world, "a"))


def memory_store_fields(world, doc):
    """The copied fields of a document's points."""
    return [world.store.fields[point] for point in points(world, doc)]


@given(WORDS, st.booleans())
def test_a_move_embeds_nothing_and_leaves_no_point(registry, memory_store, tenants, words, control_first):
    """The new id takes its vectors from the old one's points, which go when its event has ended."""
    world = World(registry, memory_store, next(tenants))
    world.deliver(upsert(words))
    world.embedder.asked.clear()
    moved = upsert(words, 2, doc="b", previous_doc_id="a")
    if control_first:
        world.control(moved)
        assert [hit for hit in world.search(READERS[1]) if hit.key.doc_id == "a"] == [], "hidden at once"
        assert world.store.present(world.key("a")), "its points wait"
    result = world.process(moved)
    assert world.embedder.asked == []
    assert (result.embedded, result.reused) == (0, len(set(words)))
    assert world.store.present(world.key("a")) == {}
    row = world.registry.row(world.key("a"))
    assert (row.moved_to, row.hold, row.deleted) == ("b", False, True)
    assert [line.op for line in world.registry.history(world.key("a"))] == ["upsert", "move"]


@given(WORDS)
def test_a_delete_leaves_no_point_and_the_way_back_is_new_points(registry, memory_store, tenants, words):
    """Deleted: 0 points. Back again: searchable, with points that no late prune of the old ones can hit."""
    world = World(registry, memory_store, next(tenants))
    world.deliver(upsert(words))
    before = points(world, "a")
    assert world.deliver(upsert(words, 2, op=Op.DELETE, content=None)).removed == len(words)
    assert world.store.present(world.key("a")) == {}
    world.deliver(upsert(words, 3))
    assert points(world, "a").isdisjoint(before)
    world.store.prune(world.key("a"), 2, frozenset())
    assert sorted(hit.text for hit in world.search(READERS[0])) == sorted(words)


@given(WORDS.filter(lambda words: len(words) > 3), st.integers(1, 30))
def test_what_a_crash_left_is_not_embedded_again(registry, memory_store, tenants, words, where):
    """A publish cut short anywhere and delivered again asks for at most one batch twice."""
    world = World(registry, memory_store, next(tenants))
    run_crashed(world, upsert(words), where)
    extra = len(world.embedder.asked) - len(set(words))
    assert 0 <= extra <= 2
    assert sorted(hit.text for hit in world.search(READERS[0])) == sorted(words)
    assert [line.event_id for line in world.registry.history(world.key("a"))] == ["a1"]


def run_crashed(world, event, where):
    """Deliver an event, crash at passage `where`, deliver it again."""
    world.gate.plan(where, crash)
    try:
        world.deliver(event)
    except Crash:
        world.deliver(event)
    world.gate.clear()


@given(WORDS, st.data())
def test_lost_points_are_found_and_come_back(registry, memory_store, tenants, words, data):
    """A store that lost points: converge names them, and the same event again brings them back, embedding no others."""
    world = World(registry, memory_store, next(tenants))
    world.deliver(upsert(words))
    lost = data.draw(st.sets(st.sampled_from(sorted(points(world, "a"))), min_size=1))
    for point in lost:
        memory_store.lose(point)
    assert world.publisher.converge(world.key("a")).missing == {PIPELINE: tuple(sorted(lost))}
    world.embedder.asked.clear()
    world.deliver(upsert(words))
    assert len(world.embedder.asked) <= len(lost)
    assert world.publisher.converge(world.key("a")).missing == {}
    assert sorted(hit.text for hit in world.search(READERS[0])) == sorted(words)


@given(histories(max_size=8), st.integers(0, 2**32))
def test_every_hit_knows_where_it_comes_from(registry, memory_store, tenants, events, seed):
    """L8: source, version, place, parser, chunker, prefixer, model and freshness, for every hit of every history."""
    world = World(registry, memory_store, next(tenants))
    run_history(world, events, random.Random(seed), DOCS, searches=False)
    for who in READERS:
        asker = Asker(tenant=world.tenant, principals=who)
        moment = registry.snapshot(PIPELINE, [hit.point_id for hit in world.search(who)], asker=asker)
        for found in moment.live.values():
            assert found.row.key.source == "s"
            assert found.row.version >= 1
            assert found.row.lineage.keys() == {"parser", "chunker", "prefixer", "model"}
            assert found.row.received_at is not None
            assert found.row.searchable_at < moment.as_of
            first = min(e.ordinal for e in entries_of(world, found) if e.child == found.entry.child)
            assert found.entry.page == found.entry.ordinal - first + 1
            assert (found.entry.child is None) or found.entry.child in {child.name for child in found.row.children}
            assert found.entry.spans
            assert (found.row.stale_since is None) == (found.row.failed_version < found.row.version)


def entries_of(world, found):
    return world.registry.manifest(found.row.key, PIPELINE).entries


@given(WORDS, WORDS)
def test_a_part_under_another_name_or_in_another_document_embeds_nothing(
    registry, memory_store, tenants, words, inside
):
    """Renamed, sent again with other words, beside a new part: only what nobody has seen is embedded."""
    world = World(registry, memory_store, next(tenants))
    world.deliver(upsert(words, inside=(("a.pdf", inside),)))
    assert sorted(world.embedder.asked) == sorted({*words, *inside})
    kept = points(world, "a")
    world.embedder.asked.clear()
    assert world.deliver(upsert(words, 2, inside=(("b.pdf", inside),))).kept == len(words)
    world.deliver(upsert(words, 3, inside=(("b.pdf", inside), ("c.txt", ("new",)))))
    assert world.embedder.asked == ["new"]
    assert len(points(world, "a") & kept) == len(words)
    world.deliver(upsert(("more",), 4, doc="b", inside=(("else.pdf", inside),)))
    assert world.embedder.asked == ["new", "more"]
    assert sorted(hit.text for hit in world.search(READERS[0]) if hit.key.doc_id == "b") == sorted(("more", *inside))


def test_erased_words_leave_the_registry(registry, memory_store, tenants):
    """After an erase the row is a fence, its history the erasure alone, and an older event brings nothing back."""
    world = World(registry, memory_store, next(tenants))
    world.deliver(upsert(("w1", "w2"), 5, title="secret", inside=(("secret.pdf", ("w3",)),)))
    world.deliver(upsert((), 6, op=Op.ERASE, content=None, event_id="erase"))
    assert world.deliver(upsert(("w1",), 4, event_id="late")).outcome is Outcome.SUPERSEDED
    row = world.registry.row(world.key("a"))
    assert (row.title, row.rank, row.metadata, row.version, row.children) == (None, 2, {}, 6, ())
    assert [line.op for line in world.registry.history(world.key("a"))] == ["erase"]
    assert world.store.present(world.key("a")) == {}


def test_a_sweep_finishes_what_a_crash_left(registry, memory_store, tenants):
    """Orphans of a publish that never came back go with a fenced sweep, and a hold whose move ended is released."""
    world = World(registry, memory_store, next(tenants))
    world.deliver(upsert(("w1", "w2", "w3")))
    world.gate.plan_once(lambda: len(world.store.present(world.key("a"))) > 3, crash)
    with pytest.raises(Crash):
        world.process(upsert(("w4", "w5", "w6"), 2))
    world.gate.clear()
    listed = points(world, "a")
    swept = world.publisher.sweep(fence=True)
    assert world.key("a") not in swept.missing
    assert set(world.store.present(world.key("a"))) == points(world, "a") == listed
    held = msgspec.structs.replace(world.registry.row(world.key("a")), hold=True, moved_to="b", deleted=True, rank=1)
    assert registry.commit(held, expected_rev=held.rev)
    world.deliver(upsert(("w1",), 9, doc="b"))
    world.publisher.sweep()
    assert not registry.row(world.key("a")).hold
    assert world.store.present(world.key("a")) == {}
