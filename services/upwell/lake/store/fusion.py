"""How a store's three answers (dense, sparse, reranked) become hits: the same words in every adapter."""

from collections.abc import Mapping, Sequence

from upwell.lake.store.points import key_of
from upwell.ports import StoreHit, StoreQuery

RRF_K = 60
"""Cormack, Clarke and Büttcher, "Reciprocal rank fusion outperforms Condorcet", SIGIR 2009."""

LEXICAL_WEIGHT = 0.5
LEXICAL_HALF = 8.0
"""How much the words themselves count beside MaxSim, and the BM25 score at which they count half of that.

Chosen on the code set of the contextual-embeddings cookbook (124 queries, MiniLM, Pass@5/10/20): MaxSim alone
81.0/88.1/92.4, with these 88.3/91.9/94.4; a name or a number that stands in one chunk finds that chunk. Both parts are
absolute, so scores of two queries for the same words compare.
"""

SHOWN_FIELDS = ("tenant", "source", "doc_id", "chunk_key", "text")

Scored = Sequence[tuple[str, float]]
Reranked = Sequence[tuple[str, float, Mapping[str, object]]]


def pool_size(query: StoreQuery) -> int:
    """How many points each prefetch brings, and the rerank scores: never fewer than are asked for."""
    return max(query.prefetch, query.limit)


def hits_of(query: StoreQuery, dense: Scored, sparse: Scored, reranked: Reranked) -> list[StoreHit]:
    """The query's hits, best first, from the branches' scores and the pool's MaxSim scores (sums over query tokens).

    A hit's score is its mean MaxSim (a cosine) and its damped BM25. `why` holds both, and the ranks (from 1) in the
    branches that found the point.
    """
    bm25 = dict(sparse)
    ranks = {"dense": _ranks(dense), "sparse": _ranks(sparse)}
    hits = [
        StoreHit(
            point_id=point_id,
            score=maxsim / query.vectors.late_count + lexical(bm25.get(point_id, 0.0)),
            text=str(payload["text"]),
            chunk_key=str(payload["chunk_key"]),
            key=key_of(payload),
            why={"maxsim": maxsim / query.vectors.late_count, "bm25": bm25.get(point_id, 0.0)}
            | {name: rank[point_id] for name, rank in ranks.items() if point_id in rank},
        )
        for point_id, maxsim, payload in reranked
    ]
    return sorted(hits, key=lambda hit: (-hit.score, hit.point_id))[: query.limit]


def lexical(bm25: float) -> float:
    """What a BM25 score adds: nothing at 0, half the weight at LEXICAL_HALF, never more than the weight."""
    return LEXICAL_WEIGHT * bm25 / (bm25 + LEXICAL_HALF) if bm25 > 0 else 0.0


def _ranks(scored: Scored) -> dict[str, float]:
    """Equal scores by id: a store's own order of them tells when its points came, hidden ones among them."""
    ordered = sorted(scored, key=lambda found: (-found[1], found[0]))
    return {point_id: float(rank) for rank, (point_id, _) in enumerate(ordered, start=1)}
