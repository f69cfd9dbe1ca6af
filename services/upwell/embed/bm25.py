"""Sparse vectors: BM25 term weights (k1 1.2, b 0.75, average length 256 words), English stems and stop words.

The model is Qdrant Edge's own: its stop words are compiled in (fastembed's come as files, and an empty folder loads
without them and without a word), it takes 35 us a chunk where fastembed takes 220, and both give a word the same index,
so that a server-side or fastembed query still matches. The inverse document frequency is the store's business (modifier
`idf`). Documents and queries must go through this one recipe.
"""

from qdrant_edge import Bm25, Bm25Config

RECIPE = "bm25:qdrant-edge:english:folded:1"
"""Changes when equal text could give other weights."""

Sparse = tuple[tuple[int, ...], tuple[float, ...]]


class SparseModel:
    """Indices (ascending, below 2^31) and weights of words. A text of stop words alone has none."""

    def __init__(self) -> None:
        self._model = Bm25(Bm25Config(language="english", ascii_folding=True))

    def passage(self, text: str) -> Sparse:
        """Term frequencies, saturated and normalised by length."""
        return _sorted(self._model.embed_document(text))

    def query(self, text: str) -> Sparse:
        """Each word once, with weight 1."""
        return _sorted(self._model.embed_query(text))


def _sorted(vector: object) -> Sparse:
    pairs = sorted(zip(vector.indices, vector.values, strict=True))  # type: ignore[attr-defined]
    return tuple(index for index, _ in pairs), tuple(value for _, value in pairs)
