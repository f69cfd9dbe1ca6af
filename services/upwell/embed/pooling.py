"""From the token vectors of one model pass to the vectors of a chunk: the pure arithmetic."""

from typing import Literal

import numpy as np
from numpy.typing import NDArray

from upwell.embed.bm25 import Sparse
from upwell.ports import QueryVectors
from upwell.records import Vectors

Floats = NDArray[np.float32]
Pooling = Literal["mean", "cls"]


def normalized(rows: Floats) -> Floats:
    """Rows of length one; a row of zeros stays."""
    lengths = np.linalg.norm(rows, axis=-1, keepdims=True)
    scaled: Floats = rows / np.maximum(lengths, 1e-12)
    return scaled


def pooled(tokens: Floats, pooling: Pooling) -> Floats:
    """The dense vector (dim) of one text from its token vectors (tokens x dim), special tokens included, no padding."""
    return normalized(tokens[0] if pooling == "cls" else tokens.mean(axis=0))


def passage_vectors(dense: Floats, late: Floats | NDArray[np.float16], sparse: Sparse) -> Vectors:
    """Packed as records carry them: little-endian float16."""
    return Vectors(
        dense=dense.astype("<f2").tobytes(),
        late=late.astype("<f2", copy=False).tobytes(),
        late_count=len(late),
        sparse_indices=sparse[0],
        sparse_values=sparse[1],
    )


def query_vectors(dense: Floats, late: Floats, sparse: Sparse) -> QueryVectors:
    """Packed as stores take them: little-endian float32."""
    return QueryVectors(
        dense=dense.astype("<f4").tobytes(),
        late=late.astype("<f4").tobytes(),
        late_count=len(late),
        sparse_indices=sparse[0],
        sparse_values=sparse[1],
    )
