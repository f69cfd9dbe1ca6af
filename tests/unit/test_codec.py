"""Messages as bytes: what is written is read again, and whatever else comes is Rejected without being quoted."""

import msgspec
import pytest

from stream_samples import event, memory_blobs, messages
from upwell.errors import Reason, Rejected
from upwell.messages import Change, Dead, Parsed
from upwell.records import ENCODER, BlobRef, DocKey, Inline, Lane, ParsedDocument, ParseStatus, SourceRef
from upwell.runtime.stream import topics
from upwell.runtime.stream.codec import CARRIES, LARGEST_BYTES, UNREAD, VERSIONS, Lost, decode, encode

LIMIT = 64 * 1024
CHANGES = topics.laned(topics.CHANGES, Lane.LIVE)
PARSED = topics.laned(topics.PARSED, Lane.LIVE)


def topic_of(message):
    return next(topic for topic, kind in CARRIES.items() if kind is type(message))


def key_of(message):
    return topics.key_of(message.event.key) if message.event else None


def refused(value, headers, topic, key, blobs=None):
    """The error of a message that must be refused."""
    with pytest.raises(Rejected) as e:
        decode(value, headers, topic, key=key, blobs=blobs or memory_blobs())
    return e.value


@pytest.mark.parametrize("message", messages(), ids=lambda message: type(message).__name__)
def test_what_is_written_is_read_again(message):
    """Every message, with the headers that say what it is."""
    blobs = memory_blobs()
    value, headers = encode(message, limit_bytes=LIMIT, blobs=blobs)
    assert decode(value, headers, topic_of(message), key=key_of(message), blobs=blobs) == message
    said = dict(headers)
    attempts = message.fate.attempts if isinstance(message, Dead) else message.attempts
    assert said["upwell-schema"] == f"{type(message).__name__.lower()}/1".encode()
    assert said["upwell-attempts"] == str(attempts).encode()
    assert "upwell-blob" not in said
    assert "traceparent" not in said


@pytest.mark.parametrize("message", messages(event(data=b"x" * LIMIT)), ids=lambda message: type(message).__name__)
def test_what_is_too_large_goes_by_the_blob_store(message):
    """The log carries a reference below the limit; a message without a document is kept too."""
    if message.event is None:
        message = msgspec.structs.replace(message, raw=b"x" * LIMIT)
    blobs = memory_blobs()
    value, headers = encode(message, limit_bytes=LIMIT, blobs=blobs)
    assert dict(headers)["upwell-blob"] == b"1"
    assert len(value) < 500
    assert decode(value, headers, topic_of(message), key=key_of(message), blobs=blobs) == message
    owner = message.event.key if message.event else UNREAD
    assert msgspec.msgpack.decode(value, type=BlobRef).belongs_to(owner)
    assert blobs.forget(owner) == 1


@pytest.mark.parametrize("message", messages(event(data=b"x" * LIMIT, title="Tea")), ids=lambda m: type(m).__name__)
def test_a_message_whose_blob_is_gone_still_says_which_event_it_served(message):
    """Its identity and order, so that it can be ended; of its words nothing. Bytes that nobody read served none."""
    if message.event is None:
        message = msgspec.structs.replace(message, raw=b"x" * LIMIT)
    value, headers = encode(message, limit_bytes=LIMIT, blobs=memory_blobs())
    error = refused(value, headers, topic_of(message), key_of(message))
    assert error.reason is Reason.BLOB_MISSING
    if message.event is None:
        assert not isinstance(error, Lost)
        return
    left = error.message.event
    assert (left.event_id, left.key, left.version, left.op) == (
        message.event.event_id,
        message.event.key,
        message.event.version,
        message.event.op,
    )
    assert (left.content, left.title, left.acl) == (None, None, None)
    assert b"Tea" not in dict(headers)["upwell-event"]


@pytest.mark.parametrize("served", [b"", b"\xff", ENCODER.encode(event("another.md"))])
def test_a_lost_message_under_a_key_that_is_not_its_events_ends_nobody_elses(served):
    """Hostile headers end no event: what they say must be sound and under its own key."""
    message = Change(event=event(data=b"x" * LIMIT))
    value, headers = encode(message, limit_bytes=LIMIT, blobs=memory_blobs())
    headers = [(name, text) for name, text in headers if name != "upwell-event"]
    error = refused(value, [*headers, ("upwell-event", served)], CHANGES, key_of(message))
    assert error.reason is Reason.INVALID_EVENT


def test_the_limit_counts_key_and_headers():
    """At no length does what is sent exceed the limit, however long the key is."""
    doc = "ü" * 1500
    for room in range(LIMIT - 9000, LIMIT, 97):
        message = Change(event=event(doc, data=b"x" * room, event_id="e"))
        value, headers = encode(message, limit_bytes=LIMIT, blobs=memory_blobs())
        sent = len(value) + len(key_of(message)) + sum(len(name) + len(text) for name, text in headers)
        assert sent <= LIMIT


def test_the_trace_is_a_header():
    """The event's traceparent goes where other tools look for it."""
    trace = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
    _, headers = encode(Change(event=event(traceparent=trace)), limit_bytes=LIMIT, blobs=memory_blobs())
    assert ("traceparent", trace.encode()) in headers


def test_without_a_schema_it_is_version_1_of_what_the_topic_carries():
    """Another producer may write plain messages."""
    message = Change(event=event())
    value = ENCODER.encode(message)
    assert decode(value, [], CHANGES, key=key_of(message), blobs=memory_blobs()) == message


@pytest.mark.parametrize(
    "said", [b"parsed/2", b"chunked/1", b"change/1", b"", b"\xff\xfe", b"parsed", b"secret words/1"]
)
def test_an_unknown_schema_is_named_with_those_that_are_known(said):
    """Also a known message on the wrong topic; what is no schema's name is not repeated."""
    message = Parsed(event=event(), document=ParsedDocument(status=ParseStatus.EMPTY))
    value = ENCODER.encode(message)
    error = refused(value, [("upwell-schema", said)], PARSED, key_of(message))
    assert error.reason is Reason.UNKNOWN_SCHEMA
    assert "known here: parsed/1" in error.detail
    assert "secret" not in error.detail


def test_an_event_of_a_later_schema_is_refused():
    """The event says its own version."""
    error = refused(ENCODER.encode(Change(event=event(schema=2))), [], CHANGES, topics.key_of(event().key))
    assert error.reason is Reason.UNKNOWN_SCHEMA
    assert "change_event/2" in error.detail


@pytest.mark.parametrize("depth", [100, 100_000])
def test_deep_nesting_is_refused(depth):
    """Of any depth that the reader's stack does not hold, known fields or unknown ones; a shallow one is read."""
    one = b"\x82\xa6status\xa2ok\xa8children\x91"
    document = one * depth + b"\x81\xa6status\xa2ok"
    value = b"\x82\xa5event" + ENCODER.encode(event()) + b"\xa8document" + document
    key = topics.key_of(event().key)
    if depth == 100:
        assert decode(value, [], PARSED, key=key, blobs=memory_blobs())
        return
    assert refused(value, [], PARSED, key).reason is Reason.INVALID_EVENT
    unknown = b"\x82\xa5event" + ENCODER.encode(event()) + b"\xa1x" + b"\x91" * depth + b"\xc0"
    assert refused(unknown, [], CHANGES, key).reason is Reason.INVALID_EVENT


@pytest.mark.parametrize(
    ("value", "says"),
    [
        (b"", "broken msgpack"),
        (b"secret", "Change"),
        (b"\x81\xa5event\xa6secret", "at $.event"),
        (b"\x81\xa5event" + ENCODER.encode({"op": "secret"}), "at $.event.op"),
        (b"\xdd\xff\xff\xff\xff", "Change"),
        (ENCODER.encode(Change(event=event()))[:-1], "broken msgpack"),
        (ENCODER.encode(Change(event=event())) + b"\x00", "broken msgpack"),
        (ENCODER.encode(event()), "wrong shape"),
    ],
)
def test_what_is_no_message_is_refused_and_not_quoted(value, says):
    """Broken bytes, other shapes, claimed lengths; a place is named by our own fields only."""
    error = refused(value, [], CHANGES, b"[]")
    assert error.reason is Reason.INVALID_EVENT
    assert says in error.detail
    assert "secret" not in error.detail
    assert error.__cause__ is None
    assert error.__suppress_context__


@pytest.mark.parametrize("key", [None, b"", b'["default","wiki","b.md"]', b'["default", "wiki", "a.md"]'])
def test_a_key_that_is_not_its_documents_is_refused(key):
    """Order by document rests on the key."""
    error = refused(ENCODER.encode(Change(event=event("a.md"))), [], CHANGES, key)
    assert error.reason is Reason.INVALID_EVENT
    assert "key" in error.detail


@pytest.mark.parametrize(
    "spoilt",
    [
        {"version": 2**53},
        {"version": -2},
        {"acl_version": 2**64 - 1},
        {"received_at": -(2**63)},
        {"modified_at": 2**63},
        {"tenant": ""},
        {"source": "s" * 256},
        {"event_id": ""},
        {"previous_doc_id": ""},
        {"title": "a\0b"},
        {"metadata": {"a\0": "b"}},
        {"metadata": {"a": "b\0"}},
        {"content": BlobRef.of(DocKey(tenant="default", source="wiki", doc_id="other"), b"x", 1)},
    ],
    ids=lambda spoilt: next(iter(spoilt)),
)
def test_an_unsound_event_is_refused(spoilt):
    """What no database takes, and a reference to another document's blob."""
    bad = event("a.md", **spoilt)
    error = refused(ENCODER.encode(Change(event=bad)), [], CHANGES, topics.key_of(bad.key))
    assert error.reason is Reason.INVALID_EVENT
    assert next(iter(spoilt)) in error.detail


def test_content_of_its_own_is_sound():
    """Inline bytes, the document's own blob, and what a connector fetches."""
    blobs = memory_blobs()
    for content in (
        Inline(data=b"\xff"),
        blobs.put(event().key, b"x", 1),
        SourceRef(connector="s3", uri="s3://b/k"),
        None,
    ):
        message = Change(event=event(content=content))
        value, headers = encode(message, limit_bytes=LIMIT, blobs=blobs)
        assert decode(value, headers, CHANGES, key=key_of(message), blobs=blobs) == message


def test_a_blob_of_another_document_is_refused():
    """A reference and a key that do not agree: the message is not what the key says."""
    blobs = memory_blobs()
    message = Change(event=event("a.md"))
    stolen = blobs.put(event("b.md").key, ENCODER.encode(message), 1)
    error = refused(ENCODER.encode(stolen), [("upwell-blob", b"1")], CHANGES, key_of(message), blobs)
    assert error.reason is Reason.INVALID_EVENT


def test_a_lost_blob_and_one_that_claims_too_much_are_refused():
    """The first has its own reason; the second is never read."""
    blobs = memory_blobs()
    ref = BlobRef.of(event().key, b"gone", 1)
    key = topics.key_of(event().key)
    assert refused(ENCODER.encode(ref), [("upwell-blob", b"1")], CHANGES, key, blobs).reason is Reason.BLOB_MISSING
    huge = msgspec.structs.replace(ref, size=LARGEST_BYTES + 1)
    assert refused(ENCODER.encode(huge), [("upwell-blob", b"1")], CHANGES, key, blobs).reason is Reason.TOO_LARGE


@pytest.mark.parametrize("where", ["title", "doc_id", "traceparent"])
def test_text_that_is_not_unicode_is_refused_when_it_is_written(where):
    """Half a surrogate pair has no bytes."""
    bad = event(**{"doc_id" if where == "doc_id" else where: "\ud800"}) if where != "doc_id" else event("\ud800")
    with pytest.raises(Rejected) as e:
        encode(Change(event=bad), limit_bytes=LIMIT, blobs=memory_blobs())
    assert e.value.reason is Reason.INVALID_EVENT


def test_every_topic_carries_something_that_has_a_version():
    """No topic without a message, no message that cannot be read."""
    assert set(CARRIES) == set(topics.ALL)
    assert set(CARRIES.values()) == set(VERSIONS)
