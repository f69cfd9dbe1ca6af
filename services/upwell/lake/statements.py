"""The registry's SQL, each statement built once."""

from typing import Any

import sqlalchemy as sa
from sqlalchemy.dialects import postgresql, sqlite

from upwell.database import Text
from upwell.lake.rows import APPLIED_COLUMNS
from upwell.lake.schema import APPLIED, BROWSING, CHUNKS, DOCUMENTS, LINKS, MANIFESTS, META
from upwell.records import DocKey, Op

OF: sa.BindParameter[str] = sa.bindparam("of")
IN: sa.BindParameter[str] = sa.bindparam("in")
KEY_ORDER = (DOCUMENTS.c.tenant, DOCUMENTS.c.source, DOCUMENTS.c.doc_id)

ROW = sa.select(DOCUMENTS).where(DOCUMENTS.c.doc == OF)
ROW_AND_GENERATIONS = (
    sa.select(DOCUMENTS, MANIFESTS.c.pipeline, MANIFESTS.c.generation)
    .select_from(sa.outerjoin(DOCUMENTS, MANIFESTS, MANIFESTS.c.doc == DOCUMENTS.c.doc))
    .where(DOCUMENTS.c.doc == OF)
)
ROWS_OF = sa.select(DOCUMENTS).where(DOCUMENTS.c.doc.in_(sa.bindparam("docs", expanding=True)))
INSERT_ROW = sa.insert(DOCUMENTS)
UPDATE_ROW = sa.update(DOCUMENTS).where(DOCUMENTS.c.doc == OF, DOCUMENTS.c.rev == sa.bindparam("expected"))

MANIFESTS_OF = sa.select(MANIFESTS.c.pipeline, MANIFESTS.c.generation).where(MANIFESTS.c.doc == OF)
INSERT_GENERATION = sa.insert(MANIFESTS)
INSERT_FIRST = (
    sa.insert(MANIFESTS)
    .from_select(
        MANIFESTS.columns.keys(),
        sa.select(*(sa.bindparam(c.name, type_=c.type) for c in MANIFESTS.columns)).where(
            ~sa.exists().where(MANIFESTS.c.doc == sa.bindparam("doc"), MANIFESTS.c.pipeline == sa.bindparam("pipeline"))
        ),
    )
    .execution_options(preserve_rowcount=True)
)
UPDATE_GENERATION = (
    sa.update(MANIFESTS).where(MANIFESTS.c.doc == OF, MANIFESTS.c.pipeline == IN).values(generation=sa.bindparam("to"))
)

CHUNKS_OF = sa.select(CHUNKS).where(CHUNKS.c.doc == OF).order_by(CHUNKS.c.pipeline, CHUNKS.c.ordinal)
CHUNKS_IN = sa.select(CHUNKS).where(CHUNKS.c.doc == OF, CHUNKS.c.pipeline == IN)
_ONE_CHUNK = (CHUNKS.c.pipeline == IN, CHUNKS.c.point_id == sa.bindparam("point"))
UPDATE_CHUNK = sa.update(CHUNKS).where(*_ONE_CHUNK)
DELETE_CHUNK = sa.delete(CHUNKS).where(*_ONE_CHUNK)

# Of a chunk's document a subquery asks, not a join: it can only be looked up by its key. A planner without statistics
# (a database that was filled a moment ago) begins a join with every document of the tenant.
_DELETED = sa.select(DOCUMENTS.c.deleted).where(DOCUMENTS.c.doc == CHUNKS.c.doc).scalar_subquery()
_TENANT = sa.select(DOCUMENTS.c.tenant).where(DOCUMENTS.c.doc == CHUNKS.c.doc).scalar_subquery()
LIVE_CHUNKS = sa.select(CHUNKS).where(
    CHUNKS.c.pipeline == sa.bindparam("pipeline"),
    CHUNKS.c.point_id.in_(sa.bindparam("points", expanding=True)),
    _DELETED == 0,
)
POINTS_OF = (
    sa.select(CHUNKS.c.embed_key, sa.func.min(CHUNKS.c.point_id))
    .where(
        CHUNKS.c.pipeline == sa.bindparam("pipeline"),
        CHUNKS.c.embed_key.in_(sa.bindparam("keys", expanding=True)),
        _TENANT == sa.bindparam("tenant"),  # noqa: SIM300 a column, not a constant
    )
    .group_by(CHUNKS.c.embed_key)
)

INSERT_APPLIED = sa.insert(APPLIED).from_select(
    APPLIED_COLUMNS,
    sa.select(*(sa.bindparam(name, type_=APPLIED.c[name].type) for name in APPLIED_COLUMNS)).where(
        ~sa.exists().where(
            APPLIED.c.doc == sa.bindparam("doc"),
            APPLIED.c.event_id == sa.bindparam("event_id"),
            APPLIED.c.outcome == sa.bindparam("outcome"),
        )
    ),
)
HISTORY = sa.select(APPLIED).where(APPLIED.c.doc == OF).order_by(APPLIED.c.seq)
ENDED = (
    sa.select(APPLIED)
    .where(APPLIED.c.doc == OF, APPLIED.c.event_id == sa.bindparam("event"))
    .order_by(APPLIED.c.seq.desc())
    .limit(1)
)


def overwriting(put: postgresql.Insert | sqlite.Insert) -> postgresql.Insert | sqlite.Insert:
    """`put` of a glance that may be there: where its mark is the same, it changed when it did before."""
    fresh: dict[str, Any] = {
        column.name: put.excluded[column.name]
        for column in BROWSING.columns
        if column.name not in {"doc", "tenant", "source"}
    }
    fresh["changed_at"] = sa.case(
        (BROWSING.c.mark == put.excluded.mark, BROWSING.c.changed_at), else_=put.excluded.changed_at
    )
    return put.on_conflict_do_update(index_elements=["doc"], set_=fresh)


_ERASED = (DOCUMENTS.c.doc == OF, DOCUMENTS.c.rank == 2, DOCUMENTS.c.deleted == 1)
FORGET_WORDS = (
    sa.update(DOCUMENTS)
    .where(*_ERASED)
    .values(
        title=None,
        url=None,
        media_type=None,
        language=None,
        metadata="{}",
        lineage="{}",
        links="[]",
        children="[]",
        moved_to=None,
        content_sha256="",
    )
)
FORGET_CHUNKS = sa.delete(CHUNKS).where(CHUNKS.c.doc == OF)
FORGET_LINKS = sa.delete(LINKS).where(LINKS.c.doc == OF)
FORGET_HISTORY = sa.delete(APPLIED).where(APPLIED.c.doc == OF, APPLIED.c.op != str(Op.ERASE))

META_GET = sa.select(META.c.value).where(META.c.name == OF)

_MISSING_SINCE = DOCUMENTS.c.acl_missing_since
_EXPIRED = _MISSING_SINCE < sa.bindparam("oldest")  # noqa: SIM300 a column, not a constant
_VISIBLE = sa.and_(DOCUMENTS.c.deleted == 0, DOCUMENTS.c.version >= 0)
_COUNTS = (
    sa.select(
        DOCUMENTS.c.tenant,
        DOCUMENTS.c.source,
        sa.func.sum(sa.case((_VISIBLE, 1), else_=0)).label("documents"),
        sa.func.sum(DOCUMENTS.c.deleted).label("deleted"),
        sa.func.sum(sa.case((sa.and_(_VISIBLE, DOCUMENTS.c.stale_since.is_not(None)), 1), else_=0)).label("stale"),
        sa.func.sum(sa.case((sa.and_(_VISIBLE, _MISSING_SINCE.is_not(None)), 1), else_=0)).label("acl_missing"),
        sa.func.sum(sa.case((sa.and_(_VISIBLE, _EXPIRED), 1), else_=0)).label("acl_hidden"),
    )
    .group_by(DOCUMENTS.c.tenant, DOCUMENTS.c.source)
    .order_by(DOCUMENTS.c.tenant, DOCUMENTS.c.source)
)


def document_counts(tenant: str | None) -> sa.Select[tuple[str, str, int]]:
    """Documents a source; hidden are those whose permission is unknown since before `oldest`."""
    return _COUNTS if tenant is None else _COUNTS.where(DOCUMENTS.c.tenant == tenant)


def chunk_counts(pipeline: str | None, tenant: str | None = None) -> sa.Select[tuple[str, str, int]]:
    """Live chunks a source, in one pipeline or (while none is active) in all."""
    found = (
        sa.select(DOCUMENTS.c.tenant, DOCUMENTS.c.source, sa.func.count().label("chunks"))
        .select_from(CHUNKS)
        .join(DOCUMENTS, DOCUMENTS.c.doc == CHUNKS.c.doc)
        .where(DOCUMENTS.c.deleted == 0)
        .group_by(DOCUMENTS.c.tenant, DOCUMENTS.c.source)
    )
    if tenant is not None:
        found = found.where(DOCUMENTS.c.tenant == tenant)
    return found if pipeline is None else found.where(CHUNKS.c.pipeline == pipeline)


def find(doc_id: str, tenant: str | None, source: str | None) -> sa.Select[tuple[object, ...]]:
    """The rows of a document id, tombstones included, in key order."""
    found = sa.select(DOCUMENTS).where(DOCUMENTS.c.doc_id == doc_id).order_by(*KEY_ORDER)
    return _narrowed(found, tenant, source)


def page(tenant: str | None, source: str | None, after: DocKey | None, limit: int) -> sa.Select[tuple[object, ...]]:
    """The next rows in key order after `after`."""
    found = _narrowed(sa.select(DOCUMENTS).order_by(*KEY_ORDER).limit(limit), tenant, source)
    if after is None:
        return found
    key = (sa.literal(part, Text()) for part in (after.tenant, after.source, after.doc_id))
    return found.where(sa.tuple_(*KEY_ORDER) > sa.tuple_(*key))


def _narrowed(
    found: sa.Select[tuple[object, ...]], tenant: str | None, source: str | None
) -> sa.Select[tuple[object, ...]]:
    if tenant is not None:
        found = found.where(DOCUMENTS.c.tenant == tenant)
    return found if source is None else found.where(DOCUMENTS.c.source == source)
