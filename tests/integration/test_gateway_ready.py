"""A gateway is ready while its log can take events: it has the topics, and its brokers answer."""

import threading
from contextlib import closing

import pytest

from broker import create_topics, started
from upwell.errors import Retryable
from upwell.runtime.stream.answering import LogAnswers
from upwell.runtime.stream.topics import ACCEPTING

pytestmark = pytest.mark.integration


def test_ready_is_who_can_append_to_the_log(tmp_path):
    with started(tmp_path) as broker, closing(LogAnswers(broker.address, kept_s=-1)) as ready:
        with pytest.raises(Retryable, match=rf"no topic {ACCEPTING[0]}.*upwell topics create"):
            ready()
        create_topics(broker)
        ready()
        broker.stop()
        with pytest.raises(Retryable, match=r"brokers do not answer|no broker answers"):
            ready()
        broker.start()
        ready()


def test_however_many_ask_the_brokers_are_asked_once(kafka):
    """`/readyz` is anybody's to ask."""
    create_topics(kafka)
    with closing(LogAnswers(kafka.address, kept_s=600)) as ready:
        ready()
        kafka.clear()
        threads = [threading.Thread(target=ready) for _ in range(20)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        ready()
