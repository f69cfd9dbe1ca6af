"""The governed search: no leak whatever moves between the store's answer and the registry's, and no lost right."""

import itertools
import random
from collections.abc import Callable

import msgspec
import pytest

from lake_samples import ALL_MAY, DIM, PRINCIPALS, key, point, query, random_acl, random_reader, vectors
from upwell.access import EVERYONE, Asker, admits, payload_of, reader
from upwell.clock import now_us
from upwell.errors import Misconfigured
from upwell.lake.registry import SqlRegistry
from upwell.lake.store.qdrant import QdrantStore
from upwell.ports import DocumentRow, Manifest, ManifestEntry, MissingAcl, PendingAcl
from upwell.records import Acl, Kind, Membership
from upwell.search.govern import MOST_HITS, Reading, governed_search

PIPELINE = "pipeline-1"
ONLY_ENG = Acl(levels=(frozenset({"group:eng"}),))
NOBODY = Acl()


class SmallLake:
    """A registry and a store, written step by step, so that a test may stop between any two."""

    def __init__(self, folder):
        self.registry = SqlRegistry.at(folder / "registry.sqlite")
        self.store = QdrantStore(":memory:", collection="lake", dim=DIM)

    def insert(self, name, chunks=1, *, acl=ALL_MAY, born=1, first=0, tenant="default", source="wiki"):
        """Points alone: a publish before its moment of truth."""
        fresh = [
            point(name, n, acl=acl, born=born, tenant=tenant, source=source, given=vectors((name, n, born), tokens=2))
            for n in range(first, first + chunks)
        ]
        self.store.insert(fresh)
        return fresh

    def commit(self, points, *, acl=ALL_MAY, generation=1, **changes):
        """The registry's word on a document: these points live, this permission."""
        of = points[0].key
        old = self.registry.row(of) or DocumentRow(key=of)
        row = msgspec.structs.replace(old, version=generation, acl=acl, **changes)
        entries = tuple(
            ManifestEntry(
                point_id=p.point_id,
                chunk_key=p.chunk_key,
                embed_key=p.embed_key,
                ordinal=n,
                born=p.born,
                tokens=2,
                text_hash="",
                kind=Kind.PARAGRAPH,
            )
            for n, p in enumerate(points)
        )
        manifests = {PIPELINE: Manifest(generation=generation, entries=entries)}
        assert self.registry.commit(row, expected_rev=old.rev, manifests=manifests)

    def publish(self, name, chunks=1, *, acl=ALL_MAY, stored_acl=None, **rest):
        points = self.insert(name, chunks, acl=acl if stored_acl is None else stored_acl, **rest)
        self.commit(points, acl=acl)
        return points

    def change(self, name, **changes):
        """The registry alone moves; the store still has the old copies."""
        row = self.registry.row(key(name))
        assert self.registry.commit(msgspec.structs.replace(row, **changes), expected_rev=row.rev)

    def search(self, *who, k=5, tenant="default", sources=frozenset(), store=None, seed=0, acl_max_age_us=None):
        asker = Asker(tenant=tenant, principals=reader(*who))
        reading = Reading(asker=asker, sources=sources, acl_max_age_us=acl_max_age_us)
        return governed_search(
            query(seed=seed).vectors,
            reading,
            k,
            registry=self.registry,
            store=store or self.store,
            pipeline=PIPELINE,
        )

    def seen(self, *who, **rest):
        return [hit.chunk.row.key.doc_id for hit in self.search(*who, **rest).admitted]


@pytest.fixture
def lake(tmp_path):
    lake = SmallLake(tmp_path)
    yield lake
    lake.store.close()
    lake.registry.close()


class Between:
    """A store that lets something happen after each of its answers, before anybody has checked them."""

    def __init__(self, store, happen: Callable[[int], None]):
        self._store, self._happen = store, happen
        self.queries = []

    def search(self, asked):
        hits = self._store.search(asked)
        self.queries.append(asked)
        self._happen(len(self.queries))
        return hits


def once(action):
    return lambda turn: action() if turn == 1 else None


def test_hits_are_the_store_s_best_in_its_order(lake):
    """With nothing to refuse, the answer is the store's, and one question is enough."""
    for n in range(8):
        lake.publish(f"doc-{n}")
    watched = Between(lake.store, lambda turn: None)
    governed = lake.search(k=3, store=watched)
    assert [hit.hit for hit in governed.admitted] == lake.store.search(query(limit=3))
    assert len(watched.queries) == 1
    assert governed.as_of > 0


def test_a_revoked_document_is_gone_at_once_and_its_places_are_filled(lake):
    """The store's copies still admit; the registry does not. k others fill the answer."""
    for n in range(12):
        lake.publish(f"doc-{n}", acl=ALL_MAY)
    best = lake.seen(k=4)
    for name in best:
        lake.change(name, acl=ONLY_ENG)
    after = lake.seen(k=4)
    assert len(after) == 4
    assert not set(after) & set(best)
    assert set(lake.seen("group:eng", k=12)) == {f"doc-{n}" for n in range(12)}


def test_a_revocation_between_store_and_check_is_obeyed(lake):
    """The race itself: the store has answered, then the permission goes, then the answer is checked."""
    for n in range(6):
        lake.publish(f"doc-{n}")
    best = lake.seen(k=2)
    race = Between(lake.store, once(lambda: [lake.change(name, acl=NOBODY) for name in best]))
    after = [hit.chunk.row.key.doc_id for hit in lake.search(k=2, store=race).admitted]
    assert len(after) == 2
    assert not set(after) & set(best)
    assert race.queries[1].exclude_documents == {key(name) for name in best}


def test_what_an_earlier_round_admitted_is_checked_again_at_the_end(lake):
    """A second round's snapshot covers the first round's hits: a revocation between the two is obeyed."""
    for n in range(6):
        lake.publish(f"doc-{n}")
    first, second, *_ = lake.seen(k=6)

    def happen(turn):
        lake.change(first if turn == 1 else second, acl=NOBODY)

    race = Between(lake.store, lambda turn: happen(turn) if turn <= 2 else None)
    after = [hit.chunk.row.key.doc_id for hit in lake.search(k=3, store=race).admitted]
    assert len(race.queries) == 2
    assert len(after) == 3
    assert not {first, second} & set(after)


def test_unpublished_points_are_not_shown(lake):
    """Points in the store before the registry's transaction, or of a publish that never ended, do not exist."""
    lake.insert("draft", 3)
    lake.publish("doc")
    assert lake.seen(k=4) == ["doc"]


def test_old_points_that_wait_to_be_pruned_are_not_shown(lake):
    """One version at a time: the old generation's points stay in the store and out of the answer."""
    old = lake.publish("doc", 3)
    new = lake.insert("doc", 2, born=2, first=10)
    lake.commit([old[0], *new], generation=2)
    shown = {hit.hit.point_id for hit in lake.search(k=10).admitted}
    assert shown == {old[0].point_id, *(p.point_id for p in new)}


def test_an_edit_during_a_search_loses_the_document_for_nobody(lake):
    """The store answered with version 1; version 2 is published and 1 pruned before the check: 2 is found."""
    old = lake.publish("doc", 2)

    def edit():
        new = lake.insert("doc", 2, born=2, first=10)
        lake.commit(new, generation=2)
        lake.store.prune(key("doc"), 2, {p.point_id for p in new})

    shown = [hit.hit for hit in lake.search(k=5, store=Between(lake.store, once(edit))).admitted]
    assert {hit.chunk_key for hit in shown} == {"chunk-10", "chunk-11"}
    assert not {hit.point_id for hit in shown} & {p.point_id for p in old}


def test_a_publish_between_two_rounds_shows_one_whole_version(lake):
    """Points refused as not yet live in the first round are shown when they are by the last one; the old are not."""
    old = lake.publish("doc", 2)
    new = lake.insert("doc", 2, born=2, first=10)
    stale = lake.insert("never", 1)
    watched = Between(lake.store, lambda turn: lake.commit(new, generation=2) if turn == 2 else None)
    shown = {hit.hit.point_id for hit in lake.search(k=5, store=watched).admitted}
    assert len(watched.queries) >= 2
    assert shown == {p.point_id for p in new}
    assert not shown & {p.point_id for p in (*old, *stale)}


def test_an_endless_stream_of_edits_does_not_hold_a_search(lake):
    """Each answer of the store is stale by the time it is checked: the search ends all the same, without a leak."""
    lake.publish("doc", 1)
    generation = [1]

    def edit(_turn):
        generation[0] += 1
        new = lake.insert("doc", 1, born=generation[0], first=generation[0])
        lake.commit(new, generation=generation[0])
        lake.store.prune(key("doc"), generation[0], {p.point_id for p in new})

    race = Between(lake.store, edit)
    assert lake.search(k=3, store=race).admitted == ()
    assert len(race.queries) <= 5


def test_a_deleted_document_is_gone_before_its_points_are(lake):
    """A tombstone hides at once."""
    lake.publish("doc")
    lake.change("doc", deleted=True)
    assert lake.seen() == []


def test_pending_permissions_narrow_at_once(lake):
    """Until the content has come, old and new permission must both admit."""
    lake.publish("doc", acl=ONLY_ENG)
    public = PendingAcl(acl=ALL_MAY, acl_version=2, version=9)
    lake.change("doc", pending=(public,))
    assert lake.seen() == []
    assert lake.seen("group:eng") == ["doc"]
    lake.change("doc", pending=(PendingAcl(acl=Acl(levels=(frozenset({"user:ana"}),)), acl_version=3, version=9),))
    assert lake.seen("group:eng") == []
    assert lake.seen("group:eng", "user:ana") == ["doc"]


def test_a_permission_unknown_for_too_long_hides_from_everybody(lake):
    """The last known one holds until then; the places are filled by others."""
    for n in range(6):
        lake.publish(f"doc-{n}")
    since = now_us() - 60_000_000
    best, second = lake.seen(k=2)
    lake.change(best, acl_missing=(MissingAcl(acl_version=3, since=since),))
    lake.change(second, acl_missing=(MissingAcl(acl_version=3, since=since + 59_000_000),))
    assert best in lake.seen(k=6)
    assert set(lake.seen(k=6, acl_max_age_us=10**9)) == {f"doc-{n}" for n in range(6)}
    shown = lake.seen(k=5, acl_max_age_us=30_000_000)
    assert set(shown) == {f"doc-{n}" for n in range(6)} - {best}


def test_more_levels_than_the_payload_holds_are_all_checked(lake):
    """The third of four levels is in no payload; the registry holds it."""
    levels = tuple(frozenset({name}) for name in ("group:a", "group:b", "group:c", "group:d"))
    lake.publish("doc", acl=Acl(levels=levels))
    assert lake.seen("group:a", "group:b", "group:d") == []
    assert lake.seen("group:a", "group:b", "group:c", "group:d") == ["doc"]


def test_the_wrong_tenant_s_point_is_refused_even_if_a_store_returns_it(lake):
    """The tenant is checked against the registry, not taken from the store."""
    lake.publish("doc", tenant="theirs")

    class Careless(Between):
        def search(self, asked):
            return super().search(msgspec.structs.replace(asked, tenant="theirs"))

    assert lake.seen(tenant="ours", store=Careless(lake.store, lambda turn: None)) == []
    assert lake.seen(tenant="theirs") == ["doc"]


def test_sources_are_checked_too(lake):
    """A search of one source shows no other's."""
    lake.publish("doc", source="wiki")
    lake.publish("doc", source="mail")
    shown = lake.search(sources=frozenset({"mail"})).admitted
    assert [hit.chunk.row.key.source for hit in shown] == ["mail"]


def test_a_store_that_ignores_exclusions_cannot_hold_a_search(lake):
    """Nothing new is refused, so asking again is given up."""
    lake.insert("draft", 5)

    class Deaf(Between):
        def search(self, asked):
            return super().search(msgspec.structs.replace(asked, exclude_points=frozenset(), limit=asked.limit))

    deaf = Deaf(lake.store, lambda turn: None)
    assert lake.search(k=2, store=deaf).admitted == ()
    assert len(deaf.queries) <= 6


def test_many_stale_points_before_the_first_live_one(lake):
    """150 points that wait to be pruned stand before a live one; a handful of rounds finds it."""
    lake.insert("gone", 150)
    lake.publish("doc")
    watched = Between(lake.store, lambda turn: None)
    assert [hit.chunk.row.key.doc_id for hit in lake.search(k=1, store=watched).admitted] == ["doc"]
    assert len(watched.queries) <= 9


@pytest.mark.parametrize("k", [0, -1, MOST_HITS + 1])
def test_k_is_bounded(lake, k):
    """1 to 100."""
    with pytest.raises(Misconfigured, match="1 to 100"):
        lake.search(k=k)


def test_no_leak_and_no_lost_right_in_random_races(lake):
    """100 searches over random permissions; some change in the registry alone, before and between. The answer equals
    the oracle that knows the registry at the end of each search: everything admitted, nothing else."""
    rng = random.Random(11)
    names = [f"doc-{n}" for n in range(25)]
    for name in names:
        lake.publish(name, acl=random_acl(rng, most_levels=5), stored_acl=Acl(levels=(frozenset({EVERYONE}),)))

    def shake(_turn):
        if rng.random() < 0.5:
            lake.change(rng.choice(names), acl=random_acl(rng, most_levels=5))

    leaks = lost = 0
    for _ in range(100):
        who = random_reader(rng)
        shown = set(lake.seen(*who, k=50, store=Between(lake.store, shake)))
        allowed = {name for name in names if admits(lake.registry.row(key(name)).effective_acl, who)}
        leaks += len(shown - allowed)
        lost += len(allowed - shown)
    assert (leaks, lost) == (0, 0)


def test_stale_copies_that_are_too_narrow_are_all_that_hides(lake):
    """A grant waits for the payloads (DESIGN.md): once stamped, it is seen."""
    lake.publish("doc", acl=ALL_MAY, stored_acl=ONLY_ENG)
    assert lake.seen() == []
    lake.store.stamp(key("doc"), 2, payload_of(ALL_MAY))
    assert lake.seen() == ["doc"]


def join(lake, version, *groups, user="user:ana", **more):
    """What the directory says of a user from now on."""
    said = Membership(tenant="default", principal=user, version=version, member_of=frozenset(groups), **more)
    assert lake.registry.directory.put(said)


def test_leaving_a_group_during_a_search_is_obeyed(lake):
    """The store was asked as a member; the answer is checked as none. Others fill the places."""
    join(lake, 1, "group:eng")
    for n in range(4):
        lake.publish(f"secret-{n}", acl=ONLY_ENG)
        lake.publish(f"open-{n}")
    race = Between(lake.store, once(lambda: join(lake, 2)))
    assert sorted(lake.seen("user:ana", k=4, store=race)) == [f"open-{n}" for n in range(4)]


def test_a_user_who_is_gone_during_a_search_sees_nothing(lake):
    """Not what everyone sees either."""
    join(lake, 1)
    join(lake, 1, user="user:ben")
    lake.publish("open")
    assert lake.seen("user:ana") == ["open"]
    race = Between(lake.store, once(lambda: join(lake, 2, gone=True)))
    assert lake.seen("user:ana", store=race) == []
    governed = lake.search("user:ana")
    assert governed.admitted == ()
    assert governed.standing.reason == "unknown_user"


def test_joining_a_group_during_a_search_loses_nothing(lake):
    """Every chunk of what may be seen now is found, though the store was asked before."""
    join(lake, 1)
    lake.publish("secret", 3, acl=ONLY_ENG)
    lake.publish("open")
    race = Between(lake.store, once(lambda: join(lake, 2, "group:eng")))
    assert sorted(lake.seen("user:ana", k=10, store=race)) == ["open", "secret", "secret", "secret"]


def test_leaving_a_denied_group_during_a_search_loses_nothing(lake):
    """Who is denied no longer sees it all, though fewer principals ask than before."""
    join(lake, 1, "group:contractors")
    lake.publish("doc", 3, acl=Acl(levels=ALL_MAY.levels, deny=frozenset({"group:contractors"})))
    race = Between(lake.store, once(lambda: join(lake, 2)))
    assert lake.seen("user:ana", k=10, store=race) == ["doc", "doc", "doc"]


def test_what_was_refused_and_is_allowed_again_is_found_whole(lake):
    """Out and in again during one search: no chunk stays excluded by what held for a moment."""
    join(lake, 1, "group:eng")
    lake.publish("secret", 6, acl=ONLY_ENG)
    moves = {1: lambda: join(lake, 2), 2: lambda: join(lake, 3, "group:eng")}
    race = Between(lake.store, lambda turn: moves.get(turn, lambda: None)())
    assert lake.seen("user:ana", k=4, store=race) == ["secret"] * 4


def test_memberships_that_never_rest_do_not_hold_a_search(lake):
    """It ends, and what it shows is allowed as of its end."""
    join(lake, 1)
    lake.publish("secret", 3, acl=ONLY_ENG)

    def turn_about(turn):
        join(lake, turn + 1, *(["group:eng"] if turn % 2 else []))

    race = Between(lake.store, turn_about)
    shown = lake.seen("user:ana", k=10, store=race)
    assert len(race.queries) <= 5
    assert (not shown) == (len(race.queries) % 2 == 0)


def test_random_memberships_that_move_under_searches_leak_and_lose_nothing(lake):
    """Nested groups, deny, up to five levels; each search is held against the registry as it stands at its end."""
    rng = random.Random(23)
    groups = [name for name in PRINCIPALS if name.startswith("group:")]
    users = [name for name in PRINCIPALS if name.startswith("user:")]
    names = [f"doc-{n}" for n in range(20)]
    versions = itertools.count(1)
    for name in names:
        lake.publish(name, acl=random_acl(rng, most_levels=5))
    for name in (*users, *groups):
        join(lake, next(versions), *rng.sample(groups, rng.randint(0, 2)), user=name)

    def shake(turn):
        if turn <= 2 and rng.random() < 0.7:
            name = rng.choice([*users, *groups])
            join(lake, next(versions), *rng.sample(groups, rng.randint(0, 3)), user=name, gone=rng.random() < 0.1)

    wrong = 0
    for _ in range(60):
        user = rng.choice(users)
        shown = set(lake.seen(user, k=50, store=Between(lake.store, shake)))
        who = lake.registry.standing(Asker(tenant="default", principals=frozenset({user}))).principals
        wrong += shown != {name for name in names if admits(lake.registry.row(key(name)).effective_acl, who)}
    assert wrong == 0


def test_a_reader_in_thousands_of_groups_asks_the_store_for_those_that_matter(lake):
    """The filter holds what permissions name, levels and deny; the check holds them all."""
    crowd = frozenset(f"group:{n}" for n in range(4000, 9000))
    mine = [f"group:{n}" for n in range(5000)]
    levels = tuple(frozenset({name}) for name in ("group:1", "everyone", "group:2", "group:3", "group:4", "group:5"))
    lake.publish("deep", acl=Acl(levels=levels))
    lake.publish("deep-without", acl=Acl(levels=(*levels[:3], frozenset({"group:9999"}), *levels[3:])))
    lake.publish("wide", acl=Acl(levels=(crowd,)))
    lake.publish("denied", acl=Acl(levels=ALL_MAY.levels, deny=crowd))
    lake.publish("theirs", acl=Acl(levels=(frozenset({"group:7"}),)), tenant="theirs")
    watched = Between(lake.store, lambda turn: None)
    assert sorted(lake.seen(*mine, store=watched)) == ["deep", "wide"]
    named = {"everyone", *(f"group:{n}" for n in (1, 2, 3, 4, 5, *range(4000, 5000)))}
    assert all(asked.reader == named for asked in watched.queries)
    lake.publish("new", acl=Acl(levels=(frozenset({"group:77"}),)))
    assert sorted(lake.seen(*mine)) == ["deep", "new", "wide"]
    lake.change("new", acl=Acl(levels=ALL_MAY.levels, deny=frozenset({"group:78"})))
    assert sorted(lake.seen(*mine)) == ["deep", "wide"]
