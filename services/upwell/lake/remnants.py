"""What the registry still holds of a document, to be counted before an erasure and looked for after it."""

import sqlalchemy as sa

from upwell.lake.schema import APPLIED, BROWSING, CHUNKS, DOCUMENTS, LINKS
from upwell.records import DocKey, Op

_OF = sa.bindparam("of", type_=DOCUMENTS.c.doc.type)
_EMPTY = {
    "title": None,
    "url": None,
    "media_type": None,
    "language": None,
    "moved_to": None,
    "metadata": "{}",
    "lineage": "{}",
    "links": "[]",
    "children": "[]",
    "content_sha256": "",
}
"""What `Registry.purge` leaves in the columns that words may stand in."""

_FILLED = [
    sa.case((DOCUMENTS.c[name].is_not(None) if empty is None else DOCUMENTS.c[name] != empty, 1), else_=0)
    for name, empty in _EMPTY.items()
]
_WORDS = sa.select(sa.func.coalesce(sa.func.sum(sum(_FILLED[1:], _FILLED[0])), 0)).where(DOCUMENTS.c.doc == _OF)
_COUNTS = {
    "fields": _WORDS,
    "chunks": sa.select(sa.func.count()).select_from(CHUNKS).where(CHUNKS.c.doc == _OF),
    "history lines": sa.select(sa.func.count())
    .select_from(APPLIED)
    .where(APPLIED.c.doc == _OF, APPLIED.c.op != str(Op.ERASE)),
    "links": sa.select(sa.func.count()).select_from(LINKS).where(LINKS.c.doc == _OF),
    "glances": sa.select(sa.func.count()).select_from(BROWSING).where(BROWSING.c.doc == _OF),
}
_BEFORE = sa.select(DOCUMENTS.c.tenant, DOCUMENTS.c.source, DOCUMENTS.c.doc_id).where(
    DOCUMENTS.c.tenant == sa.bindparam("tenant", type_=DOCUMENTS.c.tenant.type),
    DOCUMENTS.c.source == sa.bindparam("source", type_=DOCUMENTS.c.source.type),
    DOCUMENTS.c.moved_to == sa.bindparam("doc_id", type_=DOCUMENTS.c.doc_id.type),
    DOCUMENTS.c.deleted == 1,
)


def traces(connection: sa.Connection, key: DocKey) -> dict[str, int]:
    """Kind -> how many fields with words, chunks, history lines but those of erasures, links and glances there are."""
    return {kind: int(connection.execute(count, {"of": key.digest}).scalar_one()) for kind, count in _COUNTS.items()}


def moved_here(connection: sa.Connection, key: DocKey) -> list[DocKey]:
    """The ids that this document had before it was moved to its own, as far as nothing new stands there."""
    found = connection.execute(_BEFORE, {"tenant": key.tenant, "source": key.source, "doc_id": key.doc_id}).mappings()
    return [DocKey(**row) for row in found]
