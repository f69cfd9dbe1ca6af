"""What a point holds besides its vectors, and the checks that come before any write.

A failing batch can be half applied by the vendor, so everything that it could refuse is refused here first.
"""

import uuid
from collections.abc import Mapping, Sequence

import numpy as np
import numpy.typing as npt

from upwell.errors import Misconfigured, Reason, Rejected
from upwell.ports import PointRecord, QueryVectors
from upwell.records import MAX_VERSION, DocKey, Vectors

KEYWORD_FIELDS = ("tenant", "source", "doc", "allow_0", "allow_1", "allow_2", "deny")
INTEGER_FIELDS = ("acl_n", "born", "rev")
IDENTITY = frozenset({"tenant", "source", "doc_id", "doc", "chunk_key", "embed_key", "born", "text"})
MAX_SPARSE_INDEX = 2**32 - 1

Fields = Mapping[str, str | int | list[str] | None]
Payload = dict[str, str | int | list[str] | None]


def payload_of_point(point: PointRecord) -> Payload:
    """The payload: the copied fields, and over them what never changes. Points without `rev` are older than any row."""
    return {
        "rev": 0,
        **point.fields,
        "tenant": point.key.tenant,
        "source": point.key.source,
        "doc_id": point.key.doc_id,
        "doc": point.key.digest,
        "chunk_key": point.chunk_key,
        "embed_key": point.embed_key,
        "born": point.born,
        "text": point.text,
    }


def stamped_fields(rev: int, fields: Fields) -> Payload:
    """What a stamp writes: the copied fields at row revision `rev`, never a part of a point's identity.

    Raises Rejected for a field that a store could not keep.
    """
    stamped = {name: value for name, value in fields.items() if name not in IDENTITY} | {"rev": rev}
    _check_fields(stamped)
    return stamped


def key_of(payload: Mapping[str, object]) -> DocKey:
    """The document that a stored point belongs to."""
    return DocKey(tenant=str(payload["tenant"]), source=str(payload["source"]), doc_id=str(payload["doc_id"]))


def check_points(points: Sequence[PointRecord], dim: int) -> None:
    """Raises Rejected(invalid_event) if any point could be refused or mangled by the store. Writes nothing."""
    for point in points:
        _check_id(point.point_id)
        _check_fields(payload_of_point(point))
        check_vectors(point.vectors, dim)


def check_vectors(vectors: Vectors, dim: int) -> None:
    """Raises Rejected unless dense is `dim` and late `late_count` x `dim` finite float16, and sparse is well formed."""
    if len(vectors.dense) != 2 * dim:
        raise _invalid(f"a dense vector of {len(vectors.dense)} bytes where {2 * dim} belong")
    if vectors.late_count < 1 or len(vectors.late) != 2 * dim * vectors.late_count:
        raise _invalid(f"late vectors of {len(vectors.late)} bytes for {vectors.late_count} tokens of {dim} numbers")
    if not (np.isfinite(unpack16(vectors.dense)).all() and np.isfinite(unpack16(vectors.late)).all()):
        raise _invalid("a vector with a number that is not finite")
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


def _check_id(point_id: str) -> None:
    try:
        canonical = str(uuid.UUID(point_id))
    except ValueError:
        raise _invalid("a point id that is not a UUID") from None
    if canonical != point_id:
        raise _invalid("a point id that is not a UUID in its canonical form")


def _check_fields(payload: Payload) -> None:
    for name, value in payload.items():
        if isinstance(value, bool):
            raise _invalid(f"field {name!r} holds a boolean, which stores cannot filter on")
        if isinstance(value, int) and not -MAX_VERSION <= value <= MAX_VERSION:
            raise _invalid(f"field {name!r} holds a number that stores would round")
        for text in (name, *([value] if isinstance(value, str) else value if isinstance(value, list) else [])):
            _check_text(text)


def _check_text(text: str) -> None:
    try:
        text.encode()
    except UnicodeEncodeError:
        raise _invalid("a text that is not valid Unicode (a lone surrogate)") from None


def _check_sparse(indices: Sequence[int], values: Sequence[float]) -> None:
    if len(indices) != len(values) or len(set(indices)) != len(indices):
        raise _invalid("a sparse vector whose indices repeat or do not pair with its values")
    if indices and (min(indices) < 0 or max(indices) > MAX_SPARSE_INDEX or not np.isfinite(values).all()):
        raise _invalid("a sparse vector with an index or a value out of range")


def _invalid(detail: str) -> Rejected:
    return Rejected(Reason.INVALID_EVENT, f"refused before writing: {detail}")
