"""Points between our packed form and qdrant-client's, in requests that a server takes."""

from collections.abc import Iterator, Mapping, Sequence

from qdrant_client import models

from upwell.errors import Reason, Rejected
from upwell.lake.store import packing, points
from upwell.ports import PointRecord
from upwell.records import Vectors

REQUEST_BYTES = 8 << 20
"""A server takes 32 MB a request (`max_request_size_mb`), and asks for batches of a few."""
NUMBER_BYTES = 24
"""The longest float16 in JSON, with its comma."""
MOST_NUMBERS = (1 << 20) - 1
"""Of one multivector: a server refuses 1,048,576 or more (https://github.com/qdrant/qdrant/issues/6929)."""


def check_sizes(points_: Sequence[PointRecord], dim: int) -> None:
    """Raises Rejected(too_large) for a point that no server would take, however it is sent."""
    if any(point.vectors.late_count * dim > MOST_NUMBERS for point in points_):
        raise Rejected(Reason.TOO_LARGE, f"a chunk of more than {MOST_NUMBERS // dim} tokens of {dim} numbers")


def batches(points_: Sequence[PointRecord], dim: int) -> Iterator[list[PointRecord]]:
    """The points in order, in batches of at most REQUEST_BYTES (a point that is larger goes alone)."""
    batch: list[PointRecord] = []
    filled = 0
    for point in points_:
        size = request_bytes(point, dim)
        if batch and filled + size > REQUEST_BYTES:
            yield batch
            batch, filled = [], 0
        batch.append(point)
        filled += size
    if batch:
        yield batch


def request_bytes(point: PointRecord, dim: int) -> int:
    """How much JSON a point is at most, but for a hundred bytes."""
    vectors = point.vectors
    numbers = dim * (1 + vectors.late_count) + 2 * len(vectors.sparse_indices)
    words = [point.text]
    for value in point.fields.values():
        words += value if isinstance(value, list) else [value] if isinstance(value, str) else []
    return NUMBER_BYTES * numbers + sum(6 * len(word.encode()) + 3 for word in words)


def point_out(point: PointRecord, dim: int) -> models.PointStruct:
    """A point as the client takes it."""
    vectors = point.vectors
    sparse = models.SparseVector(indices=list(vectors.sparse_indices), values=list(vectors.sparse_values))
    dense, late = packing.unpack16(vectors.dense), packing.unpack16(vectors.late).reshape(-1, dim)
    named: dict[str, models.Vector] = {"dense": dense.tolist(), "late": late.tolist(), "sparse": sparse}
    return models.PointStruct(id=point.point_id, vector=named, payload=points.payload_of_point(point))


def vectors_in(stored: object) -> Vectors:
    """A stored point's vectors, in our form."""
    assert isinstance(stored, Mapping)
    return Vectors(
        dense=packing.pack16(stored["dense"]),
        late=packing.pack16(stored["late"]),
        late_count=len(stored["late"]),
        sparse_indices=tuple(stored["sparse"].indices),
        sparse_values=tuple(stored["sparse"].values),
    )
