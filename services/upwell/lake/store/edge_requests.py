"""What the owner asks of the shard's process: one frozen record a question, msgpack on the wire."""

import msgspec

from upwell.lake.store.filters import PointFilter
from upwell.lake.store.points import Payload
from upwell.ports import QueryVectors
from upwell.records import Record


class NewPoint(Record, frozen=True, kw_only=True):
    """Vectors in float32, the widest form, for the shard's process has no numpy."""

    point_id: str
    vectors: QueryVectors
    payload: Payload


class Insert(Record, frozen=True, kw_only=True, tag="insert"):
    """Answer: nothing."""

    points: tuple[NewPoint, ...]


class Flush(Record, frozen=True, kw_only=True, tag="flush"):
    """Answer: nothing."""


class Stamp(Record, frozen=True, kw_only=True, tag="stamp"):
    """Answer: nothing."""

    target: PointFilter
    fields: Payload


class Prune(Record, frozen=True, kw_only=True, tag="prune"):
    """Answer: how many points went (int)."""

    doomed: PointFilter


class Present(Record, frozen=True, kw_only=True, tag="present"):
    """Answer: point id -> born (Births)."""

    wanted: PointFilter


class Texts(Record, frozen=True, kw_only=True, tag="texts"):
    """Answer: point id -> text (TextsById)."""

    point_ids: tuple[str, ...]


class StoredVectors(Record, frozen=True, kw_only=True, tag="vectors"):
    """Answer: point id -> vectors (VectorsById)."""

    point_ids: tuple[str, ...]


class Search(Record, frozen=True, kw_only=True, tag="search"):
    """Answer: Found."""

    vectors: QueryVectors
    admitted: PointFilter
    population: PointFilter
    pool: int


class Count(Record, frozen=True, kw_only=True, tag="count"):
    """Answer: how many points there are (int)."""


class Compact(Record, frozen=True, kw_only=True, tag="compact"):
    """Rewrite segments that hold deleted points, and mark the log's present files as the old ones. Answer: whether
    there was anything to take away (bool); if not, nothing was done."""


class PadLog(Record, frozen=True, kw_only=True, tag="pad_log"):
    """Write a few megabytes that change no point. Answer: how many of the old log files are left (int)."""


Request = Insert | Flush | Stamp | Prune | Present | Texts | StoredVectors | Search | Count | Compact | PadLog


class FoundPoint(Record, frozen=True, kw_only=True):
    point_id: str
    score: float
    payload: dict[str, str]


class Found(Record, frozen=True, kw_only=True):
    """Ids with cosines of the dense branch, ids with BM25 scores of the sparse one, the pool with its MaxSim scores."""

    dense: tuple[tuple[str, float], ...]
    sparse: tuple[tuple[str, float], ...]
    reranked: tuple[FoundPoint, ...]


Births = dict[str, int]
TextsById = dict[str, str]
VectorsById = dict[str, QueryVectors]

encode = msgspec.msgpack.Encoder().encode
decode_request = msgspec.msgpack.Decoder(Request).decode
