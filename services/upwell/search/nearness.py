"""Documents near to another one: by its own vectors, as stored, and by the words that they share. No model runs."""

import math
import struct
from collections.abc import Iterable, Mapping, Sequence

from msgspec.structs import replace

from upwell.ports import ManifestEntry, QueryVectors, Store, StoreHit, StoreQuery
from upwell.records import DocKey, Vectors

SAMPLES = 3
"""Chunks of a document that are looked up: the first, the last and those between them."""
LATE_SAMPLES = 16
"""Tokens of a chunk that its neighbours are ranked by."""


class Without:
    """A store that never offers one document: for looking for others like it."""

    def __init__(self, store: Store, key: DocKey) -> None:
        self._store = store
        self._key = key

    def search(self, query: StoreQuery) -> list[StoreHit]:
        return self._store.search(replace(query, exclude_documents=query.exclude_documents | {self._key}))


def samples(entries: Sequence[ManifestEntry]) -> list[ManifestEntry]:
    """A few chunks that stand for a document, evenly from its text."""
    if len(entries) <= SAMPLES:
        return list(entries)
    return [entries[round(n * (len(entries) - 1) / (SAMPLES - 1))] for n in range(SAMPLES)]


def query_of(vectors: Vectors) -> QueryVectors:
    """A stored chunk's vectors as a query; of its tokens every so many-th."""
    width = len(vectors.dense)
    step = max(1, math.ceil(vectors.late_count / LATE_SAMPLES))
    late = b"".join(vectors.late[n * width : (n + 1) * width] for n in range(0, vectors.late_count, step))
    return QueryVectors(
        dense=_widened(vectors.dense),
        late=_widened(late),
        late_count=len(late) // width,
        sparse_indices=vectors.sparse_indices,
        sparse_values=vectors.sparse_values,
    )


def cosine(one: Vectors, other: Vectors) -> float:
    """The cosine of two chunks' dense vectors, -1 to 1; 0 if one of them is of no length."""
    left, right = _numbers(one.dense), _numbers(other.dense)
    length = math.sqrt(_dot(left, left) * _dot(right, right))
    return max(-1.0, min(1.0, _dot(left, right) / length)) if length else 0.0


def shared_part(one: Iterable[ManifestEntry], other: Iterable[ManifestEntry]) -> float:
    """The part of two documents that is the same chunks of text, 0 to 1, in tokens of the longer one."""
    left, right = _weights(one), _weights(other)
    longer = max(sum(left.values()), sum(right.values()))
    return sum(tokens for text, tokens in left.items() if text in right) / longer if longer else 0.0


def _weights(entries: Iterable[ManifestEntry]) -> Mapping[str, int]:
    return {entry.text_hash: max(1, entry.tokens) for entry in entries}


def _numbers(packed: bytes) -> tuple[float, ...]:
    return struct.unpack(f"<{len(packed) // 2}e", packed)


def _widened(packed: bytes) -> bytes:
    numbers = _numbers(packed)
    return struct.pack(f"<{len(numbers)}f", *numbers)


def _dot(one: Sequence[float], other: Sequence[float]) -> float:
    return math.fsum(map(float.__mul__, one, other))
