"""Profiles and lakes for the laws. HYPOTHESIS_PROFILE=thorough looks longer; `shrink` makes what it finds small."""

import itertools
import os

import pytest
from hypothesis import HealthCheck, Phase, settings
from world import tick

from memory_store import MemoryStore
from upwell.lake.registry import SqlRegistry
from upwell.sqlite import open_sqlite

UNHURRIED = [HealthCheck.too_slow, HealthCheck.function_scoped_fixture, HealthCheck.data_too_large]
QUICK = {"deadline": None, "suppress_health_check": UNHURRIED, "phases": [Phase.explicit, Phase.reuse, Phase.generate]}
settings.register_profile("default", max_examples=25, **QUICK)
settings.register_profile("thorough", max_examples=1000, **QUICK)
settings.register_profile("shrink", deadline=None, max_examples=1000, suppress_health_check=UNHURRIED)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "default"))

TENANTS = itertools.count()


@pytest.fixture(scope="module")
def registry(tmp_path_factory):
    """One registry for a module; each example has a tenant of its own. No fsync: power is not what these tests cut."""
    found = SqlRegistry(open_sqlite(tmp_path_factory.mktemp("registry") / "registry.sqlite", synchronous="OFF"), tick)
    yield found
    found.close()


@pytest.fixture
def tenants():
    """Names never used before."""
    return (f"t{number}" for number in TENANTS)


@pytest.fixture
def memory_store():
    return MemoryStore()
