"""The gateway's end of the log: what goes where, what is refused, and waiting for ends."""

import time

import pytest
from kafka import errors

from stream_samples import event, memory_blobs
from upwell.errors import Misconfigured, Overloaded, Reason, Rejected, Retryable
from upwell.messages import Change
from upwell.ports import Fate
from upwell.records import Acl, BlobRef, Lane, Op, Outcome
from upwell.runtime.stream import topics
from upwell.runtime.stream.sink import LARGE_BYTES, KafkaSink
from upwell.runtime.stream.vendor import mapped, servers

DONE = Fate(outcome=Outcome.APPLIED)


class Log:
    """A log that keeps what it is sent."""

    def __init__(self):
        self.sent = []

    def send(self, outgoings):
        self.sent.extend(outgoings)


def sink_over(log, blobs=None, *, pending=lambda: 0, max_pending=10, ended=lambda _: None):
    return KafkaSink(log, blobs or memory_blobs(), pending=pending, max_pending=max_pending, ended=ended)


def test_a_backfill_without_news_for_control_stays_out_of_its_way():
    """Thousands of new documents would stand before somebody's permission; a live one always goes both ways."""
    log = Log()
    sink = KafkaSink(
        log,
        memory_blobs(),
        pending=lambda: 0,
        max_pending=10,
        ended=lambda _: None,
        binds=lambda one: one.doc_id == "known",
    )
    sink.accept([event("new", lane=Lane.BACKFILL), event("known", lane=Lane.BACKFILL), event("new", lane=Lane.LIVE)])
    assert [(outgoing.topic, outgoing.key.doc_id) for outgoing in log.sent] == [
        (topics.laned("changes", Lane.BACKFILL), "new"),
        (topics.laned("changes", Lane.BACKFILL), "known"),
        (topics.CONTROL, "known"),
        (topics.laned("changes", Lane.LIVE), "new"),
        (topics.CONTROL, "new"),
    ]


@pytest.mark.parametrize("lane", list(Lane))
def test_an_upsert_goes_both_ways(lane):
    """Whole to its lane; to control without its words, for they would outlive an erasure there."""
    log = Log()
    full = event(title="Tea", url="http://x", metadata={"by": "ana"}, media_type="text/plain", lane=lane)
    sink_over(log).accept([full])
    content, control = log.sent
    assert content.topic == topics.laned(topics.CHANGES, lane)
    assert content.message == Change(event=full)
    assert control.topic == topics.CONTROL
    assert {content.key, control.key} == {full.key}
    bare = control.message.event
    assert (bare.content, bare.title, bare.url, bare.media_type, bare.metadata) == (None, None, None, None, {})
    kept = ("event_id", "tenant", "source", "doc_id", "op", "version", "acl_version", "acl", "lane", "received_at")
    assert all(getattr(bare, name) == getattr(full, name) for name in kept)


@pytest.mark.parametrize("op", [Op.ACL, Op.DELETE, Op.ERASE])
def test_what_must_not_wait_goes_to_control_alone(op):
    log = Log()
    sink_over(log).accept([event(op=op, acl=Acl())])
    assert [outgoing.topic for outgoing in log.sent] == [topics.CONTROL]


def test_large_content_goes_by_the_blob_store():
    """From one byte over the limit; it is there before the event is."""
    log, blobs = Log(), memory_blobs()
    sink = sink_over(log, blobs)
    small, large = event("a", data=b"x" * LARGE_BYTES), event("b", data=b"y" * (LARGE_BYTES + 1))
    sink.accept([small, large])
    assert log.sent[0].message.event == small
    ref = log.sent[2].message.event.content
    assert isinstance(ref, BlobRef)
    assert blobs.get(ref) == large.content.data
    assert ref.belongs_to(large.key)


def test_an_unsound_event_is_refused_with_those_beside_it():
    """Nothing of the request is accepted."""
    log = Log()
    bad = event(content=BlobRef.of(event("other").key, b"x", 1))
    with pytest.raises(Rejected) as e:
        sink_over(log).accept([event("fine"), bad])
    assert e.value.reason is Reason.INVALID_EVENT
    assert log.sent == []


@pytest.mark.parametrize(("pending", "taken"), [(9, True), (10, False), (11, False)])
def test_too_many_pending_events_are_an_overload(pending, taken):
    """With the time after which to come again; the count is not asked for at each request."""
    asked = []
    log = Log()
    sink = sink_over(log, pending=lambda: asked.append(1) or pending)
    for _ in range(3):
        if taken:
            sink.accept([event()])
        else:
            with pytest.raises(Overloaded) as e:
                sink.accept([event()])
            assert e.value.retry_after_s > 0
    assert len(log.sent) == (6 if taken else 0)
    assert len(asked) == 1


def test_fates_returns_as_soon_as_all_have_ended():
    """Long before the timeout; what had not ended at first is asked for again."""
    events = [event("a"), event("b")]
    looks = {"ea1": 1, "eb1": 3}

    def ended(one):
        looks[one.event_id] -= 1
        return DONE if looks[one.event_id] <= 0 else None

    begun = time.monotonic()
    assert sink_over(Log(), ended=ended).fates(events, 60) == {"ea1": DONE, "eb1": DONE}
    assert time.monotonic() - begun < 20
    assert looks == {"ea1": 0, "eb1": 0}  # who has ended is not asked for again


@pytest.mark.parametrize("timeout_s", [0, 0.1])
def test_fates_gives_up_in_time(timeout_s):
    """With those that have ended."""
    begun = time.monotonic()
    found = sink_over(Log(), ended=lambda one: DONE if one.doc_id == "a" else None).fates(
        [event("a"), event("b")], timeout_s
    )
    assert found == {"ea1": DONE}
    assert time.monotonic() - begun >= timeout_s


def test_brokers_are_named_as_hosts_with_ports():
    """Anything else is a wrong setting, said so."""
    assert servers("a:1, b.c:92,") == ["a:1", "b.c:92"]
    assert servers("[::1]:9092") == ["[::1]:9092"]
    for wrong in (None, "", ",", "host", "host:", ":9092", "host:port", "host:0", "host:99999", "a:1,b"):
        with pytest.raises(Misconfigured, match="brokers"):
            servers(wrong)


def test_no_error_of_the_vendor_is_left_unmapped():
    """Each becomes one that the caller knows; those that no waiting mends stop the process, and no text is repeated."""
    kinds = [kind for kind in vars(errors).values() if isinstance(kind, type) and issubclass(kind, errors.KafkaError)]
    assert len(kinds) > 100
    for kind in kinds:
        found = mapped(kind.__new__(kind, "secret"), "the-topic")
        assert isinstance(found, Retryable | Misconfigured), kind
        assert "secret" not in str(found)
    assert isinstance(mapped(errors.MessageSizeTooLargeError()), Misconfigured)
    assert isinstance(mapped(errors.TopicAuthorizationFailedError()), Misconfigured)
    assert "upwell topics create" in str(mapped(errors.UnknownTopicOrPartitionError(), "t"))
