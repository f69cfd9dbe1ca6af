"""How a store's three answers (dense, sparse, reranked) become hits: the same words in every adapter."""

from collections.abc import Mapping, Sequence

from upwell.lake.store.points import key_of
from upwell.ports import StoreHit, StoreQuery

RRF_K = 60
"""Cormack, Clarke and Büttcher, "Reciprocal rank fusion outperforms Condorcet", SIGIR 2009."""

SHOWN_FIELDS = ("tenant", "source", "doc_id", "chunk_key", "text")


def pool_size(query: StoreQuery) -> int:
    """How many points each prefetch brings: never fewer than are asked for."""
    return max(query.prefetch, query.limit)


def hits_of(
    dense: Sequence[str], sparse: Sequence[str], reranked: Sequence[tuple[str, float, Mapping[str, object]]]
) -> list[StoreHit]:
    """Hits best first. `why`: the MaxSim score and, from 1, the ranks in the branches that found the point."""
    ranks = {"dense": _ranks(dense), "sparse": _ranks(sparse)}
    return [
        StoreHit(
            point_id=point_id,
            score=score,
            text=str(payload["text"]),
            chunk_key=str(payload["chunk_key"]),
            key=key_of(payload),
            why={"maxsim": score} | {name: rank[point_id] for name, rank in ranks.items() if point_id in rank},
        )
        for point_id, score, payload in reranked
    ]


def _ranks(point_ids: Sequence[str]) -> dict[str, float]:
    return {point_id: float(rank) for rank, point_id in enumerate(point_ids, start=1)}
