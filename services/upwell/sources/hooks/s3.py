"""S3 event notifications, as AWS and MinIO send them.

A record is a hint: it brings no content, and what is fetched is the object as it stands then. Versions are the event's
time in microseconds, never the sequencer, so that hooks and listings share one clock. A document's id is the object's
key, exactly (no Unicode normalization: two keys that look alike are two objects).
Format: docs.aws.amazon.com/AmazonS3/latest/userguide/notification-content-structure.html.
"""

from typing import Any
from urllib.parse import unquote_plus

import msgspec

from upwell.errors import Reason, Rejected
from upwell.records import ChangeEvent, Op, SourceRef, stable_hash
from upwell.sources.hooks.delivery import Delivery, Taken, micros
from upwell.sources.offers import MOST_EVENTS, check_text, decode
from upwell.sources.terms import Terms, within

TEST_EVENT = "s3:TestEvent"
MOST_KEY_BYTES = 1024
"""The longest key that S3 allows."""
VAGUE_TYPES = frozenset({"application/octet-stream", "binary/octet-stream"})


class _Bucket(msgspec.Struct):
    name: str


class _Object(msgspec.Struct, rename="camel"):
    key: str
    size: int | None = None
    content_type: str | None = None
    version_id: str | None = None
    sequencer: str | None = None


class _Entity(msgspec.Struct):
    bucket: _Bucket
    object: _Object


class S3Record(msgspec.Struct, rename="camel"):
    """One record; of an event that is none of ours nothing but its name is looked at."""

    event_name: str = ""
    event_time: str = ""
    s3: Any = None


class _Notification(msgspec.Struct, rename="pascal"):
    records: list[S3Record] | None = None
    event: str | None = None


_DECODER = msgspec.json.Decoder(_Notification)


def read(delivery: Delivery, terms: Terms, now: int) -> Taken:
    """The events of a notification. Raises Rejected `invalid_event` or `too_large`."""
    found = decode(_DECODER, delivery.body)
    if found.records is None:
        if found.event == TEST_EVENT:
            return Taken(ignored=1)
        raise Rejected(Reason.INVALID_EVENT, "an S3 notification has Records")
    if len(found.records) > MOST_EVENTS:
        raise Rejected(Reason.TOO_LARGE, f"{len(found.records)} records at once, at most {MOST_EVENTS} are taken")
    events = [event for record in found.records if (event := event_of(record, terms, now)) is not None]
    return Taken(events=tuple(events), ignored=len(found.records) - len(events))


def event_of(record: S3Record, terms: Terms, now: int) -> ChangeEvent | None:
    """What a record means; None for a kind that changes no document, and for what lies outside the source's roots.

    Raises Rejected `invalid_event` for a record of a known kind that lacks what it must say.
    """
    name = record.event_name.removeprefix("s3:")
    if (op := _op(name)) is None:
        return None
    try:
        entity = msgspec.convert(record.s3, _Entity)
    except msgspec.ValidationError as e:
        raise Rejected(Reason.INVALID_EVENT, f"an S3 record is not whole: {str(e)[:300]}") from e
    key = _key(entity.object.key)
    uri = f"s3://{entity.bucket.name}/{key}"
    if key.endswith("/") or not within(uri, terms.roots) or _is_old_version(name, entity.object):
        return None
    version = micros(record.event_time)
    upsert = op is Op.UPSERT
    told = (entity.bucket.name, key, name, version, entity.object.sequencer, entity.object.version_id)
    return ChangeEvent(
        event_id=stable_hash("s3", terms.tenant, terms.source, *told),
        tenant=terms.tenant,
        source=terms.source,
        doc_id=key,
        op=op,
        version=version,
        received_at=now,
        modified_at=version,
        content=SourceRef(connector=terms.connector or "s3", uri=uri, size=entity.object.size) if upsert else None,
        media_type=_media_type(entity.object.content_type) if upsert else None,
        url=uri if upsert else None,
        acl=terms.acl if upsert else None,
    )


def _op(name: str) -> Op | None:
    kind, _, how = name.partition(":")
    if kind == "ObjectCreated":
        return Op.UPSERT
    return Op.DELETE if kind in {"ObjectRemoved", "LifecycleExpiration"} and how else None


def _is_old_version(name: str, found: _Object) -> bool:
    """Lifecycle rules clear away versions that were replaced long ago; the object that stands is another."""
    return name == "LifecycleExpiration:Delete" and found.version_id not in (None, "", "null")


def _key(encoded: str) -> str:
    """The key in plain: notifications carry it form-encoded (`+` is a space)."""
    try:
        key = unquote_plus(encoded, errors="strict")
    except UnicodeDecodeError as e:
        raise Rejected(Reason.INVALID_EVENT, "an S3 key is not UTF-8") from e
    check_text(key)
    if not key or len(key.encode()) > MOST_KEY_BYTES:
        raise Rejected(Reason.INVALID_EVENT, "an S3 key is empty or longer than S3 allows")
    return key


def _media_type(said: str | None) -> str | None:
    """A type that says something; the content is looked at in any case."""
    return said if said and said not in VAGUE_TYPES and len(said) <= 200 and "\0" not in said else None
