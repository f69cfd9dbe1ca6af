"""What a point holds besides its vectors. Imports no numpy: the shard's process starts with this."""

from collections.abc import Mapping

from upwell.errors import Reason, Rejected
from upwell.ports import PointRecord
from upwell.records import MAX_VERSION, DocKey

KEYWORD_FIELDS = ("tenant", "source", "doc", "allow_0", "allow_1", "allow_2", "deny")
INTEGER_FIELDS = ("acl_n", "born", "rev")
IDENTITY = frozenset({"tenant", "source", "doc_id", "doc", "chunk_key", "embed_key", "born", "text", "gate"})

Fields = Mapping[str, str | int | list[str] | None]
Payload = dict[str, str | int | list[str] | None]


def payload_of_point(point: PointRecord) -> Payload:
    """The payload: the copied fields, and over them what never changes. Points without `rev` are older than any row."""
    return {
        "rev": 0,
        **point.fields,
        "tenant": point.key.tenant,
        "source": point.key.source,
        "doc_id": point.key.doc_id,
        "doc": point.key.digest,
        "chunk_key": point.chunk_key,
        "embed_key": point.embed_key,
        "born": point.born,
        "text": point.text,
    }


def stamped_fields(rev: int, fields: Fields) -> Payload:
    """What a stamp writes: the copied fields at row revision `rev`, never a part of a point's identity.

    Raises Rejected for a field that a store could not keep.
    """
    stamped = {name: value for name, value in fields.items() if name not in IDENTITY} | {"rev": rev}
    check_fields(stamped)
    return stamped


def key_of(payload: Mapping[str, object]) -> DocKey:
    """The document that a stored point belongs to."""
    return DocKey(tenant=str(payload["tenant"]), source=str(payload["source"]), doc_id=str(payload["doc_id"]))


def check_fields(payload: Payload) -> None:
    """Raises Rejected for a name or a value that a store could not keep or would mangle."""
    for name, value in payload.items():
        if isinstance(value, bool):
            raise invalid(f"field {name!r} holds a boolean, which stores cannot filter on")
        if isinstance(value, int) and not -MAX_VERSION <= value <= MAX_VERSION:
            raise invalid(f"field {name!r} holds a number that stores would round")
        for text in (name, *([value] if isinstance(value, str) else value if isinstance(value, list) else [])):
            _check_text(text)


def _check_text(text: str) -> None:
    try:
        text.encode()
    except UnicodeEncodeError:
        raise invalid("a text that is not valid Unicode (a lone surrogate)") from None


def invalid(detail: str) -> Rejected:
    """The error for a point that no store is given."""
    return Rejected(Reason.INVALID_EVENT, f"refused before writing: {detail}")
