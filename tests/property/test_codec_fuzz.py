"""The log is an untrusted input: any message survives the trip, and any bytes are a message or Rejected, nothing else."""

import msgspec
from hypothesis import given
from hypothesis import strategies as st

from stream_samples import event, memory_blobs, messages
from upwell.errors import Rejected
from upwell.messages import Change, Chunked, Dead, Embedded, Ended, Parsed, Prefixed
from upwell.records import ENCODER, BlobRef, Vectors
from upwell.runtime.stream import topics
from upwell.runtime.stream.bounds import flaw
from upwell.runtime.stream.codec import CARRIES, decode, encode

KINDS = (Change, Parsed, Chunked, Prefixed, Embedded, Ended, Dead)
TOPIC = {kind: topic for topic, kind in CARRIES.items()}
BLOBS = memory_blobs()

words = st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), max_size=20)
st.register_type_strategy(str, words)
st.register_type_strategy(int, st.integers(-(2**63), 2**64 - 1))
st.register_type_strategy(float, st.floats(allow_nan=False))  # what is not a number equals nothing, itself neither
halves = st.binary(min_size=4, max_size=64).filter(lambda data: len(data) % 2 == 0)
vectors = st.builds(Vectors, dense=halves, late=halves)
names = words.filter(bool)
numbers = st.integers(0, 2**53 - 1)


@st.composite
def events(draw):
    """A sound event with any texts."""
    named = {name: draw(names) for name in ("doc_id", "event_id", "tenant", "source")}
    loose = {name: draw(st.none() | words) for name in ("title", "url", "media_type", "traceparent")}
    counted = {name: draw(numbers) for name in ("version", "acl_version", "received_at")}
    doc = named.pop("doc_id")
    found = event(
        doc, data=draw(st.binary(max_size=200)), metadata=draw(st.dictionaries(words, words, max_size=3)),
        **named, **loose, **counted,
    )  # fmt: skip
    assert flaw(found) is None
    return found


@st.composite
def anything(draw):
    """A message of any kind: the parts of any shape that their types allow."""
    kind = draw(st.sampled_from(KINDS))
    fields = {"event": events(), "at": numbers, "attempts": st.integers(0, 9), "raw": st.binary(max_size=99)}
    if kind is Embedded:
        fields["vectors"] = st.dictionaries(words, vectors, max_size=3)
    known = {name: value for name, value in fields.items() if name in kind.__struct_fields__}
    if kind is not Dead:
        return draw(st.builds(kind, **known))
    return draw(st.builds(Dead, **known) | st.builds(Dead, event=st.none(), at=numbers, raw=st.binary(max_size=99)))


@given(anything(), st.integers(1100, 5000))
def test_any_message_survives_the_trip(message, limit):
    """Inline or by the blob store; the bytes of vectors as they were."""
    value, headers = encode(message, limit_bytes=limit, blobs=BLOBS)
    key = topics.key_of(message.event.key) if message.event else None
    assert decode(value, headers, TOPIC[type(message)], key=key, blobs=BLOBS) == message


@given(anything())
def test_equal_messages_are_equal_bytes(message):
    """So that what was sent twice is stored once."""
    again = msgspec.msgpack.decode(ENCODER.encode(message), type=type(message))
    assert encode(again, limit_bytes=10**6, blobs=BLOBS) == encode(message, limit_bytes=10**6, blobs=BLOBS)


def survives(value, headers, topic, key):
    """A message or Rejected; anything else fails the test."""
    try:
        found = decode(value, headers, topic, key=key, blobs=BLOBS)
    except Rejected as e:
        found = e.detail
    assert isinstance(found, CARRIES[topic]) or (found.isascii() and len(found) < 300)  # with none of the content


some_headers = st.lists(
    st.tuples(
        st.sampled_from(["upwell-schema", "upwell-blob", "upwell-attempts", "traceparent", "x"]),
        st.none() | st.binary(max_size=20) | st.sampled_from([b"1", b"change/1", b"dead/1", b"embedded/1"]),
    ),
    max_size=4,
)
nested = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**63), 2**64 - 1) | st.floats() | words | st.binary(max_size=20),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(words, inner, max_size=4),
    max_leaves=12,
)


@given(st.binary(max_size=400), some_headers, st.sampled_from(topics.ALL), st.none() | st.binary(max_size=40))
def test_any_bytes_are_a_message_or_rejected(value, headers, topic, key):
    """Under any headers, on any topic."""
    survives(value, headers, topic, key)


@given(nested, some_headers, st.sampled_from(topics.ALL))
def test_any_msgpack_is_a_message_or_rejected(value, headers, topic):
    """Well-formed, of any shape."""
    survives(msgspec.msgpack.encode(value), headers, topic, b"k")


@given(st.sampled_from(messages()), st.data())
def test_a_damaged_message_is_a_message_or_rejected(message, data):
    """A true message with a byte changed, cut off or put in, and one field of any shape."""
    good = ENCODER.encode(message)
    place = data.draw(st.integers(0, len(good) - 1))
    byte = bytes([data.draw(st.integers(0, 255))])
    key = topics.key_of(event().key)
    for value in (good[:place], good[:place] + byte + good[place + 1 :], good[:place] + byte + good[place:]):
        survives(value, [], TOPIC[type(message)], key)
    tree = msgspec.msgpack.decode(good)
    holder = tree.get("event", tree) if data.draw(st.booleans()) else tree
    holder[data.draw(st.sampled_from(sorted(holder)))] = data.draw(nested)
    survives(ENCODER.encode(tree), [], TOPIC[type(message)], key)


@given(st.builds(BlobRef, uri=words | st.just("../../x"), sha256=words, size=st.integers(-5, 2**63)), st.data())
def test_any_blob_reference_is_a_message_or_rejected(ref, data):
    """It reads nothing but a blob of the store."""
    topic = data.draw(st.sampled_from(topics.ALL))
    survives(ENCODER.encode(ref), [("upwell-blob", b"1")], topic, b"k")
