"""Ranks texts for questions with an embedder: by the pooled vectors alone, or by all that the lake's search weighs."""

from collections.abc import Sequence
from math import log

import numpy as np
from numpy.typing import NDArray

from upwell.lake.store.fusion import lexical
from upwell.ports import Embedder, QueryVectors
from upwell.records import Vectors

BATCH = 64

Scores = NDArray[np.float64]


class Ranking:
    """Texts with their vectors. Scores are of all the texts, not of a pool: what search does on a small lake."""

    def __init__(self, embedder: Embedder, texts: Sequence[str]) -> None:
        parts = [texts[i : i + BATCH] for i in range(0, len(texts), BATCH)]
        self.vectors: list[Vectors] = [vector for part in parts for vector in embedder.embed(part)]
        self._dense = np.array([np.frombuffer(v.dense, dtype="<f2") for v in self.vectors], dtype=np.float64)
        self._late = np.concatenate([np.frombuffer(v.late, dtype="<f2") for v in self.vectors]).astype(np.float32)
        self._starts = np.cumsum([0, *(v.late_count for v in self.vectors[:-1])])
        self._with: dict[int, list[tuple[int, float]]] = {}
        for place, v in enumerate(self.vectors):
            for index, weight in zip(v.sparse_indices, v.sparse_values, strict=True):
                self._with.setdefault(index, []).append((place, weight))

    def dense(self, query: QueryVectors) -> Scores:
        """Cosines of the pooled vectors."""
        scores: Scores = self._dense @ np.frombuffer(query.dense, dtype="<f4").astype(np.float64)
        return scores

    def searched(self, query: QueryVectors) -> Scores:
        """Mean MaxSim of the query's tokens and damped BM25, as `upwell.lake.store.fusion` adds them."""
        tokens = np.frombuffer(query.late, dtype="<f4").reshape(query.late_count, -1)
        likeness = tokens @ self._late.reshape(-1, tokens.shape[1]).T
        maxsim = np.maximum.reduceat(likeness, self._starts, axis=1).mean(axis=0)
        scores: Scores = maxsim + np.array([lexical(score) for score in self._bm25(query)])
        return scores

    def _bm25(self, query: QueryVectors) -> list[float]:
        """Dot products with Qdrant's IDF modifier (https://qdrant.tech/documentation/concepts/indexing/)."""
        scores = [0.0] * len(self.vectors)
        for index, asked in zip(query.sparse_indices, query.sparse_values, strict=True):
            have = self._with.get(index, [])
            idf = log(1 + (len(scores) - len(have) + 0.5) / (len(have) + 0.5))
            for place, weight in have:
                scores[place] += idf * asked * weight
        return scores


def best(scores: Scores, count: int) -> list[int]:
    """The places of the highest scores, highest first; of equal ones the first."""
    return [int(place) for place in np.argsort(-scores, kind="stable")[:count]]
