"""L3 at its earliest: from the moment a change is bound nothing shows against it, and no store was asked.

What follows is brought to its end by the rest of the control half, in this process or, after a crash, in the next.
"""

import pytest
from strategies import ACLS, READERS, Content
from world import PIPELINE, World

from upwell.records import Acl, ChangeEvent, Inline, Op, Outcome, ParseStatus

ANA, ANYBODY = frozenset({"user:ana"}), frozenset({"user:nobody in particular"})
NARROW = Acl(levels=(ANA,))


def change(number, op=Op.UPSERT, doc="a", **fields):
    """Version `number` of a document, for everybody, unless the fields say otherwise."""
    content = Inline(data=Content(ParseStatus.OK, ("one", "two"), ()).data) if op is Op.UPSERT else None
    fields = {"acl": ACLS[0], "acl_version": number, "version": number, "content": content} | fields
    return ChangeEvent(
        event_id=f"{doc}{number}{op}", tenant="t", source="s", doc_id=doc, op=op, received_at=number, **fields
    )


NARROWED = change(2, Op.ACL, version=1, acl=NARROW)
TAKES_AWAY = {
    "permission": NARROWED,
    "edit": change(2, acl=NARROW),
    "delete": change(2, Op.DELETE),
    "erase": change(2, Op.ERASE),
    "move": change(2, doc="b", previous_doc_id="a"),
}


@pytest.fixture
def world(registry, memory_store, tenants):
    """A lake with one public document."""
    made = World(registry, memory_store, next(tenants))
    made.deliver(change(1))
    assert shown(made) == ["one", "two"]
    return made


def shown(world, who=ANYBODY):
    return sorted(text for doc, text in world.shown(who) if doc == "a")


@pytest.mark.parametrize("event", TAKES_AWAY.values(), ids=TAKES_AWAY.keys())
def test_what_is_bound_is_hidden_before_any_store_has_heard_of_it(world, event):
    before = {point: dict(fields) for point, fields in world.store.fields.items()}
    assert world.bind(event)
    assert world.store.fields == before
    assert shown(world) == []


@pytest.mark.parametrize("event", TAKES_AWAY.values(), ids=TAKES_AWAY.keys())
@pytest.mark.parametrize("crash", [False, True])
def test_the_stores_follow_what_is_bound_and_the_event_ends_applied(world, event, crash):
    """After a crash nobody knows any more that it was bound; the end is the same."""
    assert world.bind(event)
    if world.control(event, bound=not crash):
        world.process(event)
    assert world.outcomes[event.event_id].outcome is Outcome.APPLIED
    assert [line.outcome for line in world.registry.history(world.key(event.doc_id))][-1] is Outcome.APPLIED
    world.check_rest(("a", "b"), (*READERS, ANYBODY))
    live = [entry.point_id for entry in world.registry.manifest(world.key("a"), PIPELINE).entries]
    assert all(world.store.fields[point]["allow_0"] == ["user:ana"] for point in live)


def test_a_bound_delete_says_how_much_it_took_away(world):
    event = TAKES_AWAY["delete"]
    assert world.bind(event)
    assert world.control(event, bound=True) is False
    assert world.outcomes[event.event_id].removed == 2


def test_nothing_is_bound_twice_and_nothing_late(world):
    assert world.bind(NARROWED)
    assert not world.bind(NARROWED)
    assert not world.bind(change(1, Op.ACL))
    assert not world.bind(change(0, Op.DELETE))


def test_an_upsert_without_news_for_those_who_read_binds_nothing(world):
    """Its document is unknown, or its permission is the one that stands."""
    assert not world.bind(change(1, doc="new"))
    assert not world.bind(change(2, acl_version=1))
    assert world.registry.row(world.key("new")) is None


def test_many_are_bound_together_each_on_its_own_account(world):
    """One that comes late binds nothing, and keeps nobody else from it."""
    world.deliver(change(1, doc="b"))
    events = [NARROWED, change(0, Op.DELETE), change(2, Op.DELETE, doc="b"), change(1, doc="new")]
    assert world.publisher.bind_all([world.ours(event) for event in events]) == [True, False, True, False]
    assert world.shown(ANYBODY) == []
