"""How a collection is made: three vectors a point, and an index on every filtered field before anything is loaded.

Points are seen as soon as they are written, whatever the server's own default (`prevent_unoptimized`): deferred ones
would be hidden from the requests that list, count and prune a document.

Deleted points leave a server's segments when its optimizer rewrites them, which no request can order; the thresholds
here make it do so early. What remains after an erasure, and until when, the certificate has to say: a segment of fewer
than VACUUM_VECTORS points or with a smaller share of deleted ones than VACUUM_SHARE keeps their bytes until it is
rewritten, the write-ahead log (two files of 32 MB a shard) until as much has been written again, and snapshots until
they are removed. https://qdrant.tech/documentation/concepts/optimizer/, …/concepts/storage/
"""

import sqlite3
import time
from contextlib import closing
from pathlib import Path

from qdrant_client import QdrantClient, models
from qdrant_client.http.exceptions import UnexpectedResponse

from upwell.errors import Misconfigured
from upwell.lake.store.points import INTEGER_FIELDS, KEYWORD_FIELDS
from upwell.lake.store.qdrant_server import Abilities

VACUUM_SHARE = 0.05
VACUUM_VECTORS = 100
"""The least that a server takes."""
VECTORS = frozenset({"dense", "late", "sparse"})
READY_TRIES = 8
FIRST_PAUSE_S = 0.05

CONFLICT, NOT_FOUND = 409, 404
UNREADY = {500, 503}


def make_collection(client: QdrantClient, name: str, dim: int, able: Abilities) -> None:
    """Make the collection and its indexes, unless they are there. Idempotent: a crash half-way is mended by the next
    call, and of several processes that call it at once each finds the same collection whole.
    """
    if not client.collection_exists(name):
        try:
            client.create_collection(
                name,
                vectors_config=_vector_params(dim, turbo4=able.turbo4),
                sparse_vectors_config={"sparse": _sparse_params(able)},
                optimizers_config=models.OptimizersConfigDiff(
                    deleted_threshold=VACUUM_SHARE,
                    vacuum_min_vector_number=VACUUM_VECTORS,
                    prevent_unoptimized=False,
                ),
            )
        except UnexpectedResponse as error:
            if error.status_code != CONFLICT:  # another process was faster: its collection is as good
                raise
    for field, schema in _missing_indexes(_ready(client, name)):
        client.create_payload_index(name, field, schema, wait=True)


def check_collection(client: QdrantClient, name: str, dim: int) -> models.CollectionInfo:
    """The collection, as it is.

    Raises Misconfigured when it is not there, lacks a vector or an index, or was made for another dimension.
    """
    try:
        info = _ready(client, name)
    except UnexpectedResponse as error:
        if error.status_code == NOT_FOUND:
            raise _unmade(f"has no collection {name!r}") from error
        raise
    stored = info.config.params.vectors
    sizes = {params.size for params in stored.values()} if isinstance(stored, dict) else set()
    if sizes != {dim}:
        raise Misconfigured(f"collection {name!r} was made for vectors of {sorted(sizes)} numbers, not {dim}")
    named = {*stored, *(info.config.params.sparse_vectors or {})} if isinstance(stored, dict) else set()
    if not named >= VECTORS:
        raise Misconfigured(
            f"collection {name!r} lacks the vectors {', '.join(sorted(VECTORS - named))}: it is none of Upwell's"
        )
    missing = [field for field, _ in _missing_indexes(info)]
    if missing:
        raise _unmade(f"lacks the index of {', '.join(missing)} in collection {name!r}")
    return info


def make_local(client: QdrantClient, name: str, dim: int) -> None:
    """The collection in local mode, which has no indexes. Raises Misconfigured for one of another dimension."""
    able = Abilities(turbo4=True, tenant_terms=True)
    if not client.collection_exists(name):
        client.create_collection(
            name,
            vectors_config=_vector_params(dim, turbo4=able.turbo4),
            sparse_vectors_config={"sparse": _sparse_params(able)},
        )
    stored = client.get_collection(name).config.params.vectors
    sizes = {params.size for params in stored.values()} if isinstance(stored, dict) else set()
    if sizes != {dim}:
        raise Misconfigured(f"collection {name!r} was made for vectors of {sorted(sizes)} numbers, not {dim}")


def knows_rarity(info: models.CollectionInfo) -> bool:
    """True if the server weighs the words of a query by how rare they are."""
    sparse = (info.config.params.sparse_vectors or {}).get("sparse")
    return sparse is not None and sparse.modifier == models.Modifier.IDF


def discard_deleted_rows(folder: Path, name: str) -> None:
    """Local mode keeps its points in SQLite, where a deleted row's bytes stay until the file is rewritten."""
    with closing(sqlite3.connect(folder / "collection" / name / "storage.sqlite")) as connection:
        connection.execute("VACUUM")


def _ready(client: QdrantClient, name: str) -> models.CollectionInfo:
    """The collection once it can be read: the loser of a race to make it may ask before its shards are there, and gets
    a 500 (seen by others on 1.16), or a 503, which newer ones have for a shard that cannot answer yet."""
    pause_s = FIRST_PAUSE_S
    for _ in range(READY_TRIES - 1):
        try:
            return client.get_collection(name)
        except UnexpectedResponse as error:
            if error.status_code not in UNREADY:
                raise
        time.sleep(pause_s)
        pause_s *= 2
    return client.get_collection(name)


def _missing_indexes(
    info: models.CollectionInfo,
) -> list[tuple[str, models.KeywordIndexParams | models.PayloadSchemaType]]:
    wanted: list[tuple[str, models.KeywordIndexParams | models.PayloadSchemaType]] = [
        (field, models.KeywordIndexParams(type=models.KeywordIndexType.KEYWORD, is_tenant=field == "tenant"))
        for field in KEYWORD_FIELDS
    ]
    wanted += [(field, models.PayloadSchemaType.INTEGER) for field in INTEGER_FIELDS]
    return [(field, schema) for field, schema in wanted if field not in info.payload_schema]


def _unmade(what: str) -> Misconfigured:
    return Misconfigured(f"the Qdrant server {what}: run `upwell init`, or check setting store (UPWELL_STORE)")


def _vector_params(dim: int, *, turbo4: bool) -> dict[str, models.VectorParams]:
    return {
        "dense": models.VectorParams(size=dim, distance=models.Distance.COSINE, datatype=models.Datatype.FLOAT16),
        "late": models.VectorParams(
            size=dim,
            distance=models.Distance.COSINE,
            datatype=models.Datatype.TURBO4 if turbo4 else models.Datatype.FLOAT16,
            multivector_config=models.MultiVectorConfig(comparator=models.MultiVectorComparator.MAX_SIM),
            hnsw_config=models.HnswConfigDiff(m=0),
            on_disk=True,
        ),
    }


def _sparse_params(able: Abilities) -> models.SparseVectorParams:
    return models.SparseVectorParams(modifier=models.Modifier.IDF if able.tenant_terms else None)
