"""What `doctor` says of the parts of a distributed lake: each in one line, whatever the others do."""

import sys

from memory_log import MemoryBlobs
from memory_store import MemoryStore
from upwell import wiring
from upwell.answers import TopicMismatch
from upwell.config import Settings
from upwell.errors import Misconfigured, Retryable
from upwell.runtime.stream import topics
from upwell.runtime.stream.checkup import asked, probes


class Store(MemoryStore):
    closed = 0

    def close(self):
        Store.closed += 1


class Admin:
    """`checkup.Topics` with topics and mismatches as the test has them; None for a broker that is away."""

    def __init__(self, found, wrong=()):
        self.there = found
        self.wrong = tuple(wrong)

    def found(self):
        if self.there is None:
            raise Retryable("no broker answers at kafka:9092")
        return self.there

    def check(self):
        self.found()
        return self.wrong


def raising(error):
    def ask():
        raise error

    return ask


def checks(admin, **parts):
    parts = {"registry": lambda: "minilm", "store": Store, "blobs": MemoryBlobs} | parts
    return {check.name: check for check in asked(probes("kafka:9092", admin, **parts))}


def test_parts_that_are_as_they_should_be():
    blobs = MemoryBlobs()
    found = checks(Admin(dict.fromkeys(topics.ALL)), blobs=lambda: blobs)
    assert [check.state for check in found.values()] == ["ok"] * 5
    assert not any(check.remedy for check in found.values())
    assert found["brokers"].detail == f"kafka:9092: {len(topics.ALL)} of {len(topics.ALL)} topics"
    assert found["registry"].detail == "minilm"
    assert blobs.kept == {}
    assert Store.closed == 1


def test_each_part_that_is_not_says_why_and_what_to_do_and_the_others_are_asked_all_the_same():
    found = checks(
        Admin(None),
        registry=raising(Retryable("the registry cannot be used now")),
        blobs=raising(Misconfigured("setting blobs: unusable URL")),
    )
    assert {name: check.state for name, check in found.items()} == {
        "brokers": "wrong",
        "topics": "wrong",
        "registry": "wrong",
        "store": "ok",
        "blobs": "wrong",
    }
    assert all(check.detail and check.remedy for check in found.values() if check.state == "wrong")
    assert all("\n" not in check.detail for check in found.values())


def test_topics_that_differ_are_counted_and_the_first_is_named():
    first = TopicMismatch(topic="upwell.dead.v1", what="partitions", wanted="12", found="3")
    found = checks(Admin({}, [first, first]))
    assert found["topics"].state == "wrong"
    assert found["topics"].detail == "upwell.dead.v1: partitions is 3, wanted 12, and 1 more"
    assert found["brokers"].detail == f"kafka:9092: 0 of {len(topics.ALL)} topics"


def test_a_blob_store_that_gives_back_something_else_is_wrong():
    class Forgetful(MemoryBlobs):
        def get(self, ref):
            return b""

    assert checks(Admin({}), blobs=Forgetful)["blobs"].state == "wrong"


def test_without_the_extra_doctor_says_so_and_asks_no_part(monkeypatch, tmp_path):
    """What would ask brokers and registry is not installed then."""
    monkeypatch.setitem(sys.modules, "faust", None)
    settings = Settings(lake=tmp_path / "lake", brokers="kafka:9092")
    found = {check.name: check for check in wiring.doctor(settings)}
    assert found["extra distributed"].state == "wrong"
    assert "make setup-distributed" in found["extra distributed"].remedy
    assert "brokers" not in found
