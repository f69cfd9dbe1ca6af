"""Memberships over a real Kafka: put to a gateway, written down by a real control worker's process."""

import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from broker import create_topics, records
from gateways import Gate
from upwell.access import Asker
from upwell.clock import now_us
from upwell.lake.blobs import FsspecBlobs
from upwell.lake.registry import SqlRegistry
from upwell.runtime.stream import topics
from upwell.runtime.stream.memberships import StreamMemberships
from upwell.runtime.stream.producer import LogProducer

pytestmark = [pytest.mark.integration, pytest.mark.timeout(300)]
PROGRAM = Path(__file__).parents[1] / "control_worker.py"
WAIT = "?wait=applied&timeout_s=60"


@pytest.fixture
def registry(tmp_path):
    with closing(SqlRegistry.at(tmp_path / "registry.sqlite")) as made:
        yield made


@pytest.fixture
def gate(kafka, registry, tmp_path):
    """A gateway in front of Kafka; its control worker is another process."""
    create_topics(kafka)
    blobs = FsspecBlobs(str(tmp_path / "blobs"))
    producer = LogProducer(kafka.address, blobs=blobs, message_bytes=1_000_000)
    words = [sys.executable, PROGRAM, kafka.address, tmp_path / "registry.sqlite", tmp_path / "blobs"]
    worker = subprocess.Popen(words)
    made = Gate(clock=now_us, memberships=StreamMemberships(producer, registry.directory))
    yield made
    made.close()
    worker.terminate()
    assert worker.wait(60) == 0
    producer.close()


def groups(registry, user):
    return registry.standing(Asker(tenant="acme", principals=frozenset({user}))).principals


def test_what_is_put_is_in_force_when_the_answer_says_so(gate, registry, kafka):
    """Nested, replaced, gone, and larger than a message may be; each principal in one partition, in order."""
    assert gate.tell("group:core", {"member_of": ["group:eng"]}, query=WAIT).status_code == 200
    answer = gate.tell("user:ana", {"member_of": ["group:core"]}, query=WAIT)
    assert (answer.status_code, answer.json()["effective"]) == (200, True)
    assert groups(registry, "user:ana") == {"user:ana", "group:core", "group:eng", "everyone"}
    for number in range(20):
        gate.tell("user:ana", {"member_of": [f"group:{number}"]})
    assert gate.tell("user:ana", {"member_of": ["group:last"]}, query=WAIT).status_code == 200
    assert groups(registry, "user:ana") == {"user:ana", "group:last", "everyone"}
    many = [f"group:{number:020}" for number in range(60_000)]
    assert gate.tell("user:bob", {"member_of": many}, query=WAIT).status_code == 200
    assert len(groups(registry, "user:bob")) == len(many) + 2
    assert gate.tell("user:ana", query=WAIT).status_code == 200
    assert groups(registry, "user:ana") == frozenset()
    told = records(kafka, topics.PRINCIPALS)
    assert len({record.partition for record in told if record.key == b'["acme","user:ana"]'}) == 1
