"""Pure functions from what the lake knows to what it answers."""

from collections import Counter
from collections.abc import Mapping, Sequence

from upwell.answers import (
    DeadAnswer,
    HistoryLine,
    MemberAnswer,
    ShowAnswer,
    ShownAcl,
    ShownChild,
    ShownChunk,
    SourceStatus,
)
from upwell.clock import rfc3339
from upwell.lake.family import child_id, seen_as
from upwell.ports import AppliedEntry, DeadLetter, DocumentRow, Manifest, ManifestEntry, SourceCounts
from upwell.records import Membership


def shown(
    row: DocumentRow,
    manifest: Manifest,
    texts: Mapping[str, str],
    history: Sequence[AppliedEntry],
    child: str | None = None,
) -> ShowAnswer:
    """A document, or its part `child`, as `show` gives it: its own chunks, and what it carries.

    A deleted one has no chunks to show, whatever still waits to be pruned.
    """
    entries = () if row.deleted else manifest.entries
    whole, row = row.key.doc_id, seen_as(row, child)
    return ShowAnswer(
        doc_id=row.key.doc_id,
        tenant=row.key.tenant,
        source=row.key.source,
        version=row.version,
        deleted=row.deleted,
        moved_to=row.moved_to,
        title=row.title,
        url=row.url,
        media_type=row.media_type,
        status=row.status,
        stale_since=rfc3339(row.stale_since),
        stale_reason=row.stale_reason,
        modified_at=rfc3339(row.modified_at),
        searchable_at=rfc3339(row.searchable_at),
        acl=_acl(row),
        lineage=row.lineage,
        history=tuple(_line(entry) for entry in history),
        chunks=_chunks([entry for entry in entries if entry.child == child], texts),
        children=_children(row, Counter(child_id(whole, entry.child) for entry in entries if entry.child)),
    )


def source_status(
    place: tuple[str, str],
    counted: SourceCounts | None,
    *,
    watermark: int | None,
    now: int,
    pending: int,
    dead: int,
    warnings: tuple[str, ...] = (),
) -> SourceStatus:
    """What `status` says of the source at `place` (tenant and name); times in us."""
    tenant, source = place
    return SourceStatus(
        tenant=tenant,
        source=source,
        documents=counted.documents if counted else 0,
        chunks=counted.chunks if counted else 0,
        watermark=rfc3339(watermark),
        staleness_s=None if watermark is None else max(0.0, (now - watermark) / 1e6),
        pending=pending,
        dead=dead,
        warnings=warnings,
        acl_missing=counted.acl_missing if counted else 0,
        acl_hidden=counted.acl_hidden if counted else 0,
    )


def _chunks(entries: Sequence[ManifestEntry], texts: Mapping[str, str]) -> tuple[ShownChunk, ...]:
    """The chunks of one document or part; the ordinals of a part begin at 0 too."""
    return tuple(
        ShownChunk(
            chunk_key=entry.chunk_key,
            ordinal=ordinal,
            text=texts.get(entry.point_id, ""),
            tokens=entry.tokens,
            heading_path=entry.heading_path,
            page=entry.page,
            spans=tuple((span.block, span.start, span.end) for span in entry.spans),
        )
        for ordinal, entry in enumerate(sorted(entries, key=lambda entry: entry.ordinal))
    )


def _children(row: DocumentRow, chunks: Mapping[str, int]) -> tuple[ShownChild, ...]:
    """What the document carries, at all depths; `chunks` counts by doc_id."""
    return tuple(
        ShownChild(
            doc_id=(doc_id := child_id(row.key.doc_id, known.name)),
            title=known.title,
            media_type=known.media_type,
            status=known.status,
            reason=known.reason,
            pages=known.pages,
            chunks=chunks.get(doc_id, 0),
        )
        for known in row.children
    )


def member_answer(member: Membership) -> MemberAnswer:
    """What a directory says of a principal, as commands print it."""
    return MemberAnswer(
        tenant=member.tenant,
        principal=member.principal,
        member_of=tuple(sorted(member.member_of)),
        version=member.version,
        gone=member.gone,
    )


def dead_answer(letter: DeadLetter) -> DeadAnswer:
    """A dead letter as commands print it."""
    return DeadAnswer(
        id=letter.id,
        tenant=letter.tenant,
        source=letter.source,
        doc_id=letter.doc_id,
        stage=letter.stage,
        reason=letter.reason,
        detail=letter.detail,
        attempts=letter.attempts,
        at=rfc3339(letter.at) or "",
        replayable=letter.replayable,
    )


def _acl(row: DocumentRow) -> ShownAcl:
    acl = row.effective_acl
    return ShownAcl(
        levels=tuple(tuple(sorted(level)) for level in acl.levels),
        deny=tuple(sorted(acl.deny)),
        acl_version=row.acl_version,
        pending=len(row.pending),
    )


def _line(entry: AppliedEntry) -> HistoryLine:
    return HistoryLine(
        at=rfc3339(entry.at) or "",
        op=entry.op,
        version=entry.version,
        acl_version=entry.acl_version,
        outcome=entry.outcome,
        detail=entry.detail,
    )
