"""Looking into a lake's folder once its owner has gone: what is in it, and whether its parts agree."""

from pathlib import Path

from upwell.lake.registry import ACTIVE_PIPELINE, SqlRegistry
from upwell.lake.store.edge import EdgeStore
from upwell.runtime.eventlog import EventLog


def contents(lake: Path, dim: int = 384) -> dict[str, object]:
    """What L1 compares, by document: deleted, permissions, ordered chunk keys and texts. Checks the stores against it.

    No point may be missing, and none left over.
    """
    registry = SqlRegistry.at(lake / "registry.sqlite")
    pipeline = registry.meta(ACTIVE_PIPELINE)
    store = EdgeStore(lake / "store" / pipeline, dim=dim)
    try:
        found, points = {}, 0
        for row in registry.rows():
            manifest = registry.manifest(row.key, pipeline)
            entries = sorted(manifest.entries, key=lambda entry: entry.ordinal)
            ids = [entry.point_id for entry in entries]
            assert set(store.present(row.key)) == set(ids), f"{row.key.doc_id}: points and manifest differ"
            texts = store.texts(ids)
            chunks = [(entry.chunk_key, texts[entry.point_id]) for entry in entries]
            found[row.key.canonical] = (row.deleted, row.effective_acl, chunks)
            points += len(ids)
        assert store.count() == points, "points of no document are left over"
        return found
    finally:
        store.close()
        registry.close()


def outcomes(lake: Path) -> dict[str, int]:
    """How the accepted events ended."""
    log = EventLog.at(lake / "events.sqlite")
    try:
        return log.outcomes()
    finally:
        log.close()
