"""CloudEvents 1.0 over HTTP: structured, batched and binary (cloudevents.io, spec and HTTP protocol binding).

S3 records inside (`com.amazonaws.s3.…`, the spec's own adapter) are read as such. Of any other event `subject` is the
document's id and `time` its version; the type's last word says whether it was deleted; content is the event's data or
lies where the `dataref` extension says. What has no subject, or no content and no delete, means nothing here.
"""

import base64
import binascii
from typing import Any
from urllib.parse import unquote

import msgspec

from upwell.errors import Reason, Rejected
from upwell.records import ChangeEvent, Content, Inline, Op, SourceRef, stable_hash
from upwell.sources.hooks import s3
from upwell.sources.hooks.delivery import Delivery, Taken, micros
from upwell.sources.offers import MOST_EVENTS, check_content, check_text, decode
from upwell.sources.terms import Terms

STRUCTURED, BATCH = "application/cloudevents+json", "application/cloudevents-batch+json"
S3_TYPES = "com.amazonaws.s3."
DELETES = frozenset({"deleted", "delete", "removed", "remove"})
MOST_SUBJECT = 2048


class CloudEvent(msgspec.Struct):
    """The attributes that matter here; `datacontenttype` absent means JSON."""

    specversion: str
    id: str
    source: str
    type: str
    subject: str | None = None
    time: str | None = None
    datacontenttype: str | None = None
    dataref: str | None = None
    data: msgspec.Raw | msgspec.UnsetType = msgspec.UNSET
    data_base64: str | None = None


_ONE = msgspec.json.Decoder(CloudEvent)
_MANY = msgspec.json.Decoder(list[CloudEvent])
_ANY = msgspec.json.Decoder(Any)


def read(delivery: Delivery, terms: Terms, now: int) -> Taken:
    """The events of a delivery. Raises Rejected `invalid_event` or `too_large`."""
    declared = delivery.headers.get("content-type", "").partition(";")[0].strip().lower()
    if declared == BATCH:
        found = decode(_MANY, delivery.body)
    elif declared == STRUCTURED:
        found = [decode(_ONE, delivery.body)]
    elif "ce-specversion" in delivery.headers:
        return _taken([_binary(delivery)], terms, now, delivery.body)
    else:
        raise Rejected(Reason.INVALID_EVENT, f"a CloudEvent has ce- headers or comes as {STRUCTURED}")
    return _taken(found, terms, now)


def _binary(delivery: Delivery) -> CloudEvent:
    try:
        said = {
            name.removeprefix("ce-"): unquote(value, errors="strict")
            for name, value in delivery.headers.items()
            if name.startswith("ce-") and name not in {"ce-data", "ce-data_base64"}
        }
    except UnicodeDecodeError as e:
        raise Rejected(Reason.INVALID_EVENT, "a ce- header is not UTF-8") from e
    try:
        return msgspec.convert({**said, "datacontenttype": delivery.headers.get("content-type")}, CloudEvent)
    except msgspec.ValidationError as e:
        raise Rejected(Reason.INVALID_EVENT, f"not a CloudEvent: {str(e)[:300]}") from e


def _taken(found: list[CloudEvent], terms: Terms, now: int, body: bytes | None = None) -> Taken:
    if len(found) > MOST_EVENTS:
        raise Rejected(Reason.TOO_LARGE, f"{len(found)} events at once, at most {MOST_EVENTS} are taken")
    events: list[ChangeEvent] = []
    ignored = 0
    for one in found:
        if one.specversion != "1.0":
            raise Rejected(Reason.INVALID_EVENT, "specversion: 1.0 is understood, no other")
        meant = _s3(one, terms, now, body) if one.type.startswith(S3_TYPES) else _generic(one, terms, now, body)
        events += meant
        ignored += not meant
    return Taken(events=tuple(events), ignored=ignored)


def _s3(event: CloudEvent, terms: Terms, now: int, body: bytes | None) -> list[ChangeEvent]:
    """`data` is the S3 record, or a notification with one."""
    data = _inline(event, body)
    said: Any = decode(_ANY, data) if data else None
    many = isinstance(said, dict) and isinstance(said.get("Records"), list)
    records = said["Records"] if many else [said]
    try:
        read_as = msgspec.convert(records, list[s3.S3Record])
    except msgspec.ValidationError as e:
        raise Rejected(Reason.INVALID_EVENT, f"data is no S3 record: {str(e)[:300]}") from e
    return [found for record in read_as if (found := s3.event_of(record, terms, now)) is not None]


def _generic(event: CloudEvent, terms: Terms, now: int, body: bytes | None) -> list[ChangeEvent]:
    if not event.subject:
        return []
    deleted = event.type.rpartition(".")[2].lower() in DELETES
    content = None if deleted else _content(event, terms, body)
    if not deleted and content is None:
        return []
    check_text(event.subject, event.datacontenttype)
    if len(event.subject) > MOST_SUBJECT or len(event.datacontenttype or "") > 200:
        raise Rejected(Reason.INVALID_EVENT, "a subject or a media type is too long")
    if event.time is None:
        raise Rejected(Reason.INVALID_EVENT, "an event without a time has no place among the others")
    version = micros(event.time)
    return [
        ChangeEvent(
            event_id=stable_hash("cloudevents", terms.tenant, terms.source, event.source, event.id, event.subject),
            tenant=terms.tenant,
            source=terms.source,
            doc_id=event.subject,
            op=Op.DELETE if deleted else Op.UPSERT,
            version=version,
            received_at=now,
            modified_at=version,
            content=content,
            media_type=None if deleted or isinstance(content, SourceRef) else _media_type(event),
            acl=None if deleted else terms.acl,
        )
    ]


def _content(event: CloudEvent, terms: Terms, body: bytes | None) -> Content | None:
    if event.dataref is not None:
        if terms.connector is None:
            raise Rejected(Reason.INVALID_EVENT, "dataref: the source has no connector that fetches")
        content: Content = SourceRef(connector=terms.connector, uri=event.dataref)
    elif (data := _inline(event, body)) is not None:
        content = Inline(data=data)
    else:
        return None
    check_content(content, event.subject or "", terms)
    return content


def _inline(event: CloudEvent, body: bytes | None) -> bytes | None:
    """The data's bytes: the body of a binary event, else `data_base64`, a text, or JSON as it stands."""
    if body is not None:
        return body or None
    if event.data_base64 is not None:
        try:
            return base64.b64decode(event.data_base64, validate=True)
        except (binascii.Error, ValueError) as e:
            raise Rejected(Reason.INVALID_EVENT, "data_base64 is not base64") from e
    if isinstance(event.data, msgspec.UnsetType):
        return None
    raw = bytes(event.data)
    if raw[:1] == b'"' and not _is_json(_media_type(event)):
        return str(decode(_ANY, raw)).encode()
    return None if raw == b"null" else raw


def _media_type(event: CloudEvent) -> str:
    return (event.datacontenttype or "application/json").partition(";")[0].strip().lower()


def _is_json(media_type: str) -> bool:
    return media_type == "application/json" or media_type.endswith("+json")
