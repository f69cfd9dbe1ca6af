"""Readers answered through the lake's socket, and through a lake that is held only while it is asked."""

import threading
from contextlib import closing

import pytest
from fastapi import FastAPI

from readers import ODD, STAFF, MemoryReading
from upwell.access import Asker
from upwell.errors import Misconfigured, NotFound, Retryable, UpwellError
from upwell.reading import Reader
from upwell.runtime.borrowing import BorrowedReading
from upwell.runtime.owner.lock import acquire
from upwell.runtime.owner.reads import add_reads
from upwell.runtime.owner.remote import RemoteLake
from upwell.runtime.owner.routes import refuse
from upwell.runtime.serving import Answering

ANA = Reader(asker=Asker(tenant="default", principals=STAFF), actor="operator:ana", via="mcp")


@pytest.fixture
def lake():
    made = MemoryReading()
    for doc_id in ODD:
        made.put(doc_id, "the giraffe is tall")
    return made


@pytest.fixture
def remote(lake, tmp_path):
    """What another process sees of it."""

    def application():
        app = FastAPI()
        app.add_exception_handler(UpwellError, refuse)
        add_reads(app, lake)
        return app

    with acquire(tmp_path / "lake", "run") as held:
        answering = Answering(held.listener, application)
        with closing(RemoteLake(held.info.socket)) as asked:
            yield asked
        answering.close()


def everything(api):
    """Every answer that there is."""
    yield api.search("giraffe", reader=ANA, k=3, sources=frozenset({"notes"}))
    yield api.context("giraffe", reader=ANA, budget=50, tokenizer="bytes")
    for doc_id in ODD:
        yield api.fetch(doc_id, reader=ANA, source="notes", tokens=2)
        yield api.outline(doc_id, reader=ANA)
        yield api.related(doc_id, reader=ANA, k=2)
    yield api.changes("2026-01-01T00:00:00Z", reader=ANA, limit=3)
    yield api.sources(reader=ANA)


def test_the_socket_gives_the_lakes_own_answers(lake, remote):
    assert list(everything(remote.reading())) == list(everything(lake))
    assert set(lake.asked) == {ANA}


def test_the_socket_gives_the_lakes_own_errors(lake, remote):
    api = remote.reading()
    with pytest.raises(NotFound, match="none that you may see"):
        api.fetch("nowhere.md", reader=ANA)
    with pytest.raises(Misconfigured, match="control characters"):
        api.search("a\0b", reader=ANA)
    with pytest.raises(Misconfigured, match="k"):
        api.search("giraffe", reader=ANA, k=1000)
    lake.trouble = Retryable("the store is away")
    with pytest.raises(Retryable, match="the store is away"):
        api.sources(reader=ANA)


class Lent:
    """A lake as `connect` gives it; counts who holds it."""

    def __init__(self, api, held):
        self._api = api
        self._held = held
        held.append(self)

    def reading(self):
        return self._api

    def close(self):
        self._held.remove(self)


def test_a_lake_that_nobody_asks_is_given_back_and_borrowed_again(lake):
    held, given_back = [], threading.Event()

    class Noted(Lent):
        def close(self):
            super().close()
            given_back.set()

    api = BorrowedReading(lambda: Noted(lake, held), idle_s=0.05)
    assert held == []
    for _ in range(2):
        assert list(everything(api)) == list(everything(lake))
        assert given_back.wait(10)
        assert held == []
        given_back.clear()
    api.sources(reader=ANA)
    api.close()
    assert held == []


def test_a_lake_is_held_once_however_many_ask(lake):
    held, seen = [], []

    def ask():
        api.sources(reader=ANA)
        seen.append(len(held))

    api = BorrowedReading(lambda: Lent(lake, held), idle_s=60)
    threads = [threading.Thread(target=ask) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert seen == [1] * 8
    api.close()
