"""S3 notifications, AWS's and MinIO's: keys decoded, kinds told apart, replays the same event."""

import json

import pytest

from gateways import NOW, webhooks
from upwell.errors import Reason, Rejected
from upwell.records import Acl, Op, SourceRef
from upwell.sources.hooks import Delivery, read
from upwell.sources.terms import Terms

STAFF = Acl(levels=(frozenset({"group:staff"}),))
TERMS = Terms(
    tenant="default", source="bucket", acl=STAFF, connector="s3", roots=("s3://sourcebucket/", "s3://test-bucket/")
)


def record(name="ObjectCreated:Put", key="a.md", time="2025-02-06T01:04:31.998Z", bucket="sourcebucket", **more):
    return {"eventName": name, "eventTime": time, "s3": {"bucket": {"name": bucket}, "object": {"key": key, **more}}}


def taken(*records, terms=TERMS, now=NOW):
    return read(Delivery(headers={}, body=json.dumps({"Records": records}).encode()), "s3", terms, now)


def test_a_created_object_is_an_upsert_that_fetch_will_read():
    (event,) = taken(record(key="docs/plan+2024%20%C3%A9.md", size=12)).events
    assert (event.op, event.doc_id, event.version) == (Op.UPSERT, "docs/plan 2024 é.md", 1738803871998000)
    assert event.content == SourceRef(connector="s3", uri="s3://sourcebucket/docs/plan 2024 é.md", size=12)
    assert (event.acl, event.acl_version, event.received_at) == (STAFF, 0, NOW)


@pytest.mark.parametrize(
    "name",
    [
        "ObjectRemoved:Delete",
        "s3:ObjectRemoved:DeleteMarkerCreated",
        "s3:LifecycleExpiration:Delete",
        "s3:LifecycleExpiration:DeleteMarkerCreated",
    ],
)
def test_a_removed_object_is_a_delete_without_content(name):
    (event,) = taken(record(name)).events
    assert (event.op, event.content, event.acl) == (Op.DELETE, None, None)


@pytest.mark.parametrize(
    "name",
    [
        "s3:ObjectRestore:Completed",
        "s3:ObjectAcl:Put",
        "s3:ObjectAccessed:Get",
        "ObjectCreatedX:Put",
        "",
        "ObjectRemoved",
    ],
)
def test_other_kinds_are_counted_and_ignored(name):
    found = taken(record(name), record())
    assert (len(found.events), found.ignored) == (1, 1)


def test_lifecycle_that_clears_an_old_version_hides_nothing():
    assert taken(record("s3:LifecycleExpiration:Delete", versionId="v1")).ignored == 1


def test_what_lies_outside_the_roots_is_ignored():
    for key, bucket in [
        ("a.md", "other"),
        ("a.md", "sourcebucket2"),
        ("../x", "sourcebucket"),
        ("a/%2E%2E/x", "sourcebucket"),
    ]:
        assert taken(record(key=key, bucket=bucket)).ignored == 1, key
    assert taken(record(), terms=Terms(tenant="default", source="bucket")).ignored == 1


def test_folder_markers_are_ignored():
    assert taken(record(key="docs/")).ignored == 1


def test_a_replay_is_the_same_event_and_another_time_is_another():
    first, replay = taken(record()).events[0], taken(record(), now=NOW + 5).events[0]
    assert first.event_id == replay.event_id
    others = [
        taken(record(time="2025-02-06T01:04:31.999Z")).events[0],
        taken(record(sequencer="02")).events[0],
        taken(record(key="b.md")).events[0],
        taken(record("ObjectRemoved:Delete")).events[0],
        taken(record(), terms=Terms(tenant="default", source="twin", roots=TERMS.roots)).events[0],
    ]
    assert len({first.event_id, *(event.event_id for event in others)}) == 6


def test_keys_that_look_alike_are_two_documents():
    composed, decomposed = taken(record(key="%C3%A9.md"), record(key="e%CC%81.md")).events
    assert composed.doc_id != decomposed.doc_id


def test_the_test_event_is_accepted_without_events():
    body = b'{"Service":"Amazon S3","Event":"s3:TestEvent","Time":"2014-10-13T15:57:02.089Z","Bucket":"b"}'
    assert read(Delivery(headers={}, body=body), "s3", TERMS, NOW).events == ()


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"{}",
        b"[]",
        b"null",
        b'{"Records": 1}',
        b'{"Records": [1]}',
        b'{"Records": [{"eventName": "ObjectCreated:Put"}]}',
        b'{"Records": [{"eventName": "ObjectCreated:Put", "s3": {"bucket": {"name": "sourcebucket"}, "object": {}}}]}',
        b"\xff\xfe",
        b'{"a":' * 100_000,
        b'{"Records": [{"s3": ' + b"[" * 50_000,
        json.dumps({"Records": [record(time="yesterday")]}).encode(),
        json.dumps({"Records": [record(time="2025-02-06T01:04:31")]}).encode(),
        json.dumps({"Records": [record(time="0001-01-01T00:00:00Z")]}).encode(),
        json.dumps({"Records": [record(time="9999-01-01T00:00:00Z")]}).encode(),
        json.dumps({"Records": [record(key="%ff")]}).encode(),
        json.dumps({"Records": [record(key="a%00")]}).encode(),
        json.dumps({"Records": [record(key="")]}).encode(),
        json.dumps({"Records": [record(key="x" * 1025)]}).encode(),
    ],
)
def test_what_is_no_notification_is_refused_with_a_reason(body):
    with pytest.raises(Rejected) as refused:
        read(Delivery(headers={}, body=body), "s3", TERMS, NOW)
    assert refused.value.reason is Reason.INVALID_EVENT


def test_too_many_records_are_refused():
    with pytest.raises(Rejected) as refused:
        taken(*[record()] * 1001)
    assert refused.value.reason is Reason.TOO_LARGE


REAL = {
    "aws/s3_object_created_put.json": [("upsert", "Happy Face.jpg")],
    "aws/s3_with_decoded_key.json": [("upsert", "Happy Face.jpg")],
    "aws/derived_s3_object_removed_delete.json": [("delete", "docs/plan 2024.md")],
    "aws/derived_s3_delete_marker.json": [("delete", "docs/plan 2024.md")],
    "aws/s3_lifecycle_expiration.json": [],
    "aws/s3_replication.json": [],
    "aws/s3_restore.json": [],
    "aws/sns_notification.json": [],
    "aws/sqs_message.json": [],
    "aws/dynamodb_stream.json": [],
    "minio/object_created_put.json": [("upsert", "image.jpg")],
    "minio/derived_object_removed_delete.json": [("delete", "folder/file name.txt")],
}


@pytest.mark.parametrize("name", REAL)
def test_real_deliveries(name):
    found = read(Delivery(headers={}, body=(webhooks() / name).read_bytes()), "s3", TERMS, NOW)
    assert [(event.op, event.doc_id) for event in found.events] == REAL[name]
    assert found.ignored == (0 if REAL[name] else len(json.loads((webhooks() / name).read_text())["Records"]))


def test_of_a_real_pair_in_the_wrong_order_the_delete_wins():
    """One time, two sequencers: at equal versions a delete stands above an upsert."""
    lines = (webhooks() / "aws" / "derived_out_of_order_pair.jsonl").read_bytes().splitlines()
    delete, upsert = (read(Delivery(headers={}, body=line), "s3", TERMS, NOW).events[0] for line in lines)
    assert (delete.op, upsert.op) == (Op.DELETE, Op.UPSERT)
    assert delete.version >= upsert.version
