"""The broker that other tests stand on: ready when it says so, the same after a restart, empty after `clear`."""

import socket
import time

import pytest
from kafka import KafkaAdminClient, KafkaConsumer, KafkaProducer
from kafka.admin import NewTopic

from broker import started

pytestmark = pytest.mark.integration


def create(address, *names):
    admin = KafkaAdminClient(bootstrap_servers=address)
    admin.create_topics([NewTopic(name, 1, 1) for name in names])
    admin.close()


@pytest.mark.parametrize("kill", [False, True])
def test_a_restart_keeps_what_was_acknowledged(tmp_path, kill):
    """An orderly stop and a kill both lose nothing, and the address stays."""
    with started(tmp_path) as broker:
        create(broker.address, "kept")
        producer = KafkaProducer(bootstrap_servers=broker.address)
        producer.send("kept", b"tea").get(10)
        producer.close(1)
        before = broker.pid
        broker.restart(kill=kill)
        assert broker.pid != before
        consumer = KafkaConsumer(
            "kept", bootstrap_servers=broker.address, auto_offset_reset="earliest", consumer_timeout_ms=20_000
        )
        assert next(consumer).value == b"tea"
        consumer.close()


def test_a_paused_broker_answers_after_it_was_resumed(tmp_path):
    """While it hangs a request gets no answer; a paused one can be stopped."""
    with started(tmp_path) as broker:
        broker.pause()
        host, port = broker.address.split(":")
        with socket.create_connection((host, int(port)), 1) as connection:  # the kernel still takes connections
            connection.settimeout(0.3)
            with pytest.raises(TimeoutError):
                connection.recv(1)
        broker.resume()
        create(broker.address, "there")
        broker.pause()
        begun = time.monotonic()
        broker.stop()
        assert time.monotonic() - begun < 25


def test_clear_leaves_no_topic(kafka):
    """A topic of the same name can be made anew, and is empty."""
    for text in (b"one", b"two"):
        create(kafka.address, "again")
        producer = KafkaProducer(bootstrap_servers=kafka.address)
        assert producer.send("again", text).get(10).offset == 0
        producer.close(1)
        kafka.clear()
