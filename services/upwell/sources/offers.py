"""Events as programs offer them: `ChangeEvent` in JSON, one or a list, with what the gateway fills in left out.

{"doc_id": "a.md", "op": "upsert", "content": {"type": "inline", "data": "SGVsbG8="}}
"""

from typing import Annotated, TypeVar

import msgspec
from msgspec import Meta

from upwell.errors import Reason, Rejected
from upwell.records import (
    INLINE_LIMIT_BYTES,
    MAX_VERSION,
    SCHEMA_VERSION,
    Acl,
    BlobRef,
    ChangeEvent,
    Content,
    DocKey,
    Inline,
    Lane,
    Op,
    Record,
    SourceRef,
    stable_hash,
)
from upwell.sources.terms import LOCAL, Terms, within

T = TypeVar("T")

MOST_EVENTS = 1000
MOST_METADATA = 64

Name = Annotated[str, Meta(min_length=1, max_length=200)]
DocId = Annotated[str, Meta(min_length=1, max_length=2048)]
Text = Annotated[str, Meta(max_length=4096)]
Number = Annotated[int, Meta(ge=0, le=MAX_VERSION)]
Code = Annotated[str, Meta(pattern=r"^[a-z][a-z0-9_]{0,63}$")]
"""A reason in a word: `forbidden`, `timed_out`."""


class NotYours(Rejected):
    """The event names another tenant or source than those its sender is bound to."""


class OfferedAcl(Record, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Every level must admit the reader, and `deny` wins over all. No levels: nobody."""

    levels: tuple[frozenset[Name], ...] = ()
    deny: frozenset[Name] = frozenset()


class Offer(Record, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One change in a source, as offered.

    `tenant` and `source` are the sender's own when left out. `version` orders the changes of one document, and
    `acl_version` its permissions; left out they are the time of arrival in microseconds, and the version (of a delete
    that brings its own version: 0; what it then ends, `upwell.lake.permissions` says). An `acl` event names the version
    of the content that it was read with (0: any), so that no widening overtakes its redaction. An upsert without `acl`
    gets the source's default. `acl_missing` says why the source could not tell who may read: of an upsert or an `acl`
    event without `acl`, it changes no permission. `received_at` is always the gateway's.
    """

    doc_id: DocId
    op: Op
    event_id: Name | None = None
    tenant: Name | None = None
    source: Name | None = None
    version: Number | None = None
    acl_version: Number | None = None
    previous_doc_id: DocId | None = None
    modified_at: Number | None = None
    received_at: int | None = None
    lane: Lane = Lane.LIVE
    content: Content | None = None
    media_type: Annotated[str, Meta(max_length=200)] | None = None
    title: Text | None = None
    url: Text | None = None
    acl: OfferedAcl | None = None
    acl_missing: Code | None = None
    metadata: Annotated[dict[Name, Text], Meta(max_length=MOST_METADATA)] = {}
    traceparent: Annotated[str, Meta(max_length=200)] | None = None
    schema: int = SCHEMA_VERSION


_DECODER = msgspec.json.Decoder(Offer | list[Offer])
_COUNTED = msgspec.json.Decoder(list[msgspec.Raw])
"""Sixty times as fast as reading what the parts say, which for a quarter of a million of them is three seconds in which
the whole process stands still."""


def events_of(body: bytes, terms: Terms, now: int, *, numbered: bool = False) -> list[ChangeEvent]:
    """The events of a body, all of them or none. `numbered`: each must bring its own version (a replayed hook would
    otherwise be new again).

    Raises Rejected `invalid_event`, `too_large` or `unknown_schema`, and NotYours.
    """
    if body.lstrip().startswith(b"[") and (count := len(decode(_COUNTED, body))) > MOST_EVENTS:
        raise Rejected(Reason.TOO_LARGE, f"{count} events at once, at most {MOST_EVENTS} are taken")
    decoded = decode(_DECODER, body)
    offers = decoded if isinstance(decoded, list) else [decoded]
    if numbered and any(offer.version is None for offer in offers):
        raise Rejected(Reason.INVALID_EVENT, "a signed event brings its own version")
    return [event_of(offer, terms, now, turn) for turn, offer in enumerate(offers)]


def event_of(offer: Offer, terms: Terms, now: int, turn: int = 0) -> ChangeEvent:
    """The event of an offer; of those that come together without versions, `turn` keeps the order. Raises Rejected."""
    _check(offer, terms)
    missing = offer.acl_missing is not None
    unversioned = 0 if missing and offer.op is Op.ACL else now + turn  # what it says is of no content
    version = unversioned if offer.version is None else offer.version
    acl = None if offer.acl is None else Acl(levels=offer.acl.levels, deny=offer.acl.deny)
    acl_version = offer.acl_version
    if acl_version is None:
        ends = offer.op in {Op.DELETE, Op.ERASE} and offer.version is None  # all of its numbers are times of arrival
        says = acl is not None or missing or ends
        acl_version = 0 if not says else now + turn if offer.op is Op.ACL else version
    if acl is None and offer.op is Op.UPSERT and not missing:
        acl, acl_version = terms.acl, 0
    event = ChangeEvent(
        event_id=offer.event_id or "",
        tenant=terms.tenant,
        source=terms.source,
        doc_id=offer.doc_id,
        op=offer.op,
        version=version,
        received_at=now,
        acl_version=acl_version,
        previous_doc_id=offer.previous_doc_id,
        modified_at=offer.modified_at,
        lane=offer.lane,
        content=offer.content,
        media_type=offer.media_type,
        title=offer.title,
        url=offer.url,
        acl=acl,
        acl_missing=offer.acl_missing,
        metadata=offer.metadata,
        traceparent=offer.traceparent,
    )
    return event if offer.event_id else identified(event)


def identified(event: ChangeEvent) -> ChangeEvent:
    """The event with the id that follows from all it says: the same event again has the same id."""
    said = msgspec.structs.replace(event, event_id="", received_at=0, lane=Lane.LIVE, traceparent=None)
    return msgspec.structs.replace(event, event_id=stable_hash("offered", said))


def decode(decoder: "msgspec.json.Decoder[T]", body: bytes) -> T:
    """What a hostile body says. Raises Rejected `invalid_event`, saying where it is wrong."""
    try:
        return decoder.decode(body)
    except (msgspec.MsgspecError, UnicodeDecodeError) as e:
        raise Rejected(Reason.INVALID_EVENT, f"not what is taken here: {str(e)[:300]}") from e
    except RecursionError as e:
        raise Rejected(Reason.INVALID_EVENT, "not what is taken here: nested too deep") from e


def _check(offer: Offer, terms: Terms) -> None:
    if (offer.tenant or terms.tenant, offer.source or terms.source) != (terms.tenant, terms.source):
        raise NotYours(Reason.INVALID_EVENT, "the event is of another tenant or source than yours")
    if offer.schema != SCHEMA_VERSION:
        raise Rejected(Reason.UNKNOWN_SCHEMA, f"schema {offer.schema} is not known, {SCHEMA_VERSION} is")
    if (offer.op is Op.UPSERT) != (offer.content is not None):
        raise Rejected(Reason.INVALID_EVENT, "an upsert brings its content, and nothing else does")
    if offer.previous_doc_id is not None and (offer.op is not Op.UPSERT or offer.previous_doc_id == offer.doc_id):
        raise Rejected(Reason.INVALID_EVENT, "previous_doc_id: only an upsert moves a document, from another id")
    _check_acl(offer)
    check_text(*_texts(offer))
    check_content(offer.content, offer.doc_id, terms)


def _check_acl(offer: Offer) -> None:
    said = offer.acl is not None or offer.acl_missing is not None
    if offer.op is Op.ACL and (not said or (offer.acl is not None and offer.version is None)):
        raise Rejected(Reason.INVALID_EVENT, "an acl event brings acl, and the content's version that it was read with")
    if said and offer.op not in {Op.UPSERT, Op.ACL}:
        raise Rejected(Reason.INVALID_EVENT, "acl: only an upsert or an acl event brings permissions")
    if offer.acl is not None and offer.acl_missing is not None:
        raise Rejected(Reason.INVALID_EVENT, "acl_missing: the permissions are known, or they are missing")


def check_content(content: Content | None, doc_id: str, terms: Terms) -> None:
    """Raises Rejected for content that is too large, another document's, or that the source may not have fetched."""
    key = DocKey(tenant=terms.tenant, source=terms.source, doc_id=doc_id)
    match content:
        case Inline(data=data) if len(data) > INLINE_LIMIT_BYTES:
            raise Rejected(Reason.TOO_LARGE, f"inline content of {len(data)} bytes, at most {INLINE_LIMIT_BYTES}")
        case BlobRef() as ref if not ref.belongs_to(key):
            raise Rejected(Reason.INVALID_EVENT, "the blob is not the document's own")
        case SourceRef(connector=connector) if connector != terms.connector or connector in LOCAL:
            raise Rejected(Reason.INVALID_EVENT, "the source has no such connector")
        case SourceRef(uri=uri) if not within(uri, terms.roots):
            raise Rejected(Reason.INVALID_EVENT, "the content lies outside the source's roots")
        case _:
            return


def check_text(*texts: str | None) -> None:
    """Raises Rejected for a NUL character, which no database keeps."""
    if any(text and "\0" in text for text in texts):
        raise Rejected(Reason.INVALID_EVENT, "a NUL character in a name or text")


def _texts(offer: Offer) -> list[str | None]:
    said = [offer.doc_id, offer.previous_doc_id, offer.event_id, offer.media_type, offer.title, offer.url]
    for name, value in offer.metadata.items():
        said += [name, value]
    if offer.acl is not None:
        said += [principal for level in (*offer.acl.levels, offer.acl.deny) for principal in level]
    return [*said, offer.traceparent]
