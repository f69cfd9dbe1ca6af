"""What an event makes of a document's row: pure functions from row and event to the next row, or None for no change.

Each is monotone: the row that a set of events leads to does not depend on their order or on how often they come.
Content is ordered by (version, rank, content hash). Permissions have an order of their own; where the two meet is in
`permissions`.
"""

import hashlib

import msgspec

from upwell.lake.family import family_facts
from upwell.lake.permissions import heard
from upwell.ports import AclEnd, DocumentRow, MissingAcl, PendingAcl
from upwell.records import (
    Acl,
    BlobRef,
    ChangeEvent,
    Inline,
    Op,
    ParseStatus,
    PreparedDocument,
    SourceRef,
)

RANKS = {Op.UPSERT: 0, Op.DELETE: 1, Op.ERASE: 2}
"""Ties of one version: upsert < delete < erase."""

Order = tuple[int, int, str, str]

replace = msgspec.structs.replace


def order_of(row: DocumentRow) -> Order:
    """Where the row's content stands; only what is above it changes it."""
    return row.version, row.rank, row.content_sha256, row.moved_to or ""


def content_hash(event: ChangeEvent, prepared: PreparedDocument | None = None) -> str:
    """The content's SHA-256 (hex): what was read, or else what the event says; empty when neither knows."""
    if prepared is not None and prepared.content_sha256:
        return prepared.content_sha256
    match event.content:
        case Inline(data=data):
            return hashlib.sha256(data).hexdigest()
        case BlobRef(sha256=sha256):
            return sha256
        case SourceRef(sha256=known):
            return known or ""
        case _:
            return ""


def overtaken(row: DocumentRow, event: ChangeEvent) -> bool:
    """True if this upsert comes too late, whatever its content is: newer content, a delete or an erase stands."""
    return event.version < row.version or (event.version == row.version and row.rank > RANKS[Op.UPSERT])


def binds_before_content(row: DocumentRow | None, event: ChangeEvent) -> bool:
    """True if an upsert has something to say that must not wait for its content: a permission that changes who may read
    a document that there is, or the end of an old id."""
    if event.previous_doc_id is not None:
        return True
    changed = None if row is None else permitted(row, event)
    return row is not None and changed is not None and _binds(changed) != _binds(row)


def permitted(row: DocumentRow, event: ChangeEvent) -> DocumentRow | None:
    """The row with the event's permission accepted, or None if it brings none, or none that could ever bind.

    It waits in `pending` until the row has reached the content it was read with; `effective_acl` narrows at once. An
    `acl` event without a readable ACL admits nobody; an upsert without one says nothing of permissions. With
    `acl_missing` an event changes no permission: that is noted, until the source has said something newer.
    """
    if event.acl_missing is not None:
        noted = MissingAcl(acl_version=event.acl_version, since=event.received_at, version=event.version)
        changed = heard(row, missing=[noted])
    elif event.acl is not None or event.op is Op.ACL:
        offered = PendingAcl(acl=event.acl or Acl(), acl_version=event.acl_version, version=event.version)
        changed = heard(row, offered=[offered])
    else:
        return None
    return None if changed == row else changed


def ended(row: DocumentRow, event: ChangeEvent) -> DocumentRow | None:
    """The row with older permissions ended by a delete, an erase or a move that comes after newer content; None if it
    ends none that others have not."""
    changed = heard(row, ends=[AclEnd(version=event.version, acl_version=event.acl_version)])
    return None if changed == row else changed


def published(row: DocumentRow, event: ChangeEvent, prepared: PreparedDocument, model: str) -> DocumentRow:
    """The row with this content, to become searchable when it is committed. The caller has seen that `event` stands
    above the row, or repairs it."""
    known = permitted(row, event) or row
    found = replace(
        _blank(known, event),
        content_sha256=content_hash(event, prepared),
        title=event.title or prepared.title,
        url=event.url,
        media_type=prepared.media_type,
        language=prepared.language,
        metadata=event.metadata,
        modified_at=event.modified_at,
        status=prepared.status,
        lineage={
            name: value
            for name, value in (
                ("parser", prepared.parser),
                ("choice", prepared.choice),
                ("chunker", prepared.chunker),
                ("prefixer", prepared.prefixer),
                ("model", model),
            )
            if value
        },
        links=prepared.links,
        children=family_facts(prepared),
    )
    return heard(found)


def buried(row: DocumentRow, event: ChangeEvent) -> DocumentRow | None:
    """The tombstone that a delete or an erase leaves, or None if something newer stands."""
    if (event.version, RANKS[event.op], "", "") <= order_of(row):
        return None
    return _tombstone(_blank(permitted(row, event) or row, event), event)


def moved_away(row: DocumentRow, event: ChangeEvent) -> DocumentRow | None:
    """The tombstone of the old id of a move: hides it at once, holds its points. None if something newer stands."""
    if (event.version, RANKS[Op.DELETE], "", event.doc_id) <= order_of(row):
        return None
    gone = replace(_blank(row, event), rank=RANKS[Op.DELETE], deleted=True, moved_to=event.doc_id, hold=True)
    return _tombstone(gone, event)


def released(row: DocumentRow, event: ChangeEvent) -> DocumentRow | None:
    """The old id's tombstone once the move's event has ended, or None if it does not hold for this event."""
    held = row.hold and row.moved_to == event.doc_id and row.version == event.version
    return replace(row, hold=False) if held else None


def failed(row: DocumentRow, event: ChangeEvent, status: ParseStatus | None, reason: str, now: int) -> DocumentRow:
    """The row after content that will not parse: the last good version stays, marked stale. The row itself if the
    content is not newer than what stands, or the failure is known."""
    known = permitted(row, event) or row
    marks = (event.version, reason)
    if event.version <= row.version or marks <= (row.failed_version, row.stale_reason or ""):
        return known
    return replace(
        known,
        failed_version=event.version,
        stale_since=row.stale_since or now,
        stale_reason=reason,
        received_at=row.received_at or event.received_at,
        status=status if row.version < 0 else row.status,
    )


def _tombstone(row: DocumentRow, event: ChangeEvent) -> DocumentRow:
    return heard(row, ends=[AclEnd(version=event.version, acl_version=event.acl_version)])


def _binds(row: DocumentRow) -> tuple[Acl, int | None]:
    return row.effective_acl, row.acl_missing_since


def _blank(row: DocumentRow, event: ChangeEvent) -> DocumentRow:
    """The row at the event's version with nothing of the content before it but permissions (a tombstone's form)."""
    stale = row.failed_version > event.version
    return DocumentRow(
        key=row.key,
        rev=row.rev,
        version=event.version,
        rank=RANKS[event.op],
        deleted=event.op is not Op.UPSERT,
        acl=row.acl,
        acl_version=row.acl_version,
        acl_read=row.acl_read,
        pending=row.pending,
        reserve=row.reserve,
        ends=row.ends,
        acl_missing=row.acl_missing,
        received_at=event.received_at,
        failed_version=row.failed_version if stale else -1,
        stale_since=row.stale_since if stale else None,
        stale_reason=row.stale_reason if stale else None,
    )
