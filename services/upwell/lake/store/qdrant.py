"""The store on a Qdrant server or cluster, through qdrant-client; its local mode serves tests of a few thousand points.

Every write waits until it is applied and is strongly ordered, so several writers see one order. A batch that fails may
be half applied: what could be refused is refused before it is sent, and every write may be repeated.
"""

from collections.abc import Iterator, Sequence
from collections.abc import Set as AbstractSet
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from threading import RLock

from qdrant_client import QdrantClient, models

from upwell.errors import Reason, Rejected, Retryable
from upwell.lake.store import filters, fusion, packing, points
from upwell.lake.store import qdrant_collection as collections
from upwell.lake.store.qdrant_errors import vendor_errors
from upwell.lake.store.qdrant_filters import rendered
from upwell.lake.store.qdrant_points import batches, check_sizes, point_out, vectors_in
from upwell.lake.store.qdrant_server import abilities, connected
from upwell.ports import PointRecord, StoreHit, StoreQuery
from upwell.records import DocKey, Vectors

SCROLL_LIMIT = 1000
RETRIEVED = 64
"""Points asked for at a time with their vectors: some tens of megabytes."""
STRONG = models.WriteOrdering.STRONG
MAJORITY = models.ReadConsistencyType.MAJORITY
MEMORY = ":memory:"


class QdrantStore:
    """One collection. `location` is a server's URL, a folder (local mode, one process) or `:memory:`.

    `make` makes the collection when it is not there; without, that is Misconfigured. Raises Misconfigured when the
    collection was made for another dimension or the server is too old, Retryable when the server is away.
    """

    def __init__(
        self, location: str, *, collection: str, dim: int, api_key: str | None = None, make: bool = True
    ) -> None:
        self._name, self._dim = collection, dim
        self._local = "://" not in location
        self._folder = Path(location) if self._local and location != MEMORY else None
        self._one_at_a_time = RLock() if self._local else None
        with self._vendor():
            self._client = self._opened(location, api_key)
            try:
                self._rarity = self._prepared(make=make)
            except BaseException:
                self._client.close()
                raise

    def insert(self, points_: Sequence[PointRecord]) -> None:
        packing.check_points(points_, self._dim)
        check_sizes(points_, self._dim)
        for batch in batches(points_, self._dim):
            self._insert([point_out(point, self._dim) for point in batch])

    def flush(self) -> None:
        """Nothing to do: a waited write is in the server's log already."""

    def stamp(self, key: DocKey, rev: int, fields: points.Fields) -> None:
        payload = points.stamped_fields(rev, fields)
        target = rendered(filters.older_than_row(key, rev))
        with self._vendor():
            _applied(self._client.set_payload(self._name, payload, points=target, wait=True, ordering=STRONG))

    def prune(self, key: DocKey, generation: int, live: AbstractSet[str]) -> int:
        doomed = rendered(filters.superseded(key, generation, live))
        with self._vendor():
            found = sum(1 for _ in self._listed(doomed))  # no exact count: a strict mode may refuse that
            if found or not self._local:  # the replicas that were asked may lag behind the others
                selector = models.FilterSelector(filter=doomed)
                _applied(self._client.delete(self._name, selector, wait=True, ordering=STRONG))
        return found

    def present(self, key: DocKey) -> dict[str, int]:
        wanted = rendered(filters.of_document(key))
        with self._vendor():
            return {str(record.id): int((record.payload or {})["born"]) for record in self._listed(wanted, ["born"])}

    def vectors(self, point_ids: Sequence[str]) -> dict[str, Vectors]:
        found: dict[str, Vectors] = {}
        for start in range(0, len(point_ids), RETRIEVED):
            some = list(point_ids[start : start + RETRIEVED])
            with self._vendor():
                records = self._client.retrieve(self._name, some, with_payload=False, with_vectors=True)
            found |= {str(record.id): vectors_in(record.vector) for record in records}
        return found

    def texts(self, point_ids: Sequence[str]) -> dict[str, str]:
        found: dict[str, str] = {}
        for start in range(0, len(point_ids), SCROLL_LIMIT):
            some = list(point_ids[start : start + SCROLL_LIMIT])
            with self._vendor():
                records = self._client.retrieve(self._name, some, with_payload=["text"])
            found |= {str(record.id): str((record.payload or {})["text"]) for record in records}
        return found

    def search(self, query: StoreQuery) -> list[StoreHit]:
        packing.check_query(query.vectors, self._dim)
        with self._vendor():
            *branches, reranked = self._client.query_batch_points(
                self._name, _requests(query, self._dim, rarity=self._rarity)
            )
        dense, sparse = branches if len(branches) > 1 else (branches[0], None)
        return fusion.hits_of(
            query,
            [(str(hit.id), hit.score) for hit in dense.points],
            [(str(hit.id), hit.score) for hit in sparse.points] if sparse else [],
            [(str(hit.id), hit.score, hit.payload or {}) for hit in reranked.points],
        )

    def count(self) -> int:
        with self._vendor():
            return self._client.count(self._name, exact=True).count

    def vacuum(self) -> None:
        """On a server nothing: no request orders the rewriting of segments and log. `qdrant_collection` says what has
        been done beforehand, and what remains after an erasure until when."""
        if self._folder is not None:
            with self._vendor():
                collections.discard_deleted_rows(self._folder, self._name)

    def close(self) -> None:
        with self._vendor():
            self._client.close()

    def _insert(self, structs: list[models.PointStruct]) -> None:
        """In halves where a server, or a proxy before it, takes smaller requests than Qdrant does unless told."""
        try:
            with self._vendor():
                _applied(
                    self._client.upsert(
                        self._name, structs, wait=True, ordering=STRONG, update_mode=models.UpdateMode.INSERT_ONLY
                    )
                )
        except Rejected as refused:
            if refused.reason is not Reason.TOO_LARGE or len(structs) == 1:
                raise
            half = len(structs) // 2
            self._insert(structs[:half])
            self._insert(structs[half:])

    def _listed(self, wanted: models.Filter, fields: Sequence[str] = ()) -> Iterator[models.Record]:
        """Every point that matches, page by page, as most replicas have it."""
        offset = None
        while True:
            page, offset = self._client.scroll(
                self._name,
                scroll_filter=wanted,
                limit=SCROLL_LIMIT,
                offset=offset,
                with_payload=list(fields) or False,
                consistency=MAJORITY,
            )
            yield from page
            if offset is None:
                return

    def _opened(self, location: str, api_key: str | None) -> QdrantClient:
        if self._folder is not None:
            return QdrantClient(path=location, force_disable_check_same_thread=True)
        return QdrantClient(MEMORY) if self._local else connected(location, api_key)

    def _prepared(self, *, make: bool) -> bool:
        """Have the collection ready; returns whether words weigh by their rarity in what a reader may see."""
        if self._local:
            collections.make_local(self._client, self._name, self._dim)
            return True
        able = abilities(self._client)
        if make:
            collections.make_collection(self._client, self._name, self._dim, able)
        return collections.knows_rarity(collections.check_collection(self._client, self._name, self._dim))

    def _vendor(self) -> AbstractContextManager[object]:
        return vendor_errors(self._one_at_a_time or nullcontext())


def _applied(result: models.UpdateResult) -> None:
    """Raises Retryable for a write that the server has only noted, or stopped waiting for."""
    if result.status != models.UpdateStatus.COMPLETED:
        raise Retryable(f"the Qdrant server has not applied a write yet ({result.status})")


def _requests(query: StoreQuery, dim: int, *, rarity: bool) -> list[models.QueryRequest]:
    """Dense ranks, sparse ranks, and the reranked fusion of both: one request, so that hits can say why."""
    vectors, pool = query.vectors, fusion.pool_size(query)
    admitted = rendered(filters.governed(query))
    branches = [models.Prefetch(query=packing.floats32(vectors.dense), using="dense", filter=admitted, limit=pool)]
    if vectors.sparse_indices:
        sparse = models.SparseVector(indices=list(vectors.sparse_indices), values=list(vectors.sparse_values))
        population = models.IdfCorpusParams(corpus=rendered(filters.readable(query)))
        params = models.SearchParams(idf=population) if rarity else None
        branches.append(models.Prefetch(query=sparse, using="sparse", filter=admitted, limit=pool, params=params))
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
