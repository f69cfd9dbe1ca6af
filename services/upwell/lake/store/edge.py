"""The store on Qdrant Edge: the shard lives in a child process, for its calls hold the GIL.

A child that died is started again by the next call, which asks once more: every request can be repeated.
"""

import shutil
from collections.abc import Iterator, Sequence
from collections.abc import Set as AbstractSet
from pathlib import Path
from threading import Lock
from typing import TypeVar

import msgspec

from upwell.child import Child, ChildDied, ChildTimedOut
from upwell.errors import Retryable
from upwell.lake.store import edge_requests as ask
from upwell.lake.store import filters, fusion, packing, points
from upwell.lake.store.edge_gate import GATE, gate_of, gated
from upwell.lake.store.turns import GroupCommit, Turns
from upwell.ports import PointRecord, StoreHit, StoreQuery
from upwell.records import DocKey, Vectors

MODULE = "upwell.lake.store.edge_child"
SLICE_POINTS = 16
SLICE_TOKENS = 2048
ANSWER_TIMEOUT_S = 120.0
COMPACT_TIMEOUT_S = 3600.0
MOST_PADDING = 100
GATHER_S, MOST_GATHER_S = 0.03, 0.1
"""Within which bounds the requests that wait go before a flush."""
READS = (ask.Search, ask.Texts)
"""What those who read wait for; all else serves those who write."""
ROOM_BYTES = 128 << 20
"""Segments and the write-ahead log grow in steps of 32 MB."""

Answer = TypeVar("Answer")


class EdgeStore:
    """One shard in `folder`, for vectors of `dim` numbers. One process a folder.

    Raises Misconfigured when the folder was made for another dimension, Retryable when another process holds it for
    longer than ten seconds.
    """

    def __init__(self, folder: Path, *, dim: int) -> None:
        self._folder, self._dim = folder, dim
        self._turns = Turns()
        self._child: Child | None = None
        self._closed = False
        self._vacuuming = Lock()
        self._commit = GroupCommit(
            lambda: self._ask(ask.Flush(), type(None)), lambda took_s: self._turns.quiet(gather_s(took_s))
        )
        try:
            self.count()
        except BaseException:
            self.close()
            raise

    def insert(self, points_: Sequence[PointRecord]) -> None:
        """Raises Retryable, before anything is written, when the disk has less than ROOM_BYTES left."""
        packing.check_points(points_, self._dim)
        self._need_room()
        for batch in _slices(points_):
            fresh = tuple(_new_point(point) for point in batch)
            self._ask(ask.Insert(points=fresh), type(None))

    def flush(self) -> None:
        self._commit()

    def stamp(self, key: DocKey, rev: int, fields: points.Fields) -> None:
        stamped = points.stamped_fields(rev, fields)
        if "acl_n" in stamped:
            stamped[GATE] = gate_of(key, stamped)
        self._ask(ask.Stamp(target=filters.older_than_row(key, rev), fields=stamped), type(None))

    def prune(self, key: DocKey, generation: int, live: AbstractSet[str]) -> int:
        return self._ask(ask.Prune(doomed=filters.superseded(key, generation, live)), int)

    def present(self, key: DocKey) -> dict[str, int]:
        return self._ask(ask.Present(wanted=filters.of_document(key)), ask.Births)

    def vectors(self, point_ids: Sequence[str]) -> dict[str, Vectors]:
        found: dict[str, Vectors] = {}
        for start in range(0, len(point_ids), SLICE_POINTS):
            some = tuple(point_ids[start : start + SLICE_POINTS])
            stored = self._ask(ask.StoredVectors(point_ids=some), ask.VectorsById)
            found |= {point_id: packing.narrowed(wide) for point_id, wide in stored.items()}
        return found

    def texts(self, point_ids: Sequence[str]) -> dict[str, str]:
        return self._ask(ask.Texts(point_ids=tuple(point_ids)), ask.TextsById)

    def search(self, query: StoreQuery) -> list[StoreHit]:
        packing.check_query(query.vectors, self._dim)
        request = ask.Search(
            vectors=query.vectors,
            admitted=gated(filters.governed(query)),
            population=gated(filters.readable(query)),
            pool=fusion.pool_size(query),
        )
        found = self._ask(request, ask.Found)
        reranked = [(point.point_id, point.score, point.payload) for point in found.reranked]
        return fusion.hits_of(query, found.dense, found.sparse, reranked)

    def count(self) -> int:
        return self._ask(ask.Count(), int)

    def vacuum(self) -> None:
        """Rewrite what holds deleted points, then push the old log out by writing. Searches wait for the first part.

        Raises Retryable when it was interrupted, or when the old log would not go.
        """
        with self._vacuuming:
            if not self._ask(ask.Compact(), bool, timeout_s=COMPACT_TIMEOUT_S):
                return
            for _ in range(MOST_PADDING):
                if self._ask(ask.PadLog(), int, again=False) == 0:
                    return
        raise Retryable("the vector store's old log is still there; vacuum again")

    def close(self) -> None:
        """End the child once its present request is answered."""
        with self._turns.take(reads=False):
            self._closed = True
            if self._child is not None:
                self._child.close()
                self._child = None

    def _ask(
        self, request: ask.Request, answer: type[Answer], *, again: bool = True, timeout_s: float = ANSWER_TIMEOUT_S
    ) -> Answer:
        body = ask.encode(request)
        with self._turns.take(reads=isinstance(request, READS)):
            try:
                raw = self._running_child().call(body, timeout_s)
            except ChildTimedOut:
                raise
            except ChildDied:
                if not again:
                    raise
                raw = self._running_child().call(body, timeout_s)
        return msgspec.msgpack.decode(raw, type=answer)

    def _need_room(self) -> None:
        """Edge writes through memory maps: a disk that fills up under it would end the child, not the write."""
        free = shutil.disk_usage(self._folder).free
        if free < ROOM_BYTES:
            raise Retryable(f"the disk is full: {free >> 20} MB left beside the lake, {ROOM_BYTES >> 20} MB are needed")

    def _running_child(self) -> Child:
        if self._closed:
            raise Retryable("the vector store is closed")
        if self._child is None or not self._child.alive:
            if self._child is not None:
                self._child.kill()
            self._child = Child(MODULE, [str(self._folder), str(self._dim)])
        return self._child


def gather_s(flush_took_s: float) -> float:
    """How long requests that wait may go before a flush, if the last one took so long.

    A flush costs much the same however much it writes, so that it should serve many; what it costs is a matter of the
    disk, and of who else uses it.
    """
    return min(MOST_GATHER_S, max(GATHER_S, flush_took_s))


def _new_point(point: PointRecord) -> ask.NewPoint:
    wide = packing.widened(point.vectors)
    payload = points.payload_of_point(point) | {GATE: gate_of(point.key, point.fields)}
    return ask.NewPoint(point_id=point.point_id, vectors=wide, payload=payload)


def _slices(points_: Sequence[PointRecord]) -> Iterator[list[PointRecord]]:
    """Batches small enough that a search need not wait long behind one."""
    batch: list[PointRecord] = []
    tokens = 0
    for point in points_:
        if batch and (len(batch) == SLICE_POINTS or tokens + point.vectors.late_count > SLICE_TOKENS):
            yield batch
            batch, tokens = [], 0
        batch.append(point)
        tokens += point.vectors.late_count
    if batch:
        yield batch
