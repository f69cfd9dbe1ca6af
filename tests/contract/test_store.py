"""What every store promises (ports.Store), held against each adapter; against a Qdrant server where there is one."""

import random
import threading

import msgspec
import numpy as np
import pytest

from lake_samples import (
    ALL_MAY,
    DIM,
    key,
    point,
    point_id,
    query,
    random_acl,
    random_reader,
    vectors,
)
from qdrant_double import Double
from qdrant_servers import SERVERS, collections, fresh_store, opened
from qdrant_stub import served
from shared_edge import EdgeServer, SharedEdge
from upwell.access import admits, payload_of
from upwell.errors import Misconfigured, Rejected
from upwell.lake.store import edge_requests as ask
from upwell.lake.store.edge import EdgeStore
from upwell.lake.store.filters import PointFilter
from upwell.lake.store.fusion import lexical
from upwell.lake.store.qdrant import QdrantStore
from upwell.records import Acl

GROUP = Acl(levels=(frozenset({"group:eng"}),))


def qdrant(folder, dim=DIM):
    return QdrantStore(str(folder / "qdrant"), collection="lake", dim=dim)


def edge(folder, dim=DIM):
    return EdgeStore(folder / "edge", dim=dim)


LOCAL = {"qdrant": qdrant, "edge": edge}


@pytest.fixture(scope="module")
def long_lived_edge(tmp_path_factory):
    """One child for many tests: starting it is what costs."""
    store = edge(tmp_path_factory.mktemp("store"))
    yield store
    store.close()


@pytest.fixture(scope="module")
def shared_edge(tmp_path_factory):
    """The store that several processes share in other tests; one client of it."""
    folder = tmp_path_factory.mktemp("shared")
    server = EdgeServer(folder / "s", folder / "points", DIM)
    server.start()
    store = SharedEdge(server.path, DIM)
    yield store
    store.close()
    server.stop()


BESIDES = [pytest.param(name, marks=pytest.mark.integration) for name in ("shared", "http")]


@pytest.fixture(params=["qdrant", "edge", *BESIDES, *SERVERS])
def store(request):
    """An empty store."""
    if request.param == "server":
        with fresh_store(DIM) as store:
            yield store
    elif request.param == "http":
        with served(Double()) as url:
            store = QdrantStore(url, collection="lake", dim=DIM)
            yield store
            store.close()
    elif request.param == "shared":
        yield emptied(request.getfixturevalue("shared_edge"))
    elif request.param == "qdrant":
        store = QdrantStore(":memory:", collection="lake", dim=DIM)
        yield store
        store.close()
    else:
        yield emptied(request.getfixturevalue("long_lived_edge"))


def emptied(store):
    store._ask(ask.Prune(doomed=PointFilter(must=())), int)
    return store


def reopening(open_):
    """Opens the store; opening again closes what was open. `close` closes what is open."""
    kept = []

    def again(**how):
        close()
        kept.append(open_(**how))
        return kept[0]

    def close():
        while kept:
            kept.pop().close()

    return again, close


@pytest.fixture(params=list(LOCAL))
def reopen_folder(request, tmp_path):
    """Opens the store that lies in the test's folder."""
    again, close = reopening(lambda **how: LOCAL[request.param](tmp_path, **how))
    yield again
    close()


@pytest.fixture(params=[*LOCAL, *SERVERS])
def reopen(request, tmp_path):
    """Opens the store of the test, in its folder or on the server."""
    if request.param != "server":
        again, close = reopening(lambda **how: LOCAL[request.param](tmp_path, **how))
        yield again
        close()
        return
    with collections() as named:
        again, close = reopening(lambda dim=DIM: opened(named("store"), dim))
        yield again
        close()


def found(store, *who, **rest):
    return {hit.point_id for hit in store.search(query(who, **rest))}


def test_insert_leaves_an_existing_point_as_it_is(store):
    """A redelivered insert with other content changes nothing."""
    first = point("a", text="first")
    store.insert([first])
    store.insert([point("a", text="second", acl=GROUP, given=vectors(9)), point("a", 1)])
    assert store.texts([first.point_id]) == {first.point_id: "first"}
    assert first.point_id in found(store)
    assert store.count() == 2


def test_insert_twice_in_one_batch_keeps_one(store):
    """The first of two points of one id stays."""
    store.insert([point("a", text="first"), point("a", text="second")])
    assert store.count() == 1


def test_insert_of_nothing_does_nothing(store):
    """No points, no write, no error."""
    store.insert([])
    assert store.count() == 0


def broken_points():
    good = vectors()
    short = np.zeros(DIM - 1, np.float16).tobytes()
    nan = np.full(DIM, np.nan, np.float16).tobytes()
    changed = {
        "short dense": {"dense": short},
        "dense with nan": {"dense": nan},
        "late count": {"late_count": 2},
        "no late": {"late": b"", "late_count": 0},
        "late with nan": {"late": nan, "late_count": 1},
        "repeated term": {"sparse_indices": (1, 1)},
        "unpaired term": {"sparse_values": (1.0,)},
        "negative term": {"sparse_indices": (-1, 2)},
        "infinite weight": {"sparse_values": (float("inf"), 1.0)},
    }
    for name, change in changed.items():
        yield pytest.param(point("bad", given=msgspec.structs.replace(good, **change)), id=name)
    yield pytest.param(point("bad", text="lone \ud800 surrogate"), id="surrogate")


@pytest.mark.parametrize("bad", list(broken_points()))
def test_a_bad_point_is_refused_before_anything_is_written(store, bad):
    """A batch is whole or nothing, wherever its bad point stands."""
    with pytest.raises(Rejected):
        store.insert([point("a"), bad, point("a", 1)])
    assert store.count() == 0


def test_a_boolean_field_is_refused(store):
    """Stores answer filters on booleans wrongly, so none gets in, by insert or by stamp."""
    with pytest.raises(Rejected, match="boolean"):
        store.stamp(key("a"), 1, {"shared": True})


def test_stamp_rewrites_only_older_points(store):
    """A late stamp of an old row revision never undoes a newer one."""
    store.insert([point("a", 0, acl=GROUP, rev=3), point("a", 1, acl=GROUP, rev=5), point("b", 0, acl=GROUP, rev=3)])
    store.stamp(key("a"), 5, payload_of(ALL_MAY))
    assert found(store) == {point("a", 0).point_id}
    store.stamp(key("a"), 4, payload_of(GROUP))
    assert found(store) == {point("a", 0).point_id}
    store.stamp(key("a"), 6, payload_of(GROUP))
    assert found(store) == set()


def test_stamp_replaces_lists_whole(store):
    """A revoked principal is gone, not merged with the new list."""
    store.insert([point("a", acl=Acl(levels=(frozenset({"user:1", "user:2"}),)))])
    store.stamp(key("a"), 2, payload_of(Acl(levels=(frozenset({"user:2"}),))))
    assert found(store, "user:1") == set()
    assert found(store, "user:2") == {point("a").point_id}


def test_stamp_never_moves_a_point_to_another_tenant(store):
    """What identifies a point is no field that a stamp could write."""
    store.insert([point("a")])
    store.stamp(key("a"), 2, {"tenant": "other", "text": "other", "doc": "other", **payload_of(ALL_MAY)})
    assert found(store, tenant="other") == set()
    assert found(store) == {point("a").point_id}
    assert store.texts([point("a").point_id]) == {point("a").point_id: "text of a 0"}


def test_prune_deletes_the_document_s_dead_points_of_old_generations(store):
    """Live points stay, newer points stay, other documents stay; the answer counts what went."""
    old, live, newer = point("a", 0), point("a", 1), point("a", 2, born=2)
    other = point("b", 0)
    store.insert([old, live, newer, other])
    assert store.prune(key("a"), 1, {live.point_id}) == 1
    assert store.present(key("a")) == {live.point_id: 1, newer.point_id: 2}
    assert store.prune(key("a"), 1, {live.point_id}) == 0
    assert store.prune(key("a"), 2, frozenset()) == 2
    assert store.present(key("b")) == {other.point_id: 1}


def test_a_pruned_point_can_be_inserted_again(store):
    """Insert-only looks at what is there, not at what was."""
    store.insert([point("a", text="first")])
    store.prune(key("a"), 1, frozenset())
    store.insert([point("a", text="second")])
    assert store.texts([point("a").point_id]) == {point("a").point_id: "second"}


def test_present_gives_every_point_of_a_long_document(store):
    """More points than a page of the vendor's."""
    points = [point("long", n, given=vectors(0, tokens=1)) for n in range(1100)]
    store.insert(points)
    assert store.present(key("long")) == {p.point_id: 1 for p in points}


def test_texts_and_vectors_of_unknown_points_are_left_out(store):
    """Asking for what is not there is no error."""
    store.insert([point("a")])
    unknown = point_id("unknown")
    assert set(store.texts([point("a").point_id, unknown])) == {point("a").point_id}
    assert set(store.vectors([unknown, point("a").point_id])) == {point("a").point_id}
    assert store.vectors([]) == {}
    assert store.texts([]) == {}


def test_a_point_without_words_keeps_its_vectors(store):
    """A chunk of stopwords or numbers alone has an empty sparse vector, and is found and reused like any other."""
    given = vectors(3, terms=())
    store.insert([point("a", given=given)])
    back = store.vectors([point("a").point_id])[point("a").point_id]
    assert (back.sparse_indices, back.sparse_values, back.late_count) == ((), (), given.late_count)
    assert found(store) == {point("a").point_id}


def unit(packed, dim):
    rows = np.frombuffer(packed, np.float16).astype(np.float32).reshape(-1, dim)
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)


def test_vectors_come_back_in_shape_and_direction(store):
    """The lake's own vectors serve renames and copies: same shape, same directions (late ones within 4 bits)."""
    given = vectors(5, tokens=7, terms=((3, 0.25), (900_000, 2.0)))
    store.insert([point("a", given=given)])
    back = store.vectors([point("a").point_id])[point("a").point_id]
    assert back.late_count == 7
    assert len(back.late) == len(given.late)
    np.testing.assert_allclose(unit(back.dense, DIM), unit(given.dense, DIM), atol=2e-3)
    cosines = (unit(back.late, DIM) * unit(given.late, DIM)).sum(axis=1)
    assert cosines.min() > 0.97
    assert dict(zip(back.sparse_indices, back.sparse_values, strict=True)) == {3: 0.25, 900_000: 2.0}


def test_reused_vectors_do_not_drift(store):
    """A chunk copied from point to point ten times keeps the vectors that its first copy had."""
    store.insert([point("a", 0, given=vectors(5, tokens=7))])
    first = store.vectors([point("a", 0).point_id])[point("a", 0).point_id]
    current = first
    for n in range(1, 11):
        store.insert([point("a", n, given=current)])
        current = store.vectors([point("a", n).point_id])[point("a", n).point_id]
    cosines = (unit(current.late, DIM) * unit(first.late, DIM)).sum(axis=1)
    assert cosines.min() > 0.9999


def test_search_shows_exactly_what_a_reader_may_see(store):
    """100 random readers over 120 random ACLs of 0-3 levels: the store's filter equals the algebra, hit for hit."""
    rng = random.Random(7)
    acls = {n: random_acl(rng) for n in range(120)}
    store.insert([point(f"doc-{n}", n, acl=acl, given=vectors(n, tokens=1)) for n, acl in acls.items()])
    for _ in range(100):
        who = random_reader(rng)
        expected = {point(f"doc-{n}", n).point_id for n, acl in acls.items() if admits(acl, who)}
        assert found(store, *who, limit=200) == expected


def test_of_more_levels_the_filter_holds_the_first_two_and_the_deepest(store):
    """What the payload cannot hold the re-check must: the filter may admit too many, never too few."""
    rng = random.Random(8)
    acls = {n: random_acl(rng, most_levels=6) for n in range(60)}
    store.insert([point(f"doc-{n}", n, acl=acl, given=vectors(n, tokens=1)) for n, acl in acls.items()])
    for _ in range(30):
        who = random_reader(rng)
        expected = {point(f"doc-{n}", n).point_id for n, acl in acls.items() if admits(acl, who)}
        assert found(store, *who, limit=100) >= expected


def test_a_point_without_permissions_is_nobody_s(store):
    """Missing ACL fields fail closed."""
    store.insert([msgspec.structs.replace(point("a"), fields={})])
    assert found(store, "user:1") == set()


def test_a_reader_without_principals_sees_nothing(store):
    """Not even what everyone may see: a reader is always `everyone` too, so none is a caller's mistake."""
    store.insert([point("a")])
    assert store.search(msgspec.structs.replace(query(), reader=frozenset())) == []


def test_tenants_do_not_see_each_other(store):
    """Same source, same document id, same permissions: another tenant's points are not there."""
    store.insert([point("a", tenant="one"), point("a", tenant="two")])
    assert found(store, tenant="one") == {point("a", tenant="one").point_id}
    assert found(store, tenant="three") == set()
    assert store.prune(key("a", "one"), 9, frozenset()) == 1
    assert found(store, tenant="two") == {point("a", tenant="two").point_id}


def test_term_weights_come_from_the_reader_s_tenant_alone(store):
    """How rare a word is elsewhere must not move a tenant's own order: it would tell what others write."""
    store.insert([point("a", n, tenant="one", given=vectors(n, terms=((n % 3, 1.0),))) for n in range(9)])
    asked = query(tenant="one", terms=((0, 1.0), (1, 1.0)))
    before = [(hit.point_id, hit.why.get("sparse")) for hit in store.search(asked)]
    store.insert([point("b", n, tenant="two", given=vectors(n, terms=((0, 1.0),))) for n in range(30)])
    assert [(hit.point_id, hit.why.get("sparse")) for hit in store.search(asked)] == before


def test_how_rare_a_word_is_in_what_a_reader_may_not_see_moves_no_score(store):
    """Or the score of an open page would tell how often its words stand in secret ones."""
    store.insert([point("open", n, given=vectors(n, terms=((1, 1.0), (2, 1.0)))) for n in range(3)])
    asked = query(("user:1",), terms=((1, 1.0), (2, 1.0)))
    before = [(hit.point_id, hit.score, hit.why) for hit in store.search(asked)]
    secret = Acl(levels=(frozenset({"group:board"}),))
    denied = Acl(levels=(frozenset({"everyone"}),), deny=frozenset({"user:1"}))
    for n, acl in enumerate([secret, denied] * 5):
        store.insert([point(f"secret-{n}", n, acl=acl, given=vectors(n, terms=((1, 3.0),)))])
    assert [(hit.point_id, hit.score, hit.why) for hit in store.search(asked)] == before


def test_sources_narrow_a_search(store):
    """Only the named sources, any of them."""
    store.insert([point("a", source=source) for source in ("wiki", "mail", "code")])
    wanted = {point("a", source=source).point_id for source in ("wiki", "code")}
    assert found(store, sources=frozenset({"wiki", "code"})) == wanted


def test_excluded_points_and_documents_make_room_for_the_next(store):
    """What the re-check refused does not take a place, whatever the limit."""
    store.insert([point("a", n) for n in range(3)] + [point("b", n) for n in range(3)])
    without = frozenset({point("a", 0).point_id, point("b", 0).point_id})
    assert found(store, exclude_points=without, limit=4, prefetch=4) == {
        point(name, n).point_id for name in "ab" for n in (1, 2)
    }
    assert found(store, exclude_documents=frozenset({key("a")}), limit=3, prefetch=3) == {
        point("b", n).point_id for n in range(3)
    }


def test_hits_come_best_first_and_say_why(store):
    """A score is the mean MaxSim over the stored tokens and the damped BM25; ranks of both branches are given."""
    inserted = {p.point_id: p for p in (point("a", n, given=vectors(n, tokens=4)) for n in range(20))}
    store.insert(list(inserted.values()))
    asked = query(limit=20)
    hits = store.search(asked)
    assert [hit.score for hit in hits] == sorted((hit.score for hit in hits), reverse=True)
    tokens = np.frombuffer(asked.vectors.late, np.float32).reshape(-1, DIM)
    tokens = tokens / np.linalg.norm(tokens, axis=1, keepdims=True)
    for hit in hits:
        maxsim = (tokens @ unit(inserted[hit.point_id].vectors.late, DIM).T).max(axis=1).mean()
        assert hit.why["maxsim"] == pytest.approx(maxsim, abs=0.1)
        assert hit.score == pytest.approx(hit.why["maxsim"] + lexical(hit.why["bm25"]))
        assert {"dense", "sparse"} <= set(hit.why)
        assert hit.text == inserted[hit.point_id].text
        assert hit.key == key("a")
        assert hit.chunk_key == inserted[hit.point_id].chunk_key
    assert sorted(hit.why["dense"] for hit in hits) == [float(n) for n in range(1, 21)]


def test_a_word_that_stands_in_one_point_alone_finds_it_first(store):
    """Forty points are as near in meaning as the one that has the query's rare word; that one comes first."""
    store.insert([point("a", n, given=vectors(5, tokens=4)) for n in range(40)])
    rare = vectors(5, tokens=4, terms=((1, 1.0), (777, 1.0)))
    store.insert([point("rare", 0, given=rare)])
    first = store.search(query(limit=3, terms=((1, 1.0), (777, 1.0))))[0]
    assert first.key == key("rare")
    assert first.why["bm25"] > 1.0


def test_a_query_of_unknown_words_is_answered_by_meaning(store):
    """No sparse terms at all, or none that the lake has: the dense branch answers alone."""
    store.insert([point("a")])
    assert found(store, terms=()) == {point("a").point_id}
    (hit,) = store.search(query(terms=((77, 1.0),)))
    assert "sparse" not in hit.why


def test_a_query_from_another_model_is_misconfigured(store):
    """Vectors of another size say which setting is wrong, and search nothing."""
    asked = query()
    short = msgspec.structs.replace(asked.vectors, dense=asked.vectors.dense[:-4])
    with pytest.raises(Misconfigured, match="embedder"):
        store.search(msgspec.structs.replace(asked, vectors=short))


def test_an_empty_store_answers(reopen):
    """No points: no hits, no error, and nothing left to vacuum."""
    store = reopen()
    assert store.search(query()) == []
    assert store.present(key("a")) == {}
    store.flush()
    store.vacuum()
    assert store.count() == 0


def test_flushed_writes_are_there_after_reopening(reopen):
    """Points, stamps and prunes."""
    store = reopen()
    store.insert([point("a", 0), point("a", 1), point("b", 0, acl=GROUP)])
    store.prune(key("a"), 1, {point("a", 0).point_id})
    store.stamp(key("b"), 2, payload_of(ALL_MAY))
    store.flush()
    assert found(reopen()) == {point("a", 0).point_id, point("b", 0).point_id}


def test_another_dimension_is_misconfigured(reopen):
    """A lake remembers its model's size."""
    reopen()
    with pytest.raises(Misconfigured, match="numbers"):
        reopen(dim=DIM * 2)


def test_vacuum_leaves_no_deleted_text_in_any_file(reopen_folder, tmp_path):
    """The canary of a pruned point is in no file after vacuum, and live points are untouched."""
    store = reopen_folder()
    canary = "canary-5f1d0c7e-never-again"
    kept = point("kept", text="kept-3b0f77aa-stays")
    store.insert([kept, *(point("gone", n, text=f"{canary} {n}") for n in range(40))])
    store.flush()
    assert files_holding(tmp_path, canary)
    before = store.vectors([kept.point_id])
    store.prune(key("gone"), 1, frozenset())
    store.vacuum()
    assert files_holding(tmp_path, canary) == []
    assert found(store) == {kept.point_id}
    assert store.vectors([kept.point_id]) == before
    assert found(reopen_folder()) == {kept.point_id}
    assert files_holding(tmp_path, canary) == []


def test_writes_after_a_vacuum_still_reach_the_points_from_before(store):
    """A store that lost count of its operations would ignore them as old."""
    store.insert([point("a", n, acl=GROUP) for n in range(4)] + [point("gone", n) for n in range(4)])
    store.prune(key("gone"), 1, frozenset())
    store.vacuum()
    store.stamp(key("a"), 2, payload_of(ALL_MAY))
    assert found(store) == {point("a", n).point_id for n in range(4)}
    assert store.prune(key("a"), 1, {point("a", 0).point_id}) == 3
    assert set(store.present(key("a"))) == {point("a", 0).point_id}
    store.insert([point("gone", 0)])
    assert found(store) == {point("a", 0).point_id, point("gone", 0).point_id}


def test_vacuum_of_a_store_that_lost_all_its_points(reopen_folder, tmp_path):
    """Nothing lives, so nothing is left."""
    store = reopen_folder()
    store.insert([point("gone", n, text=f"canary-77aa {n}") for n in range(5)])
    store.prune(key("gone"), 1, frozenset())
    store.vacuum()
    assert files_holding(tmp_path, "canary-77aa") == []
    store.insert([point("a")])
    assert found(store) == {point("a").point_id}


def files_holding(folder, text):
    files = [path for path in folder.rglob("*") if path.is_file()]
    return [str(path) for path in files if text.encode() in path.read_bytes()]


def test_several_threads_write_and_search_at_once(store):
    """Nothing is lost, nothing is shown twice, nobody fails."""
    failures = []

    def publish(name):
        try:
            for n in range(8):
                store.insert([point(name, n, born=n + 1, given=vectors(n, tokens=1))])
                store.flush()
                store.prune(key(name), n, frozenset())
                assert store.search(query(["user:1"], limit=5))
        except Exception as error:  # noqa: BLE001
            failures.append(error)

    threads = [threading.Thread(target=publish, args=(f"doc-{n}",)) for n in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []
    assert store.count() == 3
    assert all(list(store.present(key(f"doc-{n}")).values()) == [8] for n in range(3))
