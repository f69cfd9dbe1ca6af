"""The laws at every single place: a search, a crash or a rival at each passage of publish, one after the other."""

import msgspec
import pytest
from faults import Crash, crash
from strategies import ACLS, DOCS, READERS
from test_laws_cost import upsert
from world import PIPELINE, World

from upwell.records import Op, Outcome, ParseStatus

PUBLIC, ANA_ONLY, NOBODY = ACLS[0], ACLS[1], ACLS[-1]
BEFORE = ("w1", "w2", "w3", "w4")
AFTER = ("w1", "w5", "w2", "w6", "w7")
MOST_PASSAGES = 400

WIDENING_WITH_AN_EDIT = (upsert(BEFORE, 1, acl=ANA_ONLY), upsert(AFTER, 2, acl=PUBLIC))
NARROWING_WITH_AN_EDIT = (upsert(BEFORE, 1), upsert(AFTER, 2, acl=ANA_ONLY))
GROWING = (upsert(BEFORE, 1), upsert((*BEFORE, "w8", "w9"), 2))
FIRST = (upsert(AFTER, 1),)
CARRYING = (upsert(BEFORE, 1, inside=(("x.pdf", ("w1", "w9")),)), upsert(AFTER, 2, inside=(("y.pdf", ("w9", "w8")),)))
REVOKING_WITH_PARTS = (
    upsert(("w1",), 1, inside=(("x.pdf", ("w1", "w9")),)),
    upsert((), 2, op=Op.ACL, version=1, content=None, acl=NOBODY),
)
DELETING_WITH_PARTS = (CARRYING[0], upsert((), 2, op=Op.DELETE, content=None))
REPLACING = (upsert(BEFORE, 1), upsert(("w7", "w8", "w9"), 2))
BLANKING = (upsert(BEFORE, 1), upsert((), 2))
MOVING = (upsert(BEFORE, 1), upsert(AFTER, 2, doc="b", previous_doc_id="a"))
DELETING = (upsert(BEFORE, 1), upsert((), 2, op=Op.DELETE, content=None))
ERASING = (upsert(BEFORE, 1), upsert((), 2, op=Op.ERASE, content=None))
REVOKING = (upsert(BEFORE, 1), upsert((), 2, op=Op.ACL, version=1, content=None, acl=NOBODY))
GRANTING = (upsert(BEFORE, 1, acl=NOBODY), upsert((), 2, op=Op.ACL, version=1, content=None, acl=PUBLIC))
SCENARIOS = {
    name: value
    for name, value in list(globals().items())
    if isinstance(value, tuple) and name not in {"BEFORE", "AFTER"} and hasattr(value[0], "event_id")
}


@pytest.fixture(params=sorted(SCENARIOS))
def scenario(request):
    return SCENARIOS[request.param]


@pytest.fixture
def passages(registry, memory_store, tenants):
    """Worlds with the events before the last already there, one for each passage of the last, until it has no more."""

    def each(events):
        for passage in range(1, MOST_PASSAGES):
            world = World(registry, memory_store, next(tenants))
            for event in events[:-1]:
                world.deliver(event)
            start = world.gate.passed
            yield world, passage
            if world.gate.passed - start < passage:
                return
        raise AssertionError("too many passages")

    return each


def look(world):
    for who in READERS:
        world.check_search(who, DOCS)


def test_a_search_at_any_passage_sees_before_or_after(passages, scenario):
    """Whole old version or whole new one, under the old permission or the new one, at every place."""
    for world, passage in passages(scenario):
        world.gate.plan(passage, lambda world=world: look(world))
        world.deliver(scenario[-1])
        world.gate.clear()
        world.check_rest(DOCS)


def test_a_crash_at_any_passage_is_mended_by_the_next_delivery(passages, scenario):
    """Crash, look, deliver again: nothing is seen by halves meanwhile, and nothing is left behind."""
    for world, passage in passages(scenario):
        world.gate.plan(passage, crash)
        try:
            world.deliver(scenario[-1])
        except Crash:
            look(world)
            world.deliver(scenario[-1])
        world.gate.clear()
        world.check_rest(DOCS)
        doc = scenario[-1].doc_id
        ends = [line.event_id for line in world.registry.history(world.key(doc))]
        assert ends.count(scenario[-1].event_id) == 1, "one line for its end"


@pytest.mark.parametrize(
    "rival",
    [
        upsert(("w2", "w9", "w5"), 3, event_id="newer"),
        upsert((), 3, op=Op.DELETE, content=None, event_id="delete"),
        upsert((), 9, op=Op.ACL, version=1, content=None, acl=ANA_ONLY, event_id="revoke"),
        upsert(AFTER, 2, event_id="twin", acl_version=1, acl=PUBLIC),
        upsert((), 2, op=Op.ERASE, content=None, event_id="erase"),
    ],
    ids=lambda rival: rival.event_id,
)
def test_a_rival_at_any_passage_of_an_edit(passages, rival):
    """Another event of the document runs from start to end inside this one: the lake is what both say."""
    for world, passage in passages(WIDENING_WITH_AN_EDIT):

        def other(world=world):
            world.deliver(rival)
            look(world)

        world.gate.plan(passage, other)
        world.deliver(WIDENING_WITH_AN_EDIT[-1])
        world.gate.clear()
        if rival.event_id in world.outcomes:
            world.check_rest(DOCS)


@pytest.mark.parametrize("within", [1, 2, 3])
def test_a_publish_that_ends_inside_a_search_is_seen_whole(passages, within):
    """The store is asked while half of the points are in, and the rest comes before the re-check."""
    for events in (FIRST, GROWING):
        for world, passage in passages(events):
            world.gate.plan(passage, crash)
            try:
                world.deliver(events[-1])
            except Crash:
                world.gate.plan(within, lambda world=world, event=events[-1]: world.process(event))
                world.check_search(READERS[0], DOCS)
                world.gate.clear()


@pytest.mark.parametrize("status", [None, ParseStatus.CORRUPT])
def test_a_publish_that_gives_up_leaves_no_points(passages, status):
    """Cut short anywhere, then dead-lettered: the last good version stays, stale, and nothing else is in the store."""
    for world, passage in passages(GROWING):
        world.gate.plan(passage, crash)
        event = world.ours(GROWING[-1])
        try:
            world.deliver(event)
        except Crash:
            published = world.registry.row(event.key).version == event.version
            result = world.publisher.fail(event, status, "attempts_exhausted")
            row = world.registry.row(event.key)
            assert result.outcome is (Outcome.APPLIED if published else Outcome.DEAD)
            assert (row.version, row.stale_reason) == ((2, None) if published else (1, "attempts_exhausted"))
            listed = {e.point_id for e in world.registry.manifest(event.key, PIPELINE).entries}
            assert world.store.present(event.key).keys() == listed
        world.gate.clear()


def test_encrypted_hides_and_a_later_good_version_shows(registry, memory_store, tenants):
    """Somebody locked it: its text is gone at once, and comes back with a version that can be read."""
    world = World(registry, memory_store, next(tenants))
    world.deliver(upsert(BEFORE))
    locked = world.ours(upsert(AFTER, 2))
    result = world.publisher.fail(locked, ParseStatus.ENCRYPTED, "encrypted")
    assert result.outcome is Outcome.DEAD
    assert world.search(READERS[0]) == []
    assert registry.row(locked.key).status == "encrypted"
    assert world.store.present(locked.key) == {}
    world.deliver(upsert(AFTER, 3))
    assert sorted(hit.text for hit in world.search(READERS[0])) == sorted(AFTER)


def test_an_erase_vacuums_every_store(registry, memory_store, tenants):
    """Also what an older event brings in afterwards is pruned and vacuumed away."""
    world = World(registry, memory_store, next(tenants))
    vacuumed = []
    memory_store.vacuum = lambda: vacuumed.append(len(memory_store.present(world.key("a"))))
    world.deliver(upsert(BEFORE))
    world.deliver(msgspec.structs.replace(ERASING[-1]))
    assert vacuumed == [0]
    assert world.deliver(upsert(AFTER, 1, event_id="late")).outcome is Outcome.SUPERSEDED
    assert vacuumed[-1] == 0
    assert len(vacuumed) > 1
