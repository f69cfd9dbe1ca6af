"""Points, vectors and queries between our packed form and Qdrant Edge's objects."""

from collections.abc import Mapping
from typing import Any, cast

import qdrant_edge as edge

from upwell.lake.store import fusion, points
from upwell.lake.store.edge_filters import rendered
from upwell.lake.store.edge_requests import NewPoint, Search
from upwell.records import Vectors


def point_out(point: NewPoint, dim: int) -> edge.Point:
    """A point as the shard takes it. Lists: its bindings read them faster than arrays of any type."""
    vectors = point.vectors
    named = {
        "dense": points.unpack16(vectors.dense).tolist(),
        "late": points.unpack16(vectors.late).reshape(-1, dim).tolist(),
        "sparse": edge.SparseVector(list(vectors.sparse_indices), list(vectors.sparse_values)),
    }
    return edge.Point(point.point_id, named, point.payload)


def vectors_in(stored: Mapping[str, Any]) -> Vectors:
    """A stored point's vectors, packed. Storing them again changes no number (measured: no drift in Turbo4)."""
    return Vectors(
        dense=points.pack16(stored["dense"]),
        late=points.pack16(stored["late"]),
        late_count=len(stored["late"]),
        sparse_indices=tuple(stored["sparse"].indices),
        sparse_values=tuple(stored["sparse"].values),
    )


def query_requests(search: Search, dim: int) -> list[edge.QueryRequest]:
    """Dense ranks, sparse ranks (if the query has terms), and the reranked fusion of both, for one batch."""
    admitted = rendered(search.admitted)
    asked: list[tuple[edge.Query, edge.SearchParams | None]] = [
        (edge.Query.Nearest(points.floats32(search.vectors.dense), "dense"), None)
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
        limit=search.limit,
        query=edge.Query.Nearest(points.rows32(search.vectors.late, dim), "late"),
        prefetches=[fused],
        filter=admitted,
        with_payload=list(fusion.SHOWN_FIELDS),
    )
    ranks = [
        edge.QueryRequest(limit=search.pool, query=query, params=params, filter=admitted) for query, params in asked
    ]
    return [*ranks, reranked]
