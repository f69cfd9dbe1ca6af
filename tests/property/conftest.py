"""Profiles and lakes for the laws. HYPOTHESIS_PROFILE=thorough looks ten times longer."""

import itertools
import os

import pytest
from hypothesis import HealthCheck, settings
from memory_store import MemoryStore

from upwell.lake.registry import SqlRegistry
from upwell.lake.schema import sqlite_engine

UNHURRIED = [HealthCheck.too_slow, HealthCheck.function_scoped_fixture, HealthCheck.data_too_large]
settings.register_profile("default", deadline=None, max_examples=40, suppress_health_check=UNHURRIED)
settings.register_profile("thorough", deadline=None, max_examples=400, suppress_health_check=UNHURRIED)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "default"))

TENANTS = itertools.count()


@pytest.fixture(scope="module")
def registry(tmp_path_factory):
    """One registry for a module; each example has a tenant of its own. No fsync: power is not what these tests cut."""
    found = SqlRegistry(sqlite_engine(tmp_path_factory.mktemp("registry") / "registry.sqlite", synchronous="OFF"))
    yield found
    found.close()


@pytest.fixture
def tenants():
    """Names never used before."""
    return (f"t{number}" for number in TENANTS)


@pytest.fixture
def memory_store():
    return MemoryStore()
