"""What a lake has come to, in a form that two lakes can be compared by; and whether its parts agree."""

import msgspec

from upwell.access import admits
from upwell.ports import QueryVectors, StoreQuery
from upwell.records import DocKey

BLANK = {"rev": 0, "received_at": None, "searchable_at": None, "stale_since": None}
"""What may depend on the order and the time of events."""
EVERY_POINT = 100_000


class Ending(msgspec.Struct):
    """`documents`: key -> everything of it that L1 holds. The rest is what should be empty, as lines for a person."""

    documents: dict[DocKey, object]
    missing_points: list[str]
    orphans: list[str]
    stale_copies: list[str]
    points: int


def ending_of(registry, store, pipeline):
    """Read a lake whole. Nobody writes to it meanwhile."""
    found = Ending({}, [], [], [], 0)
    for row in registry.rows():
        manifest = registry.manifest(row.key, pipeline)
        entries = sorted(manifest.entries, key=lambda entry: entry.ordinal)
        ids = [entry.point_id for entry in entries]
        there, texts = store.present(row.key).keys(), store.texts(ids)
        found.missing_points += [f"{row.key.doc_id} {point}" for point in sorted(set(ids) - there)]
        found.orphans += [f"{row.key.doc_id} {point}" for point in sorted(there - set(ids))]
        chunks = [
            (e.chunk_key, texts.get(e.point_id), e.child, e.page, e.heading_path, e.spans, e.parent) for e in entries
        ]
        found.documents[row.key] = (msgspec.structs.replace(row, **BLANK), chunks)
        found.points += len(ids)
    spare = store.count() - found.points - len(found.orphans)
    if spare > 0:
        found.orphans.append(f"{spare} points of no document")
    return found


def check_copies(found, registry, store, pipeline, *, readers, query):
    """The permissions that points carry are their documents': each reader's filter shows exactly what the registry
    admits, before any re-check. Adds what differs to `stale_copies`."""
    rows = list(registry.rows())
    entries = {
        row.key: [e.point_id for e in registry.manifest(row.key, pipeline).entries] for row in rows if not row.deleted
    }
    for tenant in sorted({row.key.tenant for row in rows}):
        for who in readers:
            asked = StoreQuery(tenant=tenant, reader=who, vectors=query, limit=EVERY_POINT, prefetch=EVERY_POINT)
            shown = {hit.point_id for hit in store.search(asked)}
            right = {
                point
                for row in rows
                if row.key.tenant == tenant and not row.deleted and admits(row.effective_acl, who)
                for point in entries[row.key]
            }
            found.stale_copies += [f"{tenant} {sorted(who)}: leaked {point}" for point in sorted(shown - right)]
            found.stale_copies += [f"{tenant} {sorted(who)}: lost {point}" for point in sorted(right - shown)]


def differences(ours, reference):
    """Lines that say where two endings differ; none if they are the same lake."""
    lines = []
    for key in sorted(ours.documents.keys() | reference.documents.keys()):
        here, there = ours.documents.get(key), reference.documents.get(key)
        if here == there:
            continue
        if here is None or there is None:
            lines.append(f"{key.doc_id}: only in {'the reference' if here is None else 'this lake'}")
            continue
        (row, chunks), (other, others) = here, there
        fields = [n for n in row.__struct_fields__ if getattr(row, n) != getattr(other, n)]
        told = [f"{name} {getattr(row, name)!r} not {getattr(other, name)!r}"[:200] for name in fields]
        if chunks != others:
            told.append(f"{len(chunks)} chunks not {len(others)}, {sum(c in others for c in chunks)} alike")
        lines.append(f"{key.doc_id}: {'; '.join(told)}")
    return lines


def any_query(embedder):
    """A query's vectors; which points it ranks first is of no matter."""
    vectors = embedder.embed_query("the pump valve line of a shift")
    return QueryVectors(**{name: getattr(vectors, name) for name in vectors.__struct_fields__})
