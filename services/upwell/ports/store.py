"""The vector store's port: content by point, proposed to a search and never trusted with a decision."""

from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from typing import Protocol

from upwell.records import DocKey, Record, Vectors


class PointRecord(Record, frozen=True, kw_only=True):
    """A point to insert: immutable content, with copies of what the registry says of its document (`fields`)."""

    point_id: str
    key: DocKey
    chunk_key: str
    embed_key: str
    born: int
    text: str
    vectors: Vectors
    fields: dict[str, str | int | list[str] | None] = {}


class QueryVectors(Record, frozen=True, kw_only=True):
    """A query as the store takes it: dense float32 (dim), late float32 (tokens x dim, row-major), sparse pairs."""

    dense: bytes
    late: bytes
    late_count: int
    sparse_indices: tuple[int, ...]
    sparse_values: tuple[float, ...]


class StoreQuery(Record, frozen=True, kw_only=True):
    """One governed query. `reader` filters inside every prefetch; `exclude_*` take out what the re-check refused."""

    tenant: str
    reader: frozenset[str]
    vectors: QueryVectors
    limit: int
    prefetch: int = 100
    exclude_points: frozenset[str] = frozenset()
    exclude_documents: frozenset[DocKey] = frozenset()
    sources: frozenset[str] = frozenset()


class StoreHit(Record, frozen=True, kw_only=True):
    """A point that matched; `why` names the branches (`dense`, `sparse`) with their ranks, and the score's parts."""

    point_id: str
    score: float
    text: str
    chunk_key: str
    key: DocKey
    why: dict[str, float] = {}


class Searcher(Protocol):
    """What a search asks: a store, or one with something taken out."""

    def search(self, query: StoreQuery) -> list[StoreHit]:
        """Dense and sparse prefetch, RRF, MaxSim rerank; best first."""
        ...


class Store(Protocol):
    """One collection of one pipeline. Insertions are durable once `flush` has returned."""

    def insert(self, points: Sequence[PointRecord]) -> None:
        """Insert the points whose ids are new; leave the others as they are. Validates before it writes."""
        ...

    def flush(self) -> None:
        """Make every earlier write of this thread durable. Concurrent callers share one flush."""
        ...

    def stamp(self, key: DocKey, rev: int, fields: dict[str, str | int | list[str] | None]) -> None:
        """Rewrite the copied fields of the document's points that are older than row revision `rev`."""
        ...

    def prune(self, key: DocKey, generation: int, live: AbstractSet[str]) -> int:
        """Delete the document's points with born <= generation that are not `live`; returns how many were there."""
        ...

    def present(self, key: DocKey) -> dict[str, int]:
        """point_id -> born of every point of the document."""
        ...

    def vectors(self, point_ids: Sequence[str]) -> dict[str, Vectors]: ...

    def texts(self, point_ids: Sequence[str]) -> dict[str, str]: ...

    def search(self, query: StoreQuery) -> list[StoreHit]:
        """Dense and sparse prefetch, RRF, MaxSim rerank; best first."""
        ...

    def count(self) -> int: ...

    def vacuum(self) -> None:
        """Leave no deleted text in any file of the store (segments and write-ahead log)."""
        ...

    def close(self) -> None: ...
