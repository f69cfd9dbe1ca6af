"""The Qdrant Edge shard itself, as the child process holds it: one thread, one request at a time.

Facts it rests on (Edge 0.9): the GIL is held in every call; updates are in the write-ahead log at once but on the disk
only after `flush`, which takes some 20 ms; deleted text stays in segments and log until both are rewritten (`compact`).
"""

import shutil
from pathlib import Path

import qdrant_edge as edge

from upwell.errors import Retryable
from upwell.lake.store import edge_folder
from upwell.lake.store import edge_requests as ask
from upwell.lake.store.edge_filters import rendered
from upwell.lake.store.edge_gate import GATE
from upwell.lake.store.edge_log import OldLog
from upwell.lake.store.edge_points import point_out, query_requests, vectors_in

SCROLL_LIMIT = 1000
PADDING = "." * 8_000_000
NEVER_INDEX_KB = 10**9
ANY_DELETED = 1e-9
MOST_PASSES = 8
INDEXED = ("doc", GATE)
"""`born` and `rev` are only asked of one document's points, so they need none."""


class Shard:
    """Opens (or makes) the store in `folder` for vectors of `dim` numbers and holds its lock until `close`."""

    def __init__(self, folder: Path, dim: int) -> None:
        self._dim = dim
        self._lock = edge_folder.lock(folder)
        self._path = folder / "points"
        self._shard = _opened(self._path, dim)
        self._old_log: OldLog | None = None
        self._unflushed = True
        self._taken_away, self._compacted, self._vacuumed = 1, 0, 0  # what an earlier process took away is not known

    def insert(self, request: ask.Insert) -> None:
        fresh = [point_out(point, self._dim) for point in request.points]
        self._update(edge.UpdateOperation.upsert_points(fresh, update_mode=edge.UpdateMode.InsertOnly))

    def flush(self) -> None:
        """Make every update durable. Free when there was none since the last one."""
        if self._unflushed:
            self._shard.flush()
            self._unflushed = False

    def stamp(self, request: ask.Stamp) -> None:
        target = rendered(request.target)
        if self._shard.count(edge.CountRequest(exact=True, filter=target)):
            self._taken_away += 1
            self._update(edge.UpdateOperation.set_payload_by_filter(target, dict(request.fields)))

    def prune(self, request: ask.Prune) -> int:
        doomed = rendered(request.doomed)
        found = self._shard.count(edge.CountRequest(exact=True, filter=doomed))
        if found:
            self._taken_away += 1
            self._update(edge.UpdateOperation.delete_points_by_filter(doomed))
        return found

    def present(self, request: ask.Present) -> ask.Births:
        born: ask.Births = {}
        offset, wanted = None, rendered(request.wanted)
        while True:
            page, offset = self._shard.scroll(
                edge.ScrollRequest(offset=offset, limit=SCROLL_LIMIT, filter=wanted, with_payload=["born"])
            )
            born |= {str(record.id): int((record.payload or {})["born"]) for record in page}
            if offset is None:
                return born

    def texts(self, request: ask.Texts) -> ask.TextsById:
        records = self._shard.retrieve(list(request.point_ids), ["text"], False)
        return {str(record.id): str((record.payload or {})["text"]) for record in records}

    def vectors(self, request: ask.StoredVectors) -> ask.VectorsById:
        records = self._shard.retrieve(list(request.point_ids), False, True)
        return {str(record.id): vectors_in(record.vector) for record in records if isinstance(record.vector, dict)}

    def search(self, request: ask.Search) -> ask.Found:
        *branches, reranked = self._shard.query_batch(edge.QueryBatchRequest(query_requests(request, self._dim)))
        dense, sparse = branches if len(branches) > 1 else (branches[0], [])
        return ask.Found(
            dense=tuple((str(hit.id), hit.score) for hit in dense),
            sparse=tuple((str(hit.id), hit.score) for hit in sparse),
            reranked=tuple(
                ask.FoundPoint(point_id=str(hit.id), score=hit.score, payload=hit.payload or {}) for hit in reranked
            ),
        )

    def count(self) -> int:
        return self._shard.count(edge.CountRequest(exact=True))

    def compact(self) -> bool:
        """Rewrite every segment with a deleted point in it, and remember the log's present files.

        False, and nothing done, when nothing was taken away since the last vacuum was through.
        """
        if self._taken_away == self._vacuumed:
            return False
        self._compacted = self._taken_away
        for _ in range(MOST_PASSES):
            if not self._shard.optimize():
                break
        self._shard.flush()
        self._forget_old_log()
        self._old_log = OldLog(self._path / "wal")
        return True

    def pad_log(self) -> int:
        """Push the log on by a few megabytes; returns how many of the remembered files are left.

        Raises Retryable when nothing is remembered: another process compacted, and ended.
        """
        if self._old_log is None:
            raise Retryable("the vacuum of the vector store was interrupted; it has to start again")
        if self._old_log.left():
            self._update(edge.UpdateOperation.set_payload([], {"pad": PADDING}))
            self.flush()
        left = self._old_log.left()
        if not left:
            self._forget_old_log()
            self._vacuumed = self._compacted
        return left

    def close(self) -> None:
        """Flush and let go."""
        self._shard.close()

    def _update(self, operation: edge.UpdateOperation) -> None:
        self._unflushed = True
        self._shard.update(operation)

    def _forget_old_log(self) -> None:
        if self._old_log is not None:
            self._old_log.close()
        self._old_log = None


def _opened(path: Path, dim: int) -> edge.EdgeShard:
    """The shard at `path`, with an index on every filtered field. What a crash left half made is mended here."""
    shutil.rmtree(path / "temp_segments", ignore_errors=True)
    if (path / "edge_config.json").exists():
        shard = edge.EdgeShard.load(str(path), _config(dim))
    else:
        shutil.rmtree(path, ignore_errors=True)
        path.mkdir(mode=0o700, parents=True)
        shard = edge.EdgeShard.create(str(path), _config(dim))
    indexed = shard.info().payload_schema
    for field in INDEXED:
        if field not in indexed:
            shard.update(edge.UpdateOperation.create_field_index(field, edge.PayloadSchemaType.Keyword))
    return shard


def _config(dim: int) -> edge.EdgeConfig:
    """Dense float16, late Turbo4 (4 bits a number), sparse with IDF; the log on, for it carries the crash safety."""
    cosine = edge.Distance.Cosine
    turbo4: edge.VectorStorageDatatype = getattr(edge.VectorStorageDatatype, "Turbo4")  # noqa: B009, the stubs lack it
    maxsim = edge.MultiVectorConfig(edge.MultiVectorComparator.MaxSim)
    return edge.EdgeConfig(
        vectors={
            "dense": edge.EdgeVectorParams(dim, cosine, datatype=edge.VectorStorageDatatype.Float16),
            "late": edge.EdgeVectorParams(dim, cosine, multivector_config=maxsim, datatype=turbo4),
        },
        sparse_vectors={"sparse": edge.EdgeSparseVectorParams(modifier=edge.Modifier.Idf)},
        optimizers=edge.EdgeOptimizersConfig(
            indexing_threshold=NEVER_INDEX_KB, deleted_threshold=ANY_DELETED, vacuum_min_vector_number=1
        ),
        wal_enabled=True,
    )
