"""L1 converge, L2 no resurrection, L3 no leak, L4 whole documents, L5 no loss: one storm of histories against an oracle."""

import random

from hypothesis import given
from hypothesis import strategies as st
from strategies import DOCS, histories
from world import World, run_history

SEARCHES_A_RUN = 2000


def test_a_storm_of_histories_leaks_loses_and_mixes_nothing(registry, memory_store, tenants):
    """Whatever the order, the duplicates, the crashes and the rivals: each search shows what it must and no more, and
    two runs of one history end in the same lake."""
    searches = 0

    @given(histories(), st.integers(0, 2**32))
    def storm(events, seed):
        nonlocal searches
        states = []
        for run in range(2):
            world = World(registry, memory_store, next(tenants))
            run_history(world, events, random.Random(seed + run), DOCS)
            world.check_rest(DOCS)
            assert world.outcomes.keys() == {event.event_id for event in events}
            states.append(world.state(DOCS))
            searches += world.searches
        assert states[0] == states[1]

    while searches < SEARCHES_A_RUN:
        storm()
