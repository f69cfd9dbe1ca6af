"""A Qdrant server that fails now and then, before or after it has done what was asked: who tries again ends the same."""

import random

import pytest

from lake_samples import ALL_MAY, DIM, key, point, query, vectors
from qdrant_double import Double
from qdrant_stub import CUT, HANGS_UP, OK, refusal, served
from upwell.access import payload_of
from upwell.errors import Retryable
from upwell.lake.store.qdrant import QdrantStore
from upwell.records import Acl

GROUP = Acl(levels=(frozenset({"group:eng"}),))
NOTED = (200, OK | {"result": {"operation_id": 1, "status": "acknowledged"}})
BUSY = (429, refusal("Rate limiting exceeded: Write rate limit exceeded"))
BROKEN = (500, refusal("Service internal error: 1 of 1 read operations failed"))
AWAY = (503, refusal("Shard temporarily unavailable"))
FAILURES = [(False, BUSY), (False, AWAY), *((done, how) for done in (False, True) for how in (HANGS_UP, CUT, BROKEN))]


@pytest.fixture
def untroubled():
    store = QdrantStore(":memory:", collection="lake", dim=DIM)
    yield store
    store.close()


def until_done(step, tries):
    """What the step returns once it succeeds; each failure is counted and must say that another try may."""
    while True:
        try:
            return step()
        except Retryable:
            tries.append(step)


def history(store, run):
    """What a few publishes do to a store, and what it holds then."""
    old, new = [point("a", n, acl=GROUP, text=f"old {n}") for n in range(5)], [point("a", 7, born=2, text="new")]
    run(lambda: store.insert([*old, point("b")]))
    run(lambda: store.insert([point("a", 0, text="redelivered", given=vectors(9))]))
    run(lambda: store.insert(new))
    run(lambda: store.stamp(key("a"), 3, payload_of(ALL_MAY)))
    run(lambda: store.prune(key("a"), 1, {old[0].point_id}))
    ids = [p.point_id for p in (*old, *new)]
    hits = run(lambda: store.search(query(limit=9)))
    return (
        run(lambda: store.present(key("a"))),
        run(lambda: store.texts(ids)),
        run(lambda: store.vectors(ids)),
        run(store.count),
        [(hit.point_id, hit.text, round(hit.score, 4)) for hit in hits],
    )


@pytest.mark.parametrize("seed", range(6))
def test_trying_again_ends_as_if_nothing_had_failed(untroubled, seed):
    """Every second request fails, half of them after they have taken effect."""
    rng, tries = random.Random(seed), []
    double = Double(trouble=lambda: rng.choice(FAILURES) if rng.random() < 0.5 else None)
    with served(double) as url:
        store = QdrantStore(url, collection="lake", dim=DIM)
        ended = history(store, lambda step: until_done(step, tries))
        store.close()
    assert ended == history(untroubled, lambda step: step())
    assert ended[0] == {point("a").point_id: 1, point("a", 7, born=2).point_id: 2}
    assert ended[1][point("a").point_id] == "old 0"
    assert tries


def test_a_write_that_was_only_noted_is_asked_for_again_and_does_no_harm():
    """It may take effect between the two, as here."""
    answers, tries = iter([(True, NOTED), None]), []
    double = Double(trouble=lambda: next(answers, None))
    with served(double) as url:
        store = QdrantStore(url, collection="lake", dim=DIM)
        until_done(lambda: store.insert([point("a", text="first")]), tries)
        assert store.texts([point("a").point_id]) == {point("a").point_id: "first"}
        assert store.count() == 1
        store.close()
    assert len(tries) == 1
