"""L1 and L5 with real threads: rivals on the same documents over the real registry file."""

import random
import threading
from concurrent.futures import ThreadPoolExecutor

from hypothesis import given
from hypothesis import strategies as st
from strategies import DOCS, histories
from world import World

from memory_store import MemoryStore
from upwell.errors import Retryable


class LockedStore:
    """A store whose calls come one at a time, as every adapter's do."""

    def __init__(self):
        self._store = MemoryStore()
        self._lock = threading.Lock()

    def __getattr__(self, name):
        call = getattr(self._store, name)

        def locked(*args, **kwargs):
            with self._lock:
                return call(*args, **kwargs)

        return locked


@given(histories(min_size=6), st.integers(0, 2**32))
def test_threads_that_race_end_in_the_same_lake(registry, tenants, events, seed):
    """Four threads deliver every event, a third of them twice, in any order."""
    race(World(registry, LockedStore(), next(tenants)), events, seed)


def race(world, events, seed):
    """Deliver the events from four threads, and hold what stands in the end against the oracle."""
    twice = [*events, *random.Random(seed).sample(events, len(events) // 3)]
    random.Random(seed).shuffle(twice)

    def deliver(event):
        for _ in range(1000):
            try:
                return world.deliver(event)
            except Retryable:  # an erase while others read the registry's log; the engine tries it again, too
                continue
        raise AssertionError("never delivered")

    with ThreadPoolExecutor(4) as pool:
        for delivered in [pool.submit(deliver, event) for event in twice]:
            delivered.result()
    assert world.outcomes.keys() == {event.event_id for event in events}
    world.check_rest(DOCS)
