"""The Qdrant Edge shard itself, as the child process holds it: one thread, one request at a time.

Facts it rests on (Edge 0.9): the GIL is held in every call; updates are in the write-ahead log at once but on the disk
only after `flush`; deleted text stays in log and segments. Dropping the log of a shard that is kept is no way out: its
operation numbers start again at 0, and every later stamp and delete of a point that is there is silently ignored as
old. So a vacuum copies what lives into a fresh shard, slice by slice, while both take every write.
"""

import shutil
from pathlib import Path

import qdrant_edge as edge

from upwell.errors import Retryable
from upwell.lake.store import edge_folder
from upwell.lake.store import edge_requests as ask
from upwell.lake.store.edge_filters import rendered
from upwell.lake.store.edge_points import point_out, query_requests, vectors_in
from upwell.lake.store.points import INTEGER_FIELDS, KEYWORD_FIELDS

SCROLL_LIMIT = 1000
COPY_SLICE = 16
NEVER_INDEX_KB = 10**9


class Shard:
    """Opens (or makes) the store in `folder` for vectors of `dim` numbers and holds its lock until `close`."""

    def __init__(self, folder: Path, dim: int) -> None:
        self._dim = dim
        self._lock = edge_folder.lock(folder)
        self._path = edge_folder.current(folder)
        self._shard = _opened(self._path, dim)
        self._fresh: edge.EdgeShard | None = None

    def insert(self, request: ask.Insert) -> None:
        fresh = [point_out(point, self._dim) for point in request.points]
        self._update(edge.UpdateOperation.upsert_points(fresh, update_mode=edge.UpdateMode.InsertOnly))

    def flush(self) -> None:
        self._shard.flush()

    def stamp(self, request: ask.Stamp) -> None:
        self._update(edge.UpdateOperation.set_payload_by_filter(rendered(request.target), dict(request.fields)))

    def prune(self, request: ask.Prune) -> int:
        doomed = rendered(request.doomed)
        found = self._shard.count(edge.CountRequest(exact=True, filter=doomed))
        if found:
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
        ranked = [tuple(str(hit.id) for hit in branch) for branch in branches]
        return ask.Found(
            dense=ranked[0],
            sparse=ranked[1] if len(ranked) > 1 else (),
            reranked=tuple(
                ask.FoundPoint(point_id=str(hit.id), score=hit.score, payload=hit.payload or {}) for hit in reranked
            ),
        )

    def count(self) -> int:
        return self._shard.count(edge.CountRequest(exact=True))

    def start_rebuild(self) -> None:
        """A rebuild that was under way is given up."""
        self._give_up_rebuild()
        path = edge_folder.following(self._path)
        shutil.rmtree(path, ignore_errors=True)
        self._fresh = _opened(path, self._dim)

    def copy_slice(self, request: ask.CopySlice) -> str:
        fresh = self._rebuilding()
        page, offset = self._shard.scroll(
            edge.ScrollRequest(offset=request.start or None, limit=COPY_SLICE, with_payload=True, with_vector=True)
        )
        copies = [edge.Point(record.id, record.vector or {}, record.payload) for record in page]
        if copies:
            fresh.update(edge.UpdateOperation.upsert_points(copies, update_mode=edge.UpdateMode.InsertOnly))
        return "" if offset is None else str(offset)

    def finish_rebuild(self) -> None:
        fresh = self._rebuilding()
        old, self._path = self._path, edge_folder.following(self._path)
        fresh.flush()
        edge_folder.promote(self._path)
        self._shard.close()
        self._shard, self._fresh = fresh, None
        shutil.rmtree(old)

    def close(self) -> None:
        """Flush and let go."""
        self._shard.close()

    def _update(self, operation: edge.UpdateOperation) -> None:
        self._shard.update(operation)
        if self._fresh is None:
            return
        try:
            self._fresh.update(operation)
        except Exception:
            self._give_up_rebuild()  # it lacks a write now and must never take over
            raise

    def _rebuilding(self) -> edge.EdgeShard:
        if self._fresh is None:
            raise Retryable("the vacuum of the vector store was interrupted; it has to start again")
        return self._fresh

    def _give_up_rebuild(self) -> None:
        fresh, self._fresh = self._fresh, None
        if fresh is not None:
            fresh.close()


def _opened(path: Path, dim: int) -> edge.EdgeShard:
    """The shard at `path`, with an index on every filtered field. A crash while it was made is mended here."""
    if (path / "edge_config.json").exists():
        shard = edge.EdgeShard.load(str(path), _config(dim))
    else:
        shutil.rmtree(path, ignore_errors=True)
        path.mkdir(mode=0o700, parents=True)
        shard = edge.EdgeShard.create(str(path), _config(dim))
    indexed = shard.info().payload_schema
    kinds = dict.fromkeys(KEYWORD_FIELDS, edge.PayloadSchemaType.Keyword)
    kinds |= dict.fromkeys(INTEGER_FIELDS, edge.PayloadSchemaType.Integer)
    for field, kind in kinds.items():
        if field not in indexed:
            shard.update(edge.UpdateOperation.create_field_index(field, kind))
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
        optimizers=edge.EdgeOptimizersConfig(indexing_threshold=NEVER_INDEX_KB),
        wal_enabled=True,
    )
