"""Packed vectors: the checks that come before any write, and the change of form between float16, float32 and numbers.

A failing batch can be half applied by the vendor, so everything that it could refuse is refused here first.
"""

import uuid
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from upwell.errors import Misconfigured
from upwell.lake.store.points import check_fields, invalid, payload_of_point
from upwell.ports import PointRecord, QueryVectors
from upwell.records import Vectors

MAX_SPARSE_INDEX = 2**32 - 1


def check_points(points: Sequence[PointRecord], dim: int) -> None:
    """Raises Rejected(invalid_event) if any point could be refused or mangled by the store. Writes nothing."""
    for point in points:
        _check_id(point.point_id)
        check_fields(payload_of_point(point))
        check_vectors(point.vectors, dim)


def check_vectors(vectors: Vectors, dim: int) -> None:
    """Raises Rejected unless dense is `dim` and late `late_count` x `dim` finite float16, and sparse is well formed."""
    if len(vectors.dense) != 2 * dim:
        raise invalid(f"a dense vector of {len(vectors.dense)} bytes where {2 * dim} belong")
    if vectors.late_count < 1 or len(vectors.late) != 2 * dim * vectors.late_count:
        raise invalid(f"late vectors of {len(vectors.late)} bytes for {vectors.late_count} tokens of {dim} numbers")
    if not (np.isfinite(unpack16(vectors.dense)).all() and np.isfinite(unpack16(vectors.late)).all()):
        raise invalid("a vector with a number that is not finite")
    _check_sparse(vectors.sparse_indices, vectors.sparse_values)


def check_query(query: QueryVectors, dim: int) -> None:
    """Raises Misconfigured when the query was embedded by a model of another size than the collection's."""
    dense, late = np.frombuffer(query.dense, np.float32), np.frombuffer(query.late, np.float32)
    if dense.size != dim or query.late_count < 1 or late.size != dim * query.late_count:
        raise Misconfigured(f"the query's vectors do not fit this collection of {dim} dimensions; use its own embedder")
    if not (np.isfinite(dense).all() and np.isfinite(late).all()):
        raise Misconfigured("the query's vectors hold a number that is not finite; check the embedder")
    _check_sparse(query.sparse_indices, query.sparse_values)


def unpack16(packed: bytes) -> npt.NDArray[np.float16]:
    """Packed float16 as an array, without a copy."""
    return np.frombuffer(packed, np.float16)


def floats32(packed: bytes) -> list[float]:
    """Packed float32 as numbers."""
    numbers: list[float] = np.frombuffer(packed, np.float32).tolist()
    return numbers


def rows32(packed: bytes, dim: int) -> list[list[float]]:
    """Packed float32 as rows of `dim` numbers."""
    rows: list[list[float]] = np.frombuffer(packed, np.float32).reshape(-1, dim).tolist()
    return rows


def pack16(numbers: object) -> bytes:
    """Numbers (any nesting, row-major) as packed float16."""
    return np.asarray(numbers, np.float32).astype(np.float16).tobytes()


def widened(vectors: Vectors) -> QueryVectors:
    """The same vectors in packed float32, which a process without numpy can read."""
    return QueryVectors(
        dense=unpack16(vectors.dense).astype(np.float32).tobytes(),
        late=unpack16(vectors.late).astype(np.float32).tobytes(),
        late_count=vectors.late_count,
        sparse_indices=vectors.sparse_indices,
        sparse_values=vectors.sparse_values,
    )


def narrowed(wide: QueryVectors) -> Vectors:
    """Back from packed float32 to packed float16."""
    return Vectors(
        dense=pack16(np.frombuffer(wide.dense, np.float32)),
        late=pack16(np.frombuffer(wide.late, np.float32)),
        late_count=wide.late_count,
        sparse_indices=wide.sparse_indices,
        sparse_values=wide.sparse_values,
    )


def _check_id(point_id: str) -> None:
    try:
        canonical = str(uuid.UUID(point_id))
    except ValueError:
        raise invalid("a point id that is not a UUID") from None
    if canonical != point_id:
        raise invalid("a point id that is not a UUID in its canonical form")


def _check_sparse(indices: Sequence[int], values: Sequence[float]) -> None:
    if len(indices) != len(values) or len(set(indices)) != len(indices):
        raise invalid("a sparse vector whose indices repeat or do not pair with its values")
    if indices and (min(indices) < 0 or max(indices) > MAX_SPARSE_INDEX or not np.isfinite(values).all()):
        raise invalid("a sparse vector with an index or a value out of range")
