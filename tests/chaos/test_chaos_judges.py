"""That the chaos run's judges see what they are there for: each fault, made by hand."""

from collections import Counter, defaultdict
from types import SimpleNamespace

import msgspec
import pytest
from ending import Ending, check_copies, differences
from history import MARK, READERS, TENANTS, Poison, history
from schedule import Blow, planned
from verdict import Verdict, check_costs, check_events, check_lake, check_watch
from watcher import Seen, Watcher

from lake_samples import ALL_MAY, key, point, query
from memory_store import MemoryStore
from upwell.lake.registry import SqlRegistry
from upwell.messages import Ended
from upwell.ports import DocumentRow, Fate, Manifest, ManifestEntry, PendingAcl
from upwell.records import Acl, Kind, Lane, Op, Outcome

ANA = Acl(levels=(frozenset({"user:ana"}),))


def test_a_history_is_of_its_seed_and_of_every_kind():
    """The same again, another for another seed; all operations and lanes, moves, broken content, poison, repeats."""
    past = history(3, 600, 90)
    assert history(3, 600, 90) == past
    assert history(4, 600, 90) != past
    assert len({event.event_id for event in past.events}) == 600
    assert {event.op for event in past.events} == set(Op)
    assert {event.lane for event in past.events} == set(Lane)
    assert {event.tenant for event in past.events} == set(TENANTS)
    assert any(event.previous_doc_id for event in past.events)
    assert past.broken
    assert {one.where for one in past.poison} == {*Lane, "control"}
    sent = [one for one in past.sent if not isinstance(one, Poison)]
    assert set(map(id, past.events)) == set(map(id, sent)), "each event is sent"
    assert max(Counter(event.event_id for event in sent).values()) > 1, "some twice"
    versions = defaultdict(list)
    for event in sent:
        versions[event.key].append(event.version)
    assert any(numbers != sorted(numbers) for numbers in versions.values()), "some out of order"


def test_what_a_version_said_is_what_its_content_holds():
    """The marks that the watchers and the verdict go by."""
    past = history(3, 300, 60)
    for event in past.events:
        if event.op is Op.UPSERT and event.event_id not in past.broken:
            assert past.said[event.key][event.version] == set(MARK.findall(event.content.data.decode()))


def test_a_plan_is_of_its_seed_and_strikes_as_often_as_it_says():
    """Kills and terminations together are the kills; the others beside them; in the order of their places."""
    plan = planned(5, 40, ["a", "b"])
    assert planned(5, 40, ["a", "b"]) == plan
    blows = Counter(one.blow for one in plan)
    assert blows[Blow.KILL] + blows[Blow.TERMINATE] + blows[Blow.STORE] == 40
    assert (blows[Blow.BROKER_KILL], blows[Blow.BROKER_RESTART], blows[Blow.DATABASE], blows[Blow.SLEEP]) == (
        1,
        1,
        1,
        2,
    )
    assert [one.at for one in plan] == sorted(one.at for one in plan)
    assert Counter(one.blow for one in planned(5, 40, ["a"], store=False))[Blow.STORE] == 0


def row(**changes):
    return DocumentRow(key=key("a"), rev=3, version=5, acl=ANA, acl_version=1, **changes)


replace = msgspec.structs.replace


@pytest.fixture
def watcher():
    said = {key("a"): {4: frozenset({"zq00001", "zq00002"}), 5: frozenset({"zq00001", "zq00003"})}}
    return Watcher(1, registry=None, store=None, embedder=None, pipeline="p", said=said)


@pytest.mark.parametrize(
    ("before", "after", "leaks"),
    [
        (row(), row(), False),
        (row(deleted=True), row(deleted=True), True),
        (replace(row(), acl=Acl()), replace(row(), acl=Acl()), True),
        (row(pending=(PendingAcl(acl=Acl(), acl_version=2, version=9),)), None, True),
        (replace(row(), acl=Acl(levels=ANA.levels, deny=frozenset({"everyone"}))), None, True),
        (row(), replace(row(), rev=4, acl=Acl()), False),
        (replace(row(), acl=Acl()), replace(row(), rev=4), False),
        (replace(row(), acl=Acl()), replace(row(), rev=5), False),
    ],
)
def test_a_hit_against_a_right_that_was_effective_is_a_leak(watcher, before, after, leaks):
    """Unless the row moved meanwhile, to or from one that admits."""
    watcher.check_rights(key("a"), READERS[1], before, after or before)
    assert bool(watcher.seen.leaks) is leaks
    assert bool(watcher.seen.unsure) is (after is not None and after.rev > before.rev + 1)


@pytest.mark.parametrize(
    ("shown", "before", "after", "wrong"),
    [
        (["zq00001", "zq00003"], row(), row(), ""),
        (["zq00001"], row(), row(), ""),
        (["zq00002", "zq00003"], row(), row(), "mixed"),
        (["zq00002"], row(), row(), "revived"),
        (["zq00003"], row(deleted=True), replace(row(deleted=True), rev=4), "revived"),
        (["zq00003"], replace(row(), version=4), replace(row(), rev=4), ""),
        (["zq00002"], replace(row(), version=4), replace(row(), rev=4), ""),
        (["zq00003"], replace(row(), version=4), replace(row(), version=4), "revived"),
        (["zq09999"], row(), row(), "mixed"),
    ],
)
def test_words_of_two_versions_or_of_one_left_behind_are_seen(watcher, shown, before, after, wrong):
    """What is shown of a document must be of one version, and of one that could be current."""
    watcher.check_version(key("a"), [f"the {mark} pump" for mark in shown], before, after)
    assert [name for name in ("mixed", "revived") if getattr(watcher.seen, name)] == ([wrong] if wrong else [])


def entry(one):
    return ManifestEntry(
        point_id=one.point_id,
        chunk_key=one.chunk_key,
        embed_key=one.embed_key,
        ordinal=0,
        born=1,
        tokens=3,
        text_hash="h",
        kind=Kind.PARAGRAPH,
    )


@pytest.fixture
def lake(tmp_path):
    """One document of one point, for everybody."""
    registry, store, one = SqlRegistry.at(tmp_path / "registry.sqlite"), MemoryStore(), point("a")
    store.insert([one])
    shared = replace(row(), acl=ALL_MAY, rev=0)
    registry.commit(shared, expected_rev=0, manifests={"p": Manifest(generation=1, entries=(entry(one),))})
    yield registry, store
    registry.close()


def copies(lake):
    found = Ending({}, [], [], [], 0)
    check_copies(found, *lake, "p", readers=READERS[:2], query=query().vectors)
    return found.stale_copies


def test_points_with_rights_that_are_not_their_document_s_are_seen(lake):
    """Too many rights and too few."""
    registry, store = lake
    assert copies(lake) == []
    store.stamp(key("a"), 9, {"acl_n": 0, "allow_0": [], "allow_1": [], "allow_2": [], "deny": []})
    assert len(copies(lake)) == 2
    assert all("lost" in line for line in copies(lake))
    store.stamp(key("a"), 10, {"acl_n": 1, "allow_0": ["everyone"], "allow_1": [], "allow_2": [], "deny": []})
    closed = replace(registry.row(key("a")), acl=Acl())
    registry.commit(closed, expected_rev=closed.rev)
    assert all("leaked" in line for line in copies(lake))
    assert copies(lake)


def ending(*chunks, **changes):
    return Ending({key("a"): (replace(row(), **changes), list(chunks))}, [], [], [], len(chunks))


CHUNK = ("k", "the zq00001 pump", None, 1, (), (), 0)


@pytest.mark.parametrize(
    "other",
    [ending(), ending(CHUNK, CHUNK), ending(CHUNK, version=6), ending(CHUNK, hold=True), Ending({}, [], [], [], 0)],
)
def test_lakes_that_differ_are_seen_to(other):
    """By a chunk, a field of the row, or a whole document."""
    assert differences(ending(CHUNK), ending(CHUNK)) == []
    assert len(differences(ending(CHUNK), other)) == 1
    assert len(differences(other, ending(CHUNK))) == 1


def test_words_that_nobody_wrote_are_seen():
    """The lake's texts are held against the history itself, too."""
    reference = SimpleNamespace(ending=ending(CHUNK))
    for said, good in ((frozenset({"zq00001"}), True), (frozenset({"zq00002"}), False)):
        verdict = Verdict()
        check_lake(verdict, ending(CHUNK), reference, {key("a"): {5: said}})
        assert verdict.good is good


def judged(change):
    """The verdict on three events that ended well, after `change` has had its way with what was found."""
    past = history(1, 40, 10)
    kept = {event.event_id: "applied" for event in past.events}
    ended = {
        event.event_id: [Ended(event=event, fate=Fate(outcome=Outcome.APPLIED), at=1, embedded=1)]
        for event in past.events
    }
    log = SimpleNamespace(ended=ended, dead={}, buried=Counter({("t", 0, 1): 1}))
    change(log, kept)
    verdict = Verdict()
    check_events(verdict, past, [("t", 0, 1)], log, kept)
    check_costs(verdict, log, SimpleNamespace(embedded=20))
    return [
        name for name, count in verdict.counts.items() if count and any(w.startswith(f"{name}:") for w in verdict.wrong)
    ]


def dead(log, kept):
    log.ended["e00001"] = [replace(log.ended["e00001"][0], fate=Fate(outcome=Outcome.DEAD, reason="corrupt"))]
    kept["e00001"] = "dead"


@pytest.mark.parametrize(
    ("change", "found"),
    [
        (lambda log, kept: None, []),
        (lambda log, kept: kept.pop("e00001"), ["missing in the ledger", "ledger and topic disagree"]),
        (lambda log, kept: kept.update(e00001=None), ["missing in the ledger", "ledger and topic disagree"]),
        (lambda log, kept: log.ended.pop("e00001"), ["missing in the topic"]),
        (lambda log, kept: kept.update(e00001="superseded"), ["ledger and topic disagree"]),
        (lambda log, kept: kept.update(e99999="applied"), ["unknown"]),
        (lambda log, kept: log.buried.clear(), ["poison without letter"]),
        (lambda log, kept: log.buried.update({("t", 0, 2): 1}), ["buried without poison"]),
        (dead, ["dead without fault", "dead without letter"]),
        (
            lambda log, kept: log.ended.update(e00001=[replace(log.ended["e00001"][0], embedded=500)]),
            ["embedded too often"],
        ),
    ],
)
def test_events_that_are_lost_or_told_wrong_are_seen(change, found):
    """Counted by id: in the ledger, in the topic, and whether both agree."""
    assert judged(change) == found


def test_what_the_watchers_saw_is_in_the_verdict():
    """One leak is enough."""
    verdict = Verdict()
    check_watch(verdict, Seen(searches=3, leaks=["a to ben"]))
    assert verdict.wrong == ["leaked: a to ben"]
    assert verdict.table("t").row_count == len(verdict.counts)
