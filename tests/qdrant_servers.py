"""A real Qdrant server for the tests, where UPWELL_TEST_QDRANT_URL says that there is one (1.18 or newer).

Its tests are marked `integration`. Each has collections of its own, deleted after it; a server that cannot be reached
is a failure, never a skip. UPWELL_TEST_QDRANT_API_KEY is its key, if it wants one.
"""

import os
import uuid
from contextlib import contextmanager

import pytest

from upwell.lake.store.qdrant import QdrantStore
from upwell.lake.store.qdrant_server import connected

URL = os.environ.get("UPWELL_TEST_QDRANT_URL", "")
KEY = os.environ.get("UPWELL_TEST_QDRANT_API_KEY") or None
SERVERS = [pytest.param("server", marks=pytest.mark.integration)] if URL else []
"""The parameter of a fixture that opens stores: none without a server."""


def opened(collection, dim):
    """The store of this collection, made when it is not there."""
    return QdrantStore(URL, collection=collection, dim=dim, api_key=KEY)


def forget(prefix):
    """Delete the collections whose names begin so."""
    client = connected(URL, KEY)
    try:
        for collection in client.get_collections().collections:
            if collection.name.startswith(prefix):
                client.delete_collection(collection.name)
    finally:
        client.close()


@contextmanager
def collections():
    """name -> a collection's name that nobody else uses. What was opened under them is deleted when the block ends."""
    run = uuid.uuid4().hex[:12]
    named = {}
    try:
        yield lambda name: named.setdefault(name, f"upwell_test_{run}_{len(named)}")
    finally:
        forget(f"upwell_test_{run}_")


@contextmanager
def fresh_store(dim):
    """An empty store on the server."""
    with collections() as named:
        store = opened(named("store"), dim)
        try:
            yield store
        finally:
            store.close()
