"""Between the registry's rows and the records: the one place that knows how each column is encoded."""

import json
import re
from collections.abc import Mapping
from typing import Any

import msgspec

from upwell.lake.schema import APPLIED
from upwell.ports import AclEnd, AppliedEntry, ChildFacts, DocumentRow, ManifestEntry, MissingAcl, PendingAcl
from upwell.records import JSON_ENCODER, Acl, DocKey, Kind, Outcome, ParseStatus, Span

Row = Mapping[Any, Any]

APPLIED_COLUMNS = tuple(c.name for c in APPLIED.columns if c.name != "seq")

_SURROGATE = re.compile("[\ud800-\udfff]")
_ACL = msgspec.json.Decoder(Acl)
_PENDING = msgspec.json.Decoder(tuple[PendingAcl, ...])
_ENDS = msgspec.json.Decoder(tuple[AclEnd, ...])
_MISSING = msgspec.json.Decoder(tuple[MissingAcl, ...])
_CHILDREN = msgspec.json.Decoder(tuple[ChildFacts, ...])
_WORDS = msgspec.json.Decoder(dict[str, str])
_PATH = msgspec.json.Decoder(tuple[str, ...])
_LINKS = msgspec.json.Decoder(tuple[str, ...])
_BOX = msgspec.json.Decoder(tuple[float, float, float, float])
_SPANS = msgspec.json.Decoder(tuple[tuple[int, int, int], ...])
_AS_IS: tuple[str, ...] = (
    "rev",
    "version",
    "rank",
    "content_sha256",
    "acl_version",
    "acl_read",
    "moved_to",
    "title",
    "url",
    "media_type",
    "language",
    "modified_at",
    "received_at",
    "searchable_at",
    "failed_version",
    "stale_since",
    "stale_reason",
)


def json_of(value: object) -> str:
    """Deterministic JSON: equal values, equal text. A lone surrogate, which no encoding takes, becomes U+FFFD."""
    try:
        return JSON_ENCODER.encode(value).decode()
    except UnicodeEncodeError:
        plain = msgspec.to_builtins(value, order="deterministic")
        return _SURROGATE.sub("\ufffd", json.dumps(plain, ensure_ascii=False, separators=(",", ":")))


def key_of(row: Row) -> DocKey:
    return DocKey(tenant=row["tenant"], source=row["source"], doc_id=row["doc_id"])


def document_values(row: DocumentRow) -> dict[str, object]:
    """A document's columns; `rev` as the record has it."""
    return {name: getattr(row, name) for name in _AS_IS} | {
        "doc": row.key.digest,
        "tenant": row.key.tenant,
        "source": row.key.source,
        "doc_id": row.key.doc_id,
        "deleted": int(row.deleted),
        "hold": int(row.hold),
        "acl": json_of(row.acl),
        "pending": json_of(row.pending),
        "reserve": json_of(row.reserve),
        "ends": json_of(row.ends),
        "acl_missing": json_of(row.acl_missing),
        "acl_missing_since": row.acl_missing_since,
        "metadata": json_of(row.metadata),
        "lineage": json_of(row.lineage),
        "links": json_of(row.links),
        "children": json_of(row.children),
        "status": None if row.status is None else str(row.status),
    }


def document_of(row: Row) -> DocumentRow:
    known = {name: row[name] for name in _AS_IS}
    return DocumentRow(
        **known,
        key=key_of(row),
        deleted=bool(row["deleted"]),
        hold=bool(row["hold"]),
        acl=_ACL.decode(row["acl"]),
        pending=_PENDING.decode(row["pending"]),
        reserve=_PENDING.decode(row["reserve"]),
        ends=_ENDS.decode(row["ends"]),
        acl_missing=_MISSING.decode(row["acl_missing"]),
        metadata=_WORDS.decode(row["metadata"]),
        lineage=_WORDS.decode(row["lineage"]),
        links=_LINKS.decode(row["links"]),
        children=_CHILDREN.decode(row["children"]),
        status=None if row["status"] is None else ParseStatus(row["status"]),
    )


def chunk_values(doc: str, pipeline: str, entry: ManifestEntry) -> dict[str, object]:
    """A chunk's columns; `doc` is the digest of its document's key."""
    return {
        "pipeline": pipeline,
        "point_id": entry.point_id,
        "doc": doc,
        "ordinal": entry.ordinal,
        "chunk_key": entry.chunk_key,
        "embed_key": entry.embed_key,
        "born": entry.born,
        "tokens": entry.tokens,
        "text_hash": entry.text_hash,
        "kind": str(entry.kind),
        "heading_path": json_of(entry.heading_path),
        "page": entry.page,
        "bbox": None if entry.bbox is None else json_of(entry.bbox),
        "parent": entry.parent,
        "spans": json_of([(span.block, span.start, span.end) for span in entry.spans]),
        "child": entry.child,
    }


def chunk_of(row: Row) -> ManifestEntry:
    return ManifestEntry(
        point_id=row["point_id"],
        chunk_key=row["chunk_key"],
        embed_key=row["embed_key"],
        ordinal=row["ordinal"],
        born=row["born"],
        tokens=row["tokens"],
        text_hash=row["text_hash"],
        kind=Kind(row["kind"]),
        heading_path=_PATH.decode(row["heading_path"]),
        page=row["page"],
        bbox=None if row["bbox"] is None else _BOX.decode(row["bbox"]),
        parent=row["parent"],
        spans=tuple(Span(block=b, start=s, end=e) for b, s, e in _SPANS.decode(row["spans"])),
        child=row["child"],
    )


def applied_values(entry: AppliedEntry) -> dict[str, object]:
    return {
        "doc": entry.key.digest,
        "at": entry.at,
        "event_id": entry.event_id,
        "op": entry.op,
        "version": entry.version,
        "acl_version": entry.acl_version,
        "outcome": str(entry.outcome),
        "detail": entry.detail,
    }


def applied_of(key: DocKey, row: Row) -> AppliedEntry:
    return AppliedEntry(
        key=key,
        at=row["at"],
        event_id=row["event_id"],
        op=row["op"],
        version=row["version"],
        acl_version=row["acl_version"],
        outcome=Outcome(row["outcome"]),
        detail=row["detail"],
    )
