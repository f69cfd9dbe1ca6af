"""How a collection is made: three vectors a point, and an index on every filtered field before anything is loaded."""

import sqlite3
from contextlib import closing
from pathlib import Path

from qdrant_client import QdrantClient, models

from upwell.errors import Misconfigured
from upwell.lake.store.points import INTEGER_FIELDS, KEYWORD_FIELDS


def create_collection(client: QdrantClient, name: str, dim: int, *, turbo4: bool, indexed: bool) -> None:
    """Create the collection unless it is there. Idempotent: a crash half-way is mended by the next call.

    Raises Misconfigured when it is there with another dimension.
    """
    if not client.collection_exists(name):
        client.create_collection(
            name,
            vectors_config=_vector_params(dim, turbo4=turbo4),
            sparse_vectors_config={"sparse": models.SparseVectorParams(modifier=models.Modifier.IDF)},
        )
    _check_dimension(client, name, dim)
    if not indexed:
        return
    for field in KEYWORD_FIELDS:
        schema = models.KeywordIndexParams(type=models.KeywordIndexType.KEYWORD, is_tenant=field == "tenant")
        client.create_payload_index(name, field, schema, wait=True)
    for field in INTEGER_FIELDS:
        client.create_payload_index(name, field, models.PayloadSchemaType.INTEGER, wait=True)


def discard_deleted_rows(folder: Path, name: str) -> None:
    """Local mode keeps its points in SQLite, where a deleted row's bytes stay until the file is rewritten."""
    with closing(sqlite3.connect(folder / "collection" / name / "storage.sqlite")) as connection:
        connection.execute("VACUUM")


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


def _check_dimension(client: QdrantClient, name: str, dim: int) -> None:
    stored = client.get_collection(name).config.params.vectors
    sizes = {params.size for params in stored.values()} if isinstance(stored, dict) else set()
    if sizes != {dim}:
        raise Misconfigured(f"collection {name!r} was made for vectors of {sorted(sizes)} numbers, not {dim}")
