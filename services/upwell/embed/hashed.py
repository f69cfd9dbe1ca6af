"""The `hash` embedder: vectors from hashes of words, no model. For tests, and for measuring everything but the model.

Texts that share words are close, so search works in a crude way; nothing here understands anything.
"""

import hashlib
from collections.abc import Sequence
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from upwell.embed.bm25 import RECIPE, Sparse, SparseModel
from upwell.embed.pooling import Floats, normalized, passage_vectors, query_vectors
from upwell.embed.tokens import TextTokenizer
from upwell.ports import QueryVectors, Tokenizer
from upwell.records import Vectors, stable_hash

DIM = 384
LATE_LIMIT = 32
ROWS = 4096


class HashEmbedder:
    """Each word is a fixed random direction: dense is their weighted sum, late the heaviest words' own directions."""

    name = "hash"
    dim = DIM
    tokenizer: Tokenizer

    def __init__(self, tokenizer: TextTokenizer) -> None:
        self.tokenizer = tokenizer
        self._tokens = tokenizer
        self.fingerprint = stable_hash("hash", DIM, LATE_LIMIT, ROWS, RECIPE)
        self._sparse = SparseModel()
        noise = np.frombuffer(hashlib.shake_256(b"upwell hash embedder 1").digest(ROWS * DIM), dtype=np.int8)
        self._directions: Floats = normalized(noise.reshape(ROWS, DIM).astype(np.float32))
        self._packed = self._directions.astype("<f2")

    def embed(self, texts: Sequence[str], *, urgent: bool = False) -> list[Vectors]:  # noqa: ARG002 (nothing waits)
        """Vectors of passages, in order, at most 32 late ones each. Raises Rejected(too_large) as a model would."""
        self._tokens.check(texts)
        return [self._passage(text, self._sparse.passage(text)) for text in texts]

    def embed_query(self, text: str) -> QueryVectors:
        """Vectors of a query."""
        sparse = self._sparse.query(self._tokens.shorten(text))
        dense, late = self._vectors(text, sparse)
        return query_vectors(dense, self._directions[late], sparse)

    def _passage(self, text: str, sparse: Sparse) -> Vectors:
        dense, late = self._vectors(text, sparse)
        return passage_vectors(dense, self._packed[late], sparse)

    def _vectors(self, text: str, sparse: Sparse) -> tuple[Floats, NDArray[np.int64]]:
        """The dense vector, and the rows of the heaviest words' directions."""
        if not sparse[0]:  # stop words only: a direction of its own, for a store takes no vector of zeros
            only = np.array([crc32(text.encode("utf-8", "surrogatepass")) % ROWS])
            return self._directions[only[0]], only
        rows = np.array(sparse[0]) % ROWS
        weights = np.array(sparse[1], dtype=np.float32)
        heaviest = np.argsort(-weights, kind="stable")[:LATE_LIMIT]
        return normalized(weights @ self._directions[rows]), rows[heaviest]
