"""The same laws on the real stores: Qdrant's local mode here, Qdrant Edge (a child process) under `integration`."""

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import DOCS, histories
from world import DIM, World, run_history

from upwell.lake.store.edge import EdgeStore
from upwell.lake.store.qdrant import QdrantStore


@pytest.fixture(scope="module")
def qdrant():
    store = QdrantStore(":memory:", collection="laws", dim=DIM)
    yield store
    store.close()


@pytest.fixture(scope="module")
def edge(tmp_path_factory):
    store = EdgeStore(tmp_path_factory.mktemp("edge") / "shard", dim=DIM)
    yield store
    store.close()


def storm(registry, store, tenants, enough):
    """Histories with crashes and rivals on this store, until the oracle has checked `enough` searches."""
    searches = 0

    @given(histories(max_size=8), st.integers(0, 2**32))
    def run(events, seed):
        nonlocal searches
        world = World(registry, store, next(tenants))
        run_history(world, events, random.Random(seed), DOCS)
        world.check_rest(DOCS)
        searches += world.searches

    while searches < enough:
        run()


def test_the_laws_hold_on_qdrants_local_mode(registry, qdrant, tenants):
    """A few histories: the local mode is slow."""
    storm(registry, qdrant, tenants, 300)


@pytest.mark.integration
@pytest.mark.timeout(900)
def test_the_laws_hold_on_edge(registry, edge, tenants):
    """Two thousand searches against the oracle, the shard in its own process."""
    storm(registry, edge, tenants, 2000)
