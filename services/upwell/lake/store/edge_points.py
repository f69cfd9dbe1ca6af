"""Points, vectors and queries between our packed form and Qdrant Edge's objects."""

from array import array
from collections.abc import Mapping
from typing import Any, cast

import qdrant_edge as edge

from upwell.lake.store import fusion
from upwell.lake.store.edge_filters import rendered
from upwell.lake.store.edge_requests import NewPoint, Search
from upwell.ports import QueryVectors


def point_out(point: NewPoint, dim: int) -> edge.Point:
    """A point as the shard takes it."""
    vectors = point.vectors
    named = {
        "dense": _rows(vectors.dense, dim)[0],
        "late": _rows(vectors.late, dim),
        "sparse": edge.SparseVector(list(vectors.sparse_indices), list(vectors.sparse_values)),
    }
    return edge.Point(point.point_id, cast("dict[str, edge.NamedVector]", named), point.payload)


def vectors_in(stored: Mapping[str, Any]) -> QueryVectors:
    """A stored point's vectors. Storing them again changes no number (measured: no drift in Turbo4)."""
    return QueryVectors(
        dense=array("f", stored["dense"]).tobytes(),
        late=b"".join(array("f", row).tobytes() for row in stored["late"]),
        late_count=len(stored["late"]),
        sparse_indices=tuple(stored["sparse"].indices),
        sparse_values=tuple(stored["sparse"].values),
    )


def _rows(packed: bytes, dim: int) -> list["array[float]"]:
    """Rows of float32. Arrays: the bindings read them faster than lists, and far faster than numpy's."""
    size = 4 * dim
    return [array("f", packed[start : start + size]) for start in range(0, len(packed), size)]


def query_requests(search: Search, dim: int) -> list[edge.QueryRequest]:
    """Dense ranks, sparse ranks (if the query has terms), and the reranked fusion of both, for one batch."""
    admitted = rendered(search.admitted)
    asked: list[tuple[edge.Query, edge.SearchParams | None]] = [
        (edge.Query.Nearest(_numbers(search.vectors.dense, dim)[0], "dense"), None)
    ]
    if search.vectors.sparse_indices:
        terms = edge.SparseVector(list(search.vectors.sparse_indices), list(search.vectors.sparse_values))
        population = edge.SearchParams(idf=edge.IdfParams(corpus=rendered(search.population)))
        asked.append((edge.Query.Nearest(terms, "sparse"), population))
    branches = [
        edge.Prefetch(limit=search.pool, query=query, params=params, filter=admitted) for query, params in asked
    ]
    fusion_rule = cast("edge.Fusion", edge.Fusion.Rrf(k=fusion.RRF_K))  # the stubs miss that Rrf is a Fusion
    fused = edge.Prefetch(limit=search.pool, query=fusion_rule, prefetches=branches)
    reranked = edge.QueryRequest(
        limit=search.pool,
        query=edge.Query.Nearest(_numbers(search.vectors.late, dim), "late"),
        prefetches=[fused],
        filter=admitted,
        with_payload=list(fusion.SHOWN_FIELDS),
    )
    ranks = [
        edge.QueryRequest(limit=search.pool, query=query, params=params, filter=admitted) for query, params in asked
    ]
    return [*ranks, reranked]


def _numbers(packed: bytes, dim: int) -> list[list[float]]:
    return [row.tolist() for row in _rows(packed, dim)]
