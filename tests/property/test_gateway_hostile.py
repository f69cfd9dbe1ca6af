"""Whatever is sent, the gateway answers with a reason of its own: nothing that comes from outside is a 500."""

import hmac
import json
from contextlib import closing

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gateways import KEY, SECRET, Gate

TAMED = settings(deadline=None, max_examples=150, suppress_health_check=[HealthCheck.function_scoped_fixture])
LEAVES = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(max_size=20)
    | st.sampled_from(["", "upsert", "\0", "\ud800"])
)
NAMES = st.sampled_from(
    [
        "doc_id",
        "op",
        "version",
        "content",
        "type",
        "data",
        "acl",
        "levels",
        "deny",
        "metadata",
        "Records",
        "eventName",
        "eventTime",
        "s3",
        "bucket",
        "object",
        "key",
        "name",
        "size",
        "specversion",
        "id",
        "source",
        "subject",
        "time",
        "dataref",
        "uri",
    ]
)
JSON = st.recursive(
    LEAVES
    | st.sampled_from(["ObjectCreated:Put", "2025-02-06T01:04:31Z", "1.0", "s3://sourcebucket/a", "%ff", "SGk="]),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(NAMES | st.text(max_size=5), inner, max_size=6),
    max_leaves=25,
)
OBJECT = st.fixed_dictionaries({"key": LEAVES}, optional={"size": LEAVES, "versionId": LEAVES, "contentType": LEAVES})
RECORD = st.fixed_dictionaries(
    {
        "eventName": st.sampled_from(["ObjectCreated:Put", "ObjectRemoved:Delete"]) | LEAVES,
        "eventTime": st.just("2025-02-06T01:04:31Z") | LEAVES,
    },
    optional={
        "s3": st.fixed_dictionaries({"bucket": st.fixed_dictionaries({"name": LEAVES}), "object": OBJECT}) | JSON
    },
)
OFFER = st.fixed_dictionaries(
    {"doc_id": LEAVES, "op": st.sampled_from(["upsert", "delete", "acl", "erase"])},
    optional={
        "content": st.just({"type": "inline", "data": "SGk="}) | JSON,
        "version": LEAVES,
        "acl": JSON,
        "metadata": JSON,
        "title": LEAVES,
        "event_id": LEAVES,
    },
)
CLOUD = st.fixed_dictionaries(
    {
        "specversion": st.just("1.0"),
        "id": LEAVES,
        "source": LEAVES,
        "type": st.just("com.amazonaws.s3.ObjectCreated:Put") | LEAVES,
    },
    optional={
        "subject": LEAVES,
        "time": st.just("2025-02-06T01:04:31Z") | LEAVES,
        "data": JSON,
        "data_base64": LEAVES,
        "dataref": LEAVES,
    },
)
BODIES = st.one_of(
    JSON, OFFER, st.lists(OFFER, max_size=3), st.fixed_dictionaries({"Records": st.lists(RECORD, max_size=3)}), CLOUD
)
RAW = st.binary(max_size=200) | BODIES.map(lambda body: json.dumps(body).encode())
CONTENT_TYPES = st.sampled_from(
    ["application/json", "application/cloudevents+json", "application/cloudevents-batch+json", "text/plain", ""]
)


@pytest.fixture(scope="module")
def gate():
    with closing(Gate()) as made:
        yield made


def sound(gate, answer):
    """One of the answers that are documented, and nothing taken unless it says so."""
    assert answer.status_code in {202, 403, 413, 422}, answer.text
    if answer.status_code != 202:
        assert gate.sink.events == {}
        assert answer.json()["detail"]
    for event in gate.sink.events.values():
        assert (event.tenant, 0 <= event.version < 2**53, event.doc_id != "") == ("default", True, True)
    gate.sink.events.clear()


@TAMED
@given(body=RAW)
def test_any_event_is_taken_or_refused_with_a_reason(gate, body):
    sound(gate, gate.http.post("/v1/events", content=body, headers={"Authorization": f"Bearer {KEY}"}))


@TAMED
@given(body=RAW, source=st.sampled_from(["bucket", "cloud", "wiki"]), content_type=CONTENT_TYPES)
def test_any_genuine_hook_is_taken_or_refused_with_a_reason(gate, body, source, content_type):
    signature = hmac.digest(SECRET.encode(), body, "sha256").hex()
    sound(gate, gate.hook(source, body, {"X-Signature-256": signature, "Content-Type": content_type}))


@TAMED
@given(
    headers=st.dictionaries(
        st.sampled_from(
            ["ce-specversion", "ce-id", "ce-source", "ce-type", "ce-subject", "ce-time", "ce-data", "ce-x"]
        ),
        st.sampled_from(["1.0", "%ff", "%00", "a", "2025-02-06T01:04:31Z", "a.deleted"]),
    ),
    body=st.binary(max_size=50),
)
def test_any_binary_cloudevent_is_taken_or_refused_with_a_reason(gate, headers, body):
    signature = hmac.digest(SECRET.encode(), body, "sha256").hex()
    sound(gate, gate.hook("cloud", body, {"X-Signature-256": signature, **headers}))


@TAMED
@given(
    body=st.binary(max_size=100),
    source=st.sampled_from(["bucket", "cloud", "wiki", "notes", "x"]),
    value=st.binary(max_size=60),
)
def test_nothing_is_taken_without_proof(gate, body, source, value):
    shown = bytes(byte for byte in value if 33 <= byte <= 126 or byte >= 128)
    answer = gate.hook(source, body, {b"Authorization": b"Bearer " + shown + b".", b"X-Signature-256": shown})
    assert (answer.status_code, gate.sink.events) == (401, {})
