"""The same laws on the real stores: Qdrant's local mode here; under `integration` Qdrant Edge (a child process), and a
server where there is one."""

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from strategies import DOCS, histories
from test_laws_threads import race
from world import DIM, World, run_history

from qdrant_servers import SERVERS, fresh_store
from upwell.lake.store.edge import EdgeStore
from upwell.lake.store.qdrant import QdrantStore

EDGE = pytest.param("edge", marks=pytest.mark.integration)
SEARCHES = {"qdrant": 300, "edge": 2000, "server": 2000}
"""The local mode is slow."""


@pytest.fixture(scope="module", params=["qdrant", EDGE, *SERVERS])
def kind(request):
    return request.param


@pytest.fixture(scope="module")
def store(kind, tmp_path_factory):
    """One store for a module; each world has a tenant of its own."""
    if kind == "server":
        with fresh_store(DIM) as store:
            yield store
        return
    if kind == "edge":
        store = EdgeStore(tmp_path_factory.mktemp("edge") / "shard", dim=DIM)
    else:
        store = QdrantStore(":memory:", collection="laws", dim=DIM)
    yield store
    store.close()


def storm(registry, store, tenants, enough):
    """Histories with crashes and rivals on this store, until the oracle has checked `enough` searches."""
    searches = 0

    @settings(max_examples=8)  # a round; there are as many as it takes
    @given(histories(max_size=8), st.integers(0, 2**32))
    def run(events, seed):
        nonlocal searches
        world = World(registry, store, next(tenants))
        run_history(world, events, random.Random(seed), DOCS)
        world.check_rest(DOCS)
        searches += world.searches

    while searches < enough:
        run()


@pytest.mark.timeout(900)
def test_the_laws_hold_on_every_store(registry, store, kind, tenants):
    """A few histories in the local mode, two thousand searches against the oracle on the others."""
    storm(registry, store, tenants, SEARCHES[kind])


@pytest.mark.timeout(900)
@settings(max_examples=5)
@given(histories(min_size=6), st.integers(0, 2**32))
def test_threads_that_race_on_a_store_end_in_the_same_lake(registry, store, tenants, events, seed):
    """Where calls come at once, as they do not in memory."""
    race(World(registry, store, next(tenants)), events, seed)
