"""The store on a Qdrant server or cluster, through qdrant-client; its local mode serves tests of a few thousand points.

Every write waits until it is applied and is strongly ordered, so several writers see one order.
"""

from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from threading import RLock

from qdrant_client import QdrantClient, models

from upwell.errors import Misconfigured
from upwell.lake.store import filters, fusion, packing, points
from upwell.lake.store.qdrant_collection import create_collection, discard_deleted_rows
from upwell.lake.store.qdrant_errors import vendor_errors
from upwell.lake.store.qdrant_filters import rendered
from upwell.ports import PointRecord, StoreHit, StoreQuery
from upwell.records import DocKey, Vectors

SCROLL_LIMIT = 1000
STRONG = models.WriteOrdering.STRONG
MEMORY = ":memory:"


class QdrantStore:
    """One collection. `location` is a server's URL, a folder (local mode, one process) or `:memory:`.

    `turbo4` says that the server knows that datatype (1.19 on) for late vectors: a quarter of float16's size.
    Raises Misconfigured when the collection was made for another dimension, Retryable when the server is away.
    """

    def __init__(
        self, location: str, *, collection: str, dim: int, turbo4: bool = True, api_key: str | None = None
    ) -> None:
        self._name, self._dim = collection, dim
        self._local = "://" not in location
        self._folder = Path(location) if self._local and location != MEMORY else None
        self._one_at_a_time = RLock() if self._local else None
        with self._vendor():
            if self._folder is not None:
                self._client = QdrantClient(path=location, force_disable_check_same_thread=True)
            elif self._local:
                self._client = QdrantClient(MEMORY)
            else:
                self._client = QdrantClient(url=location, api_key=api_key, check_compatibility=False)
            create_collection(self._client, collection, dim, turbo4=turbo4, indexed=not self._local)

    def insert(self, points_: Sequence[PointRecord]) -> None:
        packing.check_points(points_, self._dim)
        if not points_:
            return
        structs = [
            models.PointStruct(
                id=point.point_id, vector=_vectors_out(point.vectors, self._dim), payload=points.payload_of_point(point)
            )
            for point in points_
        ]
        with self._vendor():
            self._client.upsert(
                self._name, structs, wait=True, ordering=STRONG, update_mode=models.UpdateMode.INSERT_ONLY
            )

    def flush(self) -> None:
        """Nothing to do: a waited write is in the server's log already."""

    def stamp(self, key: DocKey, rev: int, fields: points.Fields) -> None:
        payload = points.stamped_fields(rev, fields)
        target = rendered(filters.older_than_row(key, rev))
        with self._vendor():
            self._client.set_payload(self._name, payload, points=target, wait=True, ordering=STRONG)

    def prune(self, key: DocKey, generation: int, live: AbstractSet[str]) -> int:
        doomed = rendered(filters.superseded(key, generation, live))
        with self._vendor():
            found = self._client.count(self._name, count_filter=doomed, exact=True).count
            if found:
                selector = models.FilterSelector(filter=doomed)
                self._client.delete(self._name, selector, wait=True, ordering=STRONG)
        return found

    def present(self, key: DocKey) -> dict[str, int]:
        wanted, offset = rendered(filters.of_document(key)), None
        born: dict[str, int] = {}
        with self._vendor():
            while True:
                page, offset = self._client.scroll(
                    self._name, scroll_filter=wanted, limit=SCROLL_LIMIT, offset=offset, with_payload=["born"]
                )
                born |= {str(record.id): int((record.payload or {})["born"]) for record in page}
                if offset is None:
                    return born

    def vectors(self, point_ids: Sequence[str]) -> dict[str, Vectors]:
        with self._vendor():
            records = self._client.retrieve(self._name, list(point_ids), with_payload=False, with_vectors=True)
        return {str(record.id): _vectors_in(record.vector) for record in records}

    def texts(self, point_ids: Sequence[str]) -> dict[str, str]:
        with self._vendor():
            records = self._client.retrieve(self._name, list(point_ids), with_payload=["text"])
        return {str(record.id): str((record.payload or {})["text"]) for record in records}

    def search(self, query: StoreQuery) -> list[StoreHit]:
        packing.check_query(query.vectors, self._dim)
        with self._vendor():
            *branches, reranked = self._client.query_batch_points(self._name, _requests(query, self._dim))
        dense, sparse = branches if len(branches) > 1 else (branches[0], None)
        return fusion.hits_of(
            query,
            [str(hit.id) for hit in dense.points],
            [(str(hit.id), hit.score) for hit in sparse.points] if sparse else [],
            [(str(hit.id), hit.score, hit.payload or {}) for hit in reranked.points],
        )

    def count(self) -> int:
        with self._vendor():
            return self._client.count(self._name, exact=True).count

    def vacuum(self) -> None:
        """Misconfigured on a server: when it rewrites its segments and its log is its operator's to set."""
        if not self._local:
            raise Misconfigured("a Qdrant server drops deleted text when its optimizer runs; see deleted_threshold")
        if self._folder is not None:
            with self._vendor():
                discard_deleted_rows(self._folder, self._name)

    def close(self) -> None:
        with self._vendor():
            self._client.close()

    def _vendor(self) -> AbstractContextManager[object]:
        return vendor_errors(self._one_at_a_time or nullcontext())


def _requests(query: StoreQuery, dim: int) -> list[models.QueryRequest]:
    """Dense ranks, sparse ranks, and the reranked fusion of both: one request, so that hits can say why."""
    vectors, pool = query.vectors, fusion.pool_size(query)
    admitted = rendered(filters.governed(query))
    branches = [models.Prefetch(query=packing.floats32(vectors.dense), using="dense", filter=admitted, limit=pool)]
    if vectors.sparse_indices:
        sparse = models.SparseVector(indices=list(vectors.sparse_indices), values=list(vectors.sparse_values))
        population = models.IdfCorpusParams(corpus=rendered(filters.of_tenant(query.tenant)))
        branches.append(
            models.Prefetch(
                query=sparse, using="sparse", filter=admitted, limit=pool, params=models.SearchParams(idf=population)
            )
        )
    fused = models.Prefetch(query=models.RrfQuery(rrf=models.Rrf(k=fusion.RRF_K)), prefetch=branches, limit=pool)
    reranked = models.QueryRequest(
        query=packing.rows32(vectors.late, dim),
        using="late",
        prefetch=[fused],
        limit=pool,
        filter=admitted,
        with_payload=list(fusion.SHOWN_FIELDS),
    )
    ranks = [
        models.QueryRequest(query=b.query, using=b.using, filter=b.filter, limit=b.limit, params=b.params)
        for b in branches
    ]
    return [*ranks, reranked]


def _vectors_out(vectors: Vectors, dim: int) -> dict[str, models.Vector]:
    sparse = models.SparseVector(indices=list(vectors.sparse_indices), values=list(vectors.sparse_values))
    dense, late = packing.unpack16(vectors.dense), packing.unpack16(vectors.late).reshape(-1, dim)
    return {"dense": dense.tolist(), "late": late.tolist(), "sparse": sparse}


def _vectors_in(stored: object) -> Vectors:
    assert isinstance(stored, Mapping)
    return Vectors(
        dense=packing.pack16(stored["dense"]),
        late=packing.pack16(stored["late"]),
        late_count=len(stored["late"]),
        sparse_indices=tuple(stored["sparse"].indices),
        sparse_values=tuple(stored["sparse"].values),
    )
