"""What an event makes of a document's row: pure functions from row and event to the next row, or None for no change.

Each is monotone: the row that a set of events leads to does not depend on their order or on how often they come.
Content is ordered by (version, rank, content hash), permissions by (acl_version, hash); the two meet only where a
permission waits for the content it was read with.
"""

import hashlib
from collections.abc import Iterable

import msgspec

from upwell.lake.family import family_facts
from upwell.ports import DocumentRow, MissingAcl, PendingAcl
from upwell.records import (
    Acl,
    BlobRef,
    ChangeEvent,
    Inline,
    Op,
    ParseStatus,
    PreparedDocument,
    SourceRef,
    stable_hash,
)

RANKS = {Op.UPSERT: 0, Op.DELETE: 1, Op.ERASE: 2}
"""Ties of one version: upsert < delete < erase."""

MOST_MISSING = 16
"""How many words of an unknown permission a row keeps; of more, the two oldest become one."""

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
    """True if an upsert has something to say that must not wait for its content: a newer permission for a document that
    there is, or the end of an old id."""
    return event.previous_doc_id is not None or (row is not None and permitted(row, event) is not None)


def permitted(row: DocumentRow, event: ChangeEvent) -> DocumentRow | None:
    """The row with the event's permission accepted, or None if it brings none or no newer one.

    It waits in `pending` until the row has reached the content it was read with; `effective_acl` narrows at once. An
    `acl` event without a readable ACL admits nobody; an upsert without one says nothing of permissions. With
    `acl_missing` an event changes no permission: that is noted, until the source has said something newer.
    """
    if event.acl_missing is not None:
        noted = MissingAcl(acl_version=event.acl_version, since=event.received_at)
        unknown = _unanswered(replace(row, acl_missing=(*row.acl_missing, noted)))
        return None if unknown == row else unknown
    if event.acl is None and event.op is not Op.ACL:
        return None
    offered = PendingAcl(acl=event.acl or Acl(), acl_version=event.acl_version, version=event.version)
    if _acl_rank(offered.acl_version, offered.acl) <= _acl_rank(row.acl_version, row.acl):
        return None
    changed = _unanswered(settled(replace(row, pending=_undominated((*row.pending, offered)))))
    return None if changed == row else changed


def settled(row: DocumentRow) -> DocumentRow:
    """The row with the newest permission whose content it has reached binding alone, and older ones forgotten."""
    reached = [p for p in row.pending if p.version <= row.version]
    if not reached:
        return row
    newest = max(reached, key=lambda p: _acl_rank(p.acl_version, p.acl))
    rank = _acl_rank(newest.acl_version, newest.acl)
    waiting = tuple(p for p in row.pending if _acl_rank(p.acl_version, p.acl) > rank)
    return replace(row, acl=newest.acl, acl_version=newest.acl_version, pending=waiting)


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
                ("chunker", prepared.chunker),
                ("prefixer", prepared.prefixer),
                ("model", model),
            )
            if value
        },
        links=prepared.links,
        children=family_facts(prepared),
    )
    return settled(found)


def buried(row: DocumentRow, event: ChangeEvent) -> DocumentRow | None:
    """The tombstone that a delete or an erase leaves, or None if something newer stands."""
    if (event.version, RANKS[event.op], "", "") <= order_of(row):
        return None
    return settled(_blank(permitted(row, event) or row, event))


def moved_away(row: DocumentRow, event: ChangeEvent) -> DocumentRow | None:
    """The tombstone of the old id of a move: hides it at once, holds its points. None if something newer stands."""
    if (event.version, RANKS[Op.DELETE], "", event.doc_id) <= order_of(row):
        return None
    gone = replace(_blank(row, event), rank=RANKS[Op.DELETE], deleted=True, moved_to=event.doc_id, hold=True)
    return settled(gone)


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
        pending=row.pending,
        acl_missing=row.acl_missing,
        received_at=event.received_at,
        failed_version=row.failed_version if stale else -1,
        stale_since=row.stale_since if stale else None,
        stale_reason=row.stale_reason if stale else None,
    )


def _acl_rank(acl_version: int, acl: Acl) -> tuple[int, str]:
    return acl_version, stable_hash(acl) if acl_version >= 0 else ""


def _unanswered(row: DocumentRow) -> DocumentRow:
    """The row with those words of an unknown permission that nothing readable is as new as.

    Kept is what may yet be the oldest: of one version the first, and no older version that came later than a newer one.
    So the time since which nothing is known depends on what was said, not on the order in which it came (past
    MOST_MISSING it may be taken for longer ago than it is, which hides sooner).
    """
    known = max(row.acl_version, *(p.acl_version for p in row.pending), -1)
    kept: list[MissingAcl] = []
    for missing in sorted(row.acl_missing, key=lambda m: (-m.acl_version, m.since)):
        if missing.acl_version > known and (not kept or missing.since < kept[-1].since):
            kept.append(missing)
    while len(kept) > MOST_MISSING:
        oldest = kept.pop()
        kept[-1] = replace(kept[-1], since=oldest.since)
    return replace(row, acl_missing=tuple(reversed(kept)))


def _undominated(pending: Iterable[PendingAcl]) -> tuple[PendingAcl, ...]:
    """Without those that can never bind: where one is reached, a newer one is reached too. By age, each once."""
    kept: list[PendingAcl] = []
    newest_first = sorted(pending, key=lambda p: (*_acl_rank(p.acl_version, p.acl), -p.version), reverse=True)
    for p in newest_first:
        if all(p.version < newer.version for newer in kept):
            kept.append(p)
    return tuple(reversed(kept))
