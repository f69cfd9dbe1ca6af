"""Deletes that wait in a distributed lake: approved on the machine whose folder it is, beside a run that follows it too."""

import queue
import threading
from contextlib import closing

import pytest

from broker import wait_for
from stream_lake import StreamLake
from upwell.answers import ApproveAnswer
from upwell.errors import Retryable
from upwell.ports import Act
from upwell.runtime.approving import decide
from upwell.runtime.stream.erasing import MEMORY
from upwell.runtime.stream.intake import Memory, alone

OWNER = "user:ana"
COUNT = 30


@pytest.fixture
def world(tmp_path):
    made = StreamLake(tmp_path / "lake")
    yield made
    made.close()


@pytest.fixture
def docs(tmp_path):
    folder = tmp_path / "docs"
    folder.mkdir()
    for number in range(COUNT):
        (folder / f"{number:02}.txt").write_text("larch")
    return folder


def lose(docs, count=20):
    for number in range(count):
        (docs / f"{number:02}.txt").unlink()


def found(lake):
    return len(lake.search("larch", principals=frozenset({OWNER}), k=COUNT).hits)


def told(answer):
    return [(one.source, one.documents) for one in answer.sources]


def test_a_mass_delete_waits_until_it_is_approved(world, docs):
    world.lake.ingest(docs, owner=OWNER)
    lose(docs)
    answer = world.lake.ingest(docs, owner=OWNER)
    assert (answer.documents.deleted, found(world.lake)) == (0, COUNT)
    assert "deletes_held" in answer.warnings[0]
    assert "deletes_held" in world.lake.status().sources[0].warnings[0]
    assert told(world.lake.approve()) == [("docs", 20)]
    assert found(world.lake) == 10
    assert world.lake.status().sources[0].warnings == ()
    assert world.lake.approve() == ApproveAnswer(sources=())


def test_only_the_source_and_tenant_that_are_named(world, docs):
    world.lake.ingest(docs, owner=OWNER)
    lose(docs)
    world.lake.ingest(docs, owner=OWNER)
    assert told(world.lake.approve(source="other")) == told(world.lake.approve(tenant="acme")) == []
    assert told(world.lake.approve(source="docs", discard=True)) == [("docs", 20)]
    assert world.lake.ingest(docs, owner=OWNER).warnings == ()
    assert found(world.lake) == COUNT


def test_a_machine_that_remembers_no_folder_has_nothing_to_approve(world):
    assert world.lake.approve() == ApproveAnswer(sources=())


def test_what_is_approved_beside_another_scan_is_left_to_the_next(world, docs):
    world.lake.ingest(docs, owner=OWNER)
    lose(docs)
    world.lake.ingest(docs, owner=OWNER)
    with alone(world.folder / "here"):
        assert told(world.lake.approve()) == [("docs", 20)]
    assert found(world.lake) == COUNT
    assert world.lake.ingest(docs, owner=OWNER).documents.deleted == 20
    assert found(world.lake) == 10


def test_a_run_says_that_deletes_wait_and_carries_out_what_is_approved_elsewhere(world, docs):
    lines, ready, stop = queue.Queue(), threading.Event(), threading.Event()
    following = threading.Thread(
        target=lambda: world.lake.follow(
            docs, owner=OWNER, stop=stop, on_ready=lambda _answer: ready.set(), on_change=lines.put
        )
    )
    following.start()
    try:
        assert ready.wait(30)
        lose(docs)
        while "upwell approve --source docs" not in lines.get(timeout=30):
            pass
        wait_for(lambda: world.lake.status().sources[0].warnings, 30, "status says so")
        assert told(world.lake.approve())
        wait_for(lambda: found(world.lake) == 10, 30, "the run deletes what is approved")
    finally:
        stop.set()
        following.join(30)


class KeptAudit:
    """`ports.Audit` in a list; `trouble` is raised instead."""

    def __init__(self):
        self.entries = []
        self.trouble = None

    def write(self, entry):
        if self.trouble is not None:
            raise self.trouble
        self.entries.append(entry)

    def close(self):
        pass


def test_who_decides_is_audited_and_nothing_is_decided_that_cannot_be(world, docs):
    world.lake.ingest(docs, owner=OWNER)
    lose(docs)
    world.lake.ingest(docs, owner=OWNER)
    audit = KeptAudit()

    def decided(**what):
        with closing(Memory(world.folder / "here" / MEMORY)) as memory, memory.transaction() as connection:
            return decide(connection, audit, 7, **{"tenant": "default", "source": None, "discard": False, **what})

    audit.trouble = Retryable("the disk is full")
    with pytest.raises(Retryable, match="full"):
        decided()
    audit.trouble = None
    assert decided(source="other") == ()
    (one,) = decided(discard=True)
    assert one.deletes.documents == 20
    (entry,) = audit.entries
    assert (entry.act, entry.at, entry.document.source, entry.reason) == (Act.APPROVE, 7, "docs", "discarded")
    assert entry.actor.startswith("operator:")
    assert decided() == ()
