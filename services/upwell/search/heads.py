"""Which document an answer is about, as every answer says it; pure."""

from upwell.clock import rfc3339
from upwell.ports import DocumentRow
from upwell.reading import Head


def head_of(row: DocumentRow) -> Head:
    """The head of a document, or of a part of it when the row is `seen_as` that part."""
    return Head(
        source=row.key.source,
        doc_id=row.key.doc_id,
        version=row.version,
        title=row.title,
        url=row.url,
        media_type=row.media_type,
        modified_at=rfc3339(row.modified_at),
        searchable_at=rfc3339(row.searchable_at),
        stale_since=rfc3339(row.stale_since),
        stale_reason=row.stale_reason,
    )
