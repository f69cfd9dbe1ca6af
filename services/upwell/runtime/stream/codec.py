"""Messages as bytes: msgpack, with headers that say what it is. What is too large for the log goes by the blob store.

| header | value |
|---|---|
| `upwell-schema` | the record and its version, `parsed/1`; without it, version 1 of what the topic carries |
| `upwell-blob` | `1`: the value is a BlobRef, and the message is in that blob of the document |
| `upwell-event` | of a message in a blob: its event without words or permission, to be ended should the blob be gone |
| `upwell-attempts` | how often the document was sent back or replayed before |
| `traceparent` | the event's W3C trace context, where it has one |

The log is an untrusted input: whatever is not exactly a known message is Rejected, and no error quotes any of it.
"""

import re
from collections.abc import Iterable, Mapping
from typing import Any

import msgspec

from upwell.errors import Reason, Rejected
from upwell.messages import Change, Chunked, Dead, Embedded, Ended, Member, Message, Parsed, Prefixed, without_words
from upwell.ports import Blobs
from upwell.records import ENCODER, BlobRef, ChangeEvent, DocKey, Lane, Membership
from upwell.runtime.stream import topics
from upwell.runtime.stream.bounds import flaw, known, membership_flaw

Headers = list[tuple[str, bytes]]
Carried = Message | Member | Dead

SCHEMA, BLOB, ATTEMPTS, TRACE = "upwell-schema", "upwell-blob", "upwell-attempts", "traceparent"
SERVED = "upwell-event"
LARGEST_BYTES = 1024 * 1024 * 1024
"""No message may be larger, in a blob either: a worker has to hold it in memory."""
HEADERS_BYTES = 1024
"""Left free of the log's limit for key, headers and framing, beside the key itself."""
UNREAD = DocKey(tenant="upwell", source="unread", doc_id="-")
"""Whose blob the bytes are that nobody could read and that are too large for the log."""
DIRECTORY = "principals"
"""The source of tenant `upwell` whose blobs are memberships that are too large for the log."""

LANED: Mapping[str, type[Message]] = {
    topics.CHANGES: Change,
    topics.PARSED: Parsed,
    topics.CHUNKED: Chunked,
    topics.PREFIXED: Prefixed,
    topics.EMBEDDED: Embedded,
}
CARRIES: Mapping[str, type[Carried]] = {
    **{topics.laned(step, lane): kind for step, kind in LANED.items() for lane in Lane},
    topics.CONTROL: Change,
    topics.PRINCIPALS: Member,
    topics.APPLIED: Ended,
    topics.DEAD: Dead,
}
"""What each topic carries."""
KINDS: tuple[type[Carried], ...] = (*LANED.values(), Member, Ended, Dead)
VERSIONS: Mapping[type[Carried], Mapping[str, Any]] = {
    kind: {f"{kind.__name__.lower()}/1": msgspec.msgpack.Decoder(kind)} for kind in KINDS
}
"""The versions of each message that this code reads, newest last; it writes the newest."""
BLOB_DECODER = msgspec.msgpack.Decoder(BlobRef)
EVENT_DECODER = msgspec.msgpack.Decoder(ChangeEvent)
PLACE = re.compile(r"at `(\$[\w.\[\]]*)`")


class Lost(Rejected):
    """The blob that held a message is gone (its document was erased, it has expired). `message` is no more than its
    event, which has still to end."""

    def __init__(self, detail: str, message: Message) -> None:
        super().__init__(Reason.BLOB_MISSING, detail)
        self.message = message


def encode(message: Carried, *, limit_bytes: int, blobs: Blobs) -> tuple[bytes, Headers]:
    """A message as the log's value and headers; with its key all of it takes at most `limit_bytes`.

    Raises Rejected `invalid_event` for text that is not Unicode or a number over 64 bits, `too_large` over
    LARGEST_BYTES; what `Blobs.put` does.
    """
    key, version = _of_blob(message)
    try:
        value = ENCODER.encode(message)
        headers = _headers(message)
        room = limit_bytes - len(topics.key_of(key)) - sum(len(text) for _, text in headers) - HEADERS_BYTES
    except (UnicodeEncodeError, OverflowError):
        raise Rejected(Reason.INVALID_EVENT, "a message with text that is not Unicode, or a huge number") from None
    if len(value) <= room:
        return value, headers
    if len(value) > LARGEST_BYTES:
        raise Rejected(Reason.TOO_LARGE, f"a message of {len(value)} bytes; at most {LARGEST_BYTES} can be sent")
    return ENCODER.encode(blobs.put(key, value, version)), [*headers, (BLOB, b"1"), *_served(message)]


def decode(
    value: bytes, headers: Iterable[tuple[str, bytes | None]], topic: str, *, key: bytes | None, blobs: Blobs
) -> Carried:
    """The message that a record of `topic` carries. `key` is the record's; a tombstone (no value) is not a message.

    Raises Rejected `unknown_schema` (saying which, and which are known), `invalid_event` for what is no such message or
    not under its document's key, `blob_missing` (as Lost where the event is known); Retryable while the blob store is
    away.
    """
    said = {name: text or b"" for name, text in headers}
    kind = CARRIES[topic]
    decoder = _decoder(said.get(SCHEMA), kind)
    if said.get(BLOB) == b"1":
        ref = _decoded(BLOB_DECODER, value, "blob reference")
        if ref.size > LARGEST_BYTES:
            raise Rejected(Reason.TOO_LARGE, f"a message of {ref.size} bytes; at most {LARGEST_BYTES} are taken")
        value = _gotten(ref, blobs, said, key)
        message = _decoded(decoder, value, kind.__name__)
        if not ref.belongs_to(_of_blob(message)[0]):
            raise Rejected(Reason.INVALID_EVENT, "a message in a blob that is not its document's")
    else:
        message = _decoded(decoder, value, kind.__name__)
    _check(message, key)
    return message  # type: ignore[no-any-return]


def blob_of(value: bytes | None, headers: Iterable[tuple[str, bytes | None]]) -> BlobRef | None:
    """Where the message of a record lies, if that is not the record itself."""
    if value is None or dict(headers).get(BLOB) != b"1":
        return None
    return _decoded(BLOB_DECODER, value, "blob reference")  # type: ignore[no-any-return]


def _of_blob(message: Carried) -> tuple[DocKey, int]:
    """Whose blob it is when the message goes by one, and the version that this is of."""
    if isinstance(message, Member):
        member = message.membership
        return DocKey(tenant=UNREAD.tenant, source=DIRECTORY, doc_id=member.key.canonical), member.version
    return (message.event.key, message.event.version) if message.event is not None else (UNREAD, 0)


def _headers(message: Carried) -> Headers:
    attempts = message.fate.attempts if isinstance(message, Dead) else message.attempts
    headers = [(SCHEMA, list(VERSIONS[type(message)])[-1].encode()), (ATTEMPTS, str(attempts).encode())]
    if message.event is not None and message.event.traceparent:
        headers.append((TRACE, message.event.traceparent.encode()))
    return headers


def _served(message: Carried) -> Headers:
    event = message.event
    return [] if event is None else [(SERVED, ENCODER.encode(msgspec.structs.replace(without_words(event), acl=None)))]


def _gotten(ref: BlobRef, blobs: Blobs, said: Mapping[str, bytes], key: bytes | None) -> bytes:
    """The blob's bytes. Raises Lost when they are gone and the headers say whose they were."""
    try:
        return blobs.get(ref)
    except Rejected as e:
        if e.reason is not Reason.BLOB_MISSING or SERVED not in said:
            raise
        message = Message(event=_decoded(EVENT_DECODER, said[SERVED], "event"))
        _check(message, key)
        raise Lost(e.detail, message) from e


def _decoder(said: bytes | None, kind: type[Carried]) -> Any:
    versions = VERSIONS[kind]
    if said is None:
        return next(iter(versions.values()))
    found = versions.get(said.decode(errors="replace"))
    if found is None:
        shown = (
            said.decode(errors="replace") if re.fullmatch(rb"[a-z_]{1,30}/[0-9]{1,6}", said) else "not a schema's name"
        )
        raise Rejected(Reason.UNKNOWN_SCHEMA, f"schema {shown}; known here: {', '.join(versions)}")
    return found


def _decoded(decoder: Any, value: bytes, what: str) -> Any:
    try:
        return decoder.decode(value)
    except msgspec.ValidationError as e:
        place = PLACE.search(str(e))  # names of our own fields; the rest of the text may quote the value
        where = f" at {place[1]}" if place else ""
        raise Rejected(Reason.INVALID_EVENT, f"not a {what}: wrong shape{where}") from None
    except (msgspec.DecodeError, UnicodeError, ValueError, OverflowError):
        raise Rejected(Reason.INVALID_EVENT, f"not a {what}: broken msgpack") from None
    except RecursionError:
        raise Rejected(Reason.INVALID_EVENT, f"not a {what}: nested too deep") from None


def _check(message: Carried, key: bytes | None) -> None:
    if isinstance(message, Member):
        _check_member(message.membership, key)
        return
    event = message.event
    if event is None:
        return
    if not known(event):
        raise Rejected(Reason.UNKNOWN_SCHEMA, f"schema change_event/{event.schema}; known here: change_event/1")
    wrong = flaw(event)
    if wrong is not None:
        raise Rejected(Reason.INVALID_EVENT, f"an unsound event: {wrong}")
    if key != topics.key_of(event.key):
        raise Rejected(Reason.INVALID_EVENT, "a message under a key that is not its document's")


def _check_member(member: Membership, key: bytes | None) -> None:
    if not known(member):
        raise Rejected(Reason.UNKNOWN_SCHEMA, f"schema membership/{member.schema}; known here: membership/1")
    wrong = membership_flaw(member)
    if wrong is not None:
        raise Rejected(Reason.INVALID_EVENT, f"an unsound membership: {wrong}")
    if key != topics.key_of(member.key):
        raise Rejected(Reason.INVALID_EVENT, "a membership under a key that is not its principal's")
