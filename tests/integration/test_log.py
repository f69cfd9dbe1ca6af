"""Sending to a real log: acknowledged means there; a broker that hangs, dies or refuses is said in time."""

import asyncio
import threading
import time
from contextlib import closing

import pytest
from aiokafka import AIOKafkaProducer
from kafka.partitioner import murmur2

from broker import create_topics, records, started
from stream_samples import event, memory_blobs
from upwell.errors import Misconfigured, Overloaded, Retryable
from upwell.messages import Change
from upwell.records import DocKey, Lane
from upwell.runtime.stream import topics
from upwell.runtime.stream.codec import decode
from upwell.runtime.stream.contract import Outgoing
from upwell.runtime.stream.producer import LogProducer
from upwell.runtime.stream.sink import KafkaSink

pytestmark = pytest.mark.integration

CHANGES = topics.laned(topics.CHANGES, Lane.LIVE)
LIMIT = 200_000


def outgoing(doc="a.md", *, data=b"tea", topic=CHANGES):
    one = event(doc, data=data)
    return Outgoing(topic=topic, key=one.key, message=Change(event=one))


def producer_to(broker, blobs=None, **rest):
    return closing(LogProducer(broker.address, blobs=blobs or memory_blobs(), message_bytes=LIMIT, **rest))


def decoded(record, blobs):
    return decode(record.value, record.headers, record.topic, key=record.key, blobs=blobs)


def test_what_was_sent_is_there_when_send_returns(kafka):
    """Messages, tombstones and one that goes by the blob store, under their documents' keys."""
    create_topics(kafka, message_bytes=LIMIT)
    blobs = memory_blobs()
    large = outgoing("large.md", data=b"x" * LIMIT)
    gone = Outgoing(topic=CHANGES, key=event("gone.md").key, message=None)
    many = [outgoing(f"{n}.md", data=b"%d" % n) for n in range(50)]
    with producer_to(kafka, blobs) as producer:
        producer.send([large, gone, *many])
        there = {record.key: record for record in records(kafka, CHANGES)}
    assert len(there) == 52
    for sent in (large, *many):
        assert decoded(there[topics.key_of(sent.key)], blobs) == sent.message
    assert there[topics.key_of(gone.key)].value is None


def test_a_message_just_below_the_limit_is_taken(kafka):
    """What the codec lets through inline, client and broker take."""
    create_topics(kafka, message_bytes=LIMIT)
    blobs = memory_blobs()
    sizes = range(LIMIT - 2500, LIMIT, 50)
    with producer_to(kafka, blobs) as producer:
        producer.send([outgoing(f"{size}.md", data=b"x" * size) for size in sizes])
    inline = [one for one in records(kafka, CHANGES) if "upwell-blob" not in dict(one.headers)]
    assert 0 < len(inline) < len(sizes)
    assert max(len(one.value) for one in inline) > LIMIT - 2000


def test_keys_go_where_a_worker_would_send_them(kafka):
    """Both clients choose the same partition for a key, or a document's events would lose their order."""
    create_topics(kafka)
    keys = [DocKey(tenant="t", source="s" * (n % 5), doc_id=f"ü{n}/" * (n % 4) + "é") for n in range(60)]
    with producer_to(kafka) as producer:
        producer.send([Outgoing(topic=topics.CONTROL, key=key, message=None) for key in keys])

    async def by_aiokafka():
        async with AIOKafkaProducer(bootstrap_servers=kafka.address) as other:
            for key in keys:
                await other.send_and_wait(topics.APPLIED, b"x", key=topics.key_of(key))

    asyncio.run(by_aiokafka())
    ours = {record.key: record.partition for record in records(kafka, topics.CONTROL)}
    theirs = {record.key: record.partition for record in records(kafka, topics.APPLIED)}
    assert ours == theirs
    assert ours == {key: (murmur2(key) & 0x7FFFFFFF) % 4 for key in ours}
    assert len(set(ours.values())) == 4


def test_a_topic_that_is_not_there_is_named(kafka):
    """With what makes it; once it is there the same producer sends to it."""
    with producer_to(kafka) as producer:
        with pytest.raises(Retryable, match=f"{CHANGES}.*upwell topics create"):
            producer.send([outgoing()])
        create_topics(kafka)
        producer.send([outgoing()])
    assert len(records(kafka, CHANGES)) == 1


def test_a_topic_that_takes_less_is_a_wrong_setting(kafka):
    """The same message would fail for ever; smaller ones go on."""
    create_topics(kafka, message_bytes=65536)
    with producer_to(kafka) as producer:
        with pytest.raises(Misconfigured, match="message_bytes"):
            producer.send([outgoing(data=b"x" * 100_000)])
        producer.send([outgoing()])
    assert len(records(kafka, CHANGES)) == 1


def test_no_broker_is_told_in_time():
    """To all who send, not to one after the other."""
    producer = LogProducer("127.0.0.1:9", blobs=memory_blobs(), message_bytes=LIMIT)
    errors = []

    def send():
        try:
            producer.send([outgoing()])
        except Retryable as e:
            errors.append(str(e))

    begun = time.monotonic()
    threads = [threading.Thread(target=send) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(errors) == 4
    assert all("127.0.0.1:9" in text for text in errors)
    assert time.monotonic() - begun < 30
    producer.close()


def test_a_broker_that_hangs_or_dies_loses_nothing_that_was_acknowledged(tmp_path):
    """While it hangs: an overload once the buffer is full, and an error in time. After it the same producer sends on."""
    with started(tmp_path) as broker:
        create_topics(broker)
        blobs = memory_blobs()
        with producer_to(broker, blobs, delivery_s=4.0, buffer_bytes=0) as producer:
            patiently(lambda: producer.send([outgoing("before.md")]))
            broker.pause()
            with pytest.raises(Overloaded) as e:
                producer.send([outgoing(f"{n}.md", data=b"x" * 50_000) for n in range(40)])
            assert e.value.retry_after_s > 0
            begun = time.monotonic()
            with pytest.raises(Retryable):
                producer.send([outgoing("hangs.md")])
            assert time.monotonic() - begun < 30
            broker.resume()
            patiently(lambda: producer.send([outgoing("resumed.md")]))
            broker.restart(kill=True)
            patiently(lambda: producer.send([outgoing("restarted.md")]))
        there = [decoded(record, blobs).event.doc_id for record in records(broker, CHANGES)]
        assert {"before.md", "resumed.md", "restarted.md"} <= set(there)


def test_a_sink_accepts_what_is_acknowledged(kafka):
    """Both halves of an upsert, and large content by the blob store, read back from the broker."""
    create_topics(kafka)
    blobs = memory_blobs()
    with producer_to(kafka, blobs) as producer:
        sink = KafkaSink(producer, blobs, pending=lambda: 0, max_pending=1, ended=lambda _: None)
        large = event("large.md", data=b"x" * 100_000, title="Tea")
        sink.accept([large])
    (content,) = (decoded(record, blobs) for record in records(kafka, CHANGES))
    (control,) = (decoded(record, blobs) for record in records(kafka, topics.CONTROL))
    assert blobs.get(content.event.content) == large.content.data
    assert content.event.title == "Tea"
    assert (control.event.content, control.event.title, control.event.acl) == (None, None, large.acl)


def test_many_threads_share_a_producer(kafka):
    """And a document's messages keep the order in which a thread sent them."""
    create_topics(kafka)
    blobs = memory_blobs()
    begun = time.monotonic()
    with producer_to(kafka, blobs) as producer:

        def work(doc):
            for n in range(40):
                producer.send([outgoing(doc, data=b"%d" % n)])

        threads = [threading.Thread(target=work, args=(f"{n}.md",)) for n in range(6)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    print(f"240 acknowledged sends by 6 threads in {time.monotonic() - begun:.1f} s")
    order = {}
    for record in records(kafka, CHANGES):
        found = decoded(record, blobs).event
        order.setdefault(found.doc_id, []).append(int(found.content.data))
    assert order == {f"{n}.md": list(range(40)) for n in range(6)}


def patiently(attempt):
    """Try again while it is Retryable, as whoever sends does."""
    deadline = time.monotonic() + 60
    while True:
        try:
            return attempt()
        except Retryable:
            assert time.monotonic() < deadline
            time.sleep(0.2)
