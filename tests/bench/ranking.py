"""Ranks texts for questions with an embedder: by the pooled vectors alone, or by all that the lake's search weighs."""

from collections import Counter
from collections.abc import Sequence

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
        self._late = [np.frombuffer(v.late, dtype="<f2").astype(np.float32) for v in self.vectors]
        self._within = Counter(index for v in self.vectors for index in v.sparse_indices)

    def dense(self, query: QueryVectors) -> Scores:
        """Cosines of the pooled vectors."""
        scores: Scores = self._dense @ np.frombuffer(query.dense, dtype="<f4").astype(np.float64)
        return scores

    def searched(self, query: QueryVectors) -> Scores:
        """Mean MaxSim of the query's tokens and damped BM25, as `upwell.lake.store.fusion` adds them."""
        tokens = np.frombuffer(query.late, dtype="<f4").reshape(query.late_count, -1)
        maxsim = [float((tokens @ late.reshape(-1, tokens.shape[1]).T).max(axis=1).mean()) for late in self._late]
        return np.array(maxsim) + [lexical(self._bm25(query, vector)) for vector in self.vectors]

    def _bm25(self, query: QueryVectors, vector: Vectors) -> float:
        """The dot product with Qdrant's IDF modifier (https://qdrant.tech/documentation/concepts/indexing/)."""
        weights = dict(zip(vector.sparse_indices, vector.sparse_values, strict=True))
        asked = zip(query.sparse_indices, query.sparse_values, strict=True)
        return sum(self._idf(index) * value * weights[index] for index, value in asked if index in weights)

    def _idf(self, index: int) -> float:
        have = self._within[index]
        return float(np.log(1 + (len(self.vectors) - have + 0.5) / (have + 0.5)))


def best(scores: Scores, count: int) -> list[int]:
    """The places of the highest scores, highest first; of equal ones the first."""
    return [int(place) for place in np.argsort(-scores, kind="stable")[:count]]
