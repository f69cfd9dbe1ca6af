"""CloudEvents in their three HTTP modes, with S3 inside, and what of them means a document."""

import json

import pytest

from gateways import NOW, webhooks
from upwell.errors import Reason, Rejected
from upwell.records import Acl, Inline, Op, SourceRef
from upwell.sources.hooks import Delivery, read
from upwell.sources.terms import Terms

STAFF = Acl(levels=(frozenset({"group:staff"}),))
TERMS = Terms(
    tenant="default",
    source="cloud",
    acl=STAFF,
    connector="https",
    roots=("https://docs.example/", "s3://sourcebucket/"),
)
STRUCTURED = {"content-type": "application/cloudevents+json; charset=utf-8"}
BATCH = {"content-type": "application/cloudevents-batch+json"}


def event(**more):
    basis = {"specversion": "1.0", "id": "1", "source": "/wiki", "type": "page.changed", "subject": "a.md"}
    return {**basis, "time": "2018-04-05T17:31:00Z", **more}


def taken(body, headers=STRUCTURED, now=NOW):
    data = body if isinstance(body, bytes) else json.dumps(body).encode()
    return read(Delivery(headers=headers, body=data), "cloudevents", TERMS, now)


@pytest.mark.parametrize(
    ("said", "content", "media_type"),
    [
        ({"data": "# Title\n", "datacontenttype": "text/markdown; charset=utf-8"}, b"# Title\n", "text/markdown"),
        ({"data": "<a/>", "datacontenttype": "application/xml"}, b"<a/>", "application/xml"),
        ({"data": {"a": 1}}, b'{"a": 1}', "application/json"),
        ({"data": "text"}, b'"text"', "application/json"),
        ({"data_base64": "SGk=", "datacontenttype": "text/plain"}, b"Hi", "text/plain"),
    ],
)
def test_a_structured_event_brings_its_data(said, content, media_type):
    (found,) = taken(event(**said)).events
    assert (found.content, found.media_type, found.doc_id) == (Inline(data=content), media_type, "a.md")
    assert (found.op, found.version, found.acl) == (Op.UPSERT, 1522949460000000, STAFF)


def test_a_binary_event_is_its_body_and_headers():
    headers = {
        "ce-specversion": "1.0",
        "ce-id": "1",
        "ce-source": "/wiki",
        "ce-type": "page.changed",
        "content-type": "text/plain",
    }
    headers |= {"ce-subject": "caf%C3%A9.txt", "ce-time": "2018-04-05T17:31:00Z", "ce-other": "x"}
    (found,) = taken(b"Hello", headers).events
    assert (found.doc_id, found.content, found.media_type) == ("café.txt", Inline(data=b"Hello"), "text/plain")


def test_a_batch_is_taken_whole_and_counts_what_means_nothing():
    found = taken([event(data="x", id="1"), event(subject=None), event(type="page.deleted", id="3")], BATCH)
    assert [one.op for one in found.events] == [Op.UPSERT, Op.DELETE]
    assert found.ignored == 1


def test_content_may_lie_elsewhere_below_the_roots():
    (found,) = taken(event(dataref="https://docs.example/a.md")).events
    assert found.content == SourceRef(connector="https", uri="https://docs.example/a.md")


@pytest.mark.parametrize(
    "uri",
    [
        "https://docs.example.evil/a",
        "http://docs.example/a",
        "file:///etc/passwd",
        "https://docs.example/%2e%2e/a",
        "https://docs.example@evil/",
    ],
)
def test_content_elsewhere_than_below_the_roots_is_refused(uri):
    with pytest.raises(Rejected):
        taken(event(dataref=uri))


def test_the_same_event_again_has_the_same_id():
    first, again = taken(event(data="x")).events[0], taken(event(data="x"), now=NOW + 1).events[0]
    assert first.event_id == again.event_id
    assert taken(event(data="x", id="2")).events[0].event_id != first.event_id


def test_an_s3_record_inside_is_read_as_one():
    record = {
        "eventName": "ObjectCreated:Put",
        "eventTime": "2025-02-06T01:04:31.998Z",
        "s3": {"bucket": {"name": "sourcebucket"}, "object": {"key": "a+b.md"}},
    }
    for data in (record, {"Records": [record]}):
        (found,) = taken(event(type="com.amazonaws.s3.ObjectCreated:Put", subject="ignored", data=data)).events
        assert (found.doc_id, found.version) == ("a b.md", 1738803871998000)


@pytest.mark.parametrize(
    ("body", "headers"),
    [
        ([event()], STRUCTURED),
        (event(), BATCH),
        (event(data="x"), {"content-type": "application/json"}),
        (event(data="x"), {}),
        (event(data="x", specversion="0.3"), STRUCTURED),
        (event(data="x", time=None), STRUCTURED),
        (event(data="x", time="now"), STRUCTURED),
        (event(data_base64="... base64 encoded string ..."), STRUCTURED),
        (event(data="x", subject="a\0"), STRUCTURED),
        (event(data="x", subject="a" * 3000), STRUCTURED),
        ({"specversion": "1.0"}, STRUCTURED),
        (event(type="com.amazonaws.s3.ObjectCreated:Put", data=1), STRUCTURED),
        (b"x", {"ce-specversion": "1.0"}),
        (b"x", {"ce-specversion": "1.0", "ce-id": "%ff"}),
    ],
)
def test_what_is_not_understood_is_refused(body, headers):
    with pytest.raises(Rejected) as refused:
        taken(body, headers)
    assert refused.value.reason is Reason.INVALID_EVENT


def test_the_specifications_own_examples_are_understood_and_mean_no_document():
    """None of them has a subject, so none is of a document."""
    for path in sorted((webhooks() / "cloudevents").glob("spec_example_*.json")):
        body = path.read_bytes()
        found = taken(body, BATCH if body.lstrip().startswith(b"[") else STRUCTURED)
        assert (found.events, found.ignored) == ((), 2 if path.name.endswith("07.json") else 1), path.name
