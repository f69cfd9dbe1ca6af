"""A document's manifests in the registry's database: read whole, written by what differs."""

import itertools
from typing import Any

import sqlalchemy as sa

from upwell.lake import rows as encoded
from upwell.lake import statements as sql
from upwell.lake.schema import CHUNKS
from upwell.ports import Manifest
from upwell.ports.browsing import NO_PIPELINE


def manifests_of(connection: sa.Connection, doc: str) -> dict[str, Manifest]:
    """By pipeline, those that the document has."""
    chunks = connection.execute(sql.CHUNKS_OF, {"of": doc}).mappings().all()
    by_pipeline = {name: list(group) for name, group in itertools.groupby(chunks, key=lambda c: c["pipeline"])}
    return {
        found.pipeline: Manifest(
            generation=found.generation,
            entries=tuple(encoded.chunk_of(chunk) for chunk in by_pipeline.get(found.pipeline, ())),
        )
        for found in connection.execute(sql.MANIFESTS_OF, {"of": doc})
    }


def manifest_in(connection: sa.Connection, doc: str, pipeline: str) -> Manifest:
    """One pipeline's manifest; nothing is read for NO_PIPELINE."""
    return manifests_of(connection, doc).get(pipeline, Manifest()) if pipeline != NO_PIPELINE else Manifest()


def put_manifest(connection: sa.Connection, doc: str, pipeline: str, manifest: Manifest) -> None:
    """Write the generation, and of the chunks only those that are new, gone or changed."""
    stored: dict[str, dict[str, Any]] = {}
    if not _put_generation(connection, doc, pipeline, manifest.generation):
        found = connection.execute(sql.CHUNKS_IN, {"of": doc, "in": pipeline}).mappings()
        stored = {chunk["point_id"]: dict(chunk) for chunk in found}
    wanted = {entry.point_id: encoded.chunk_values(doc, pipeline, entry) for entry in manifest.entries}
    gone = [{"in": pipeline, "point": point_id} for point_id in stored.keys() - wanted.keys()]
    new = [values for point_id, values in wanted.items() if point_id not in stored]
    changed = [
        values | {"in": pipeline, "point": point_id}
        for point_id, values in wanted.items()
        if point_id in stored and stored[point_id] != values
    ]
    for statement, parameters in ((sql.DELETE_CHUNK, gone), (sql.UPDATE_CHUNK, changed), (sa.insert(CHUNKS), new)):
        if parameters:
            connection.execute(statement, parameters)


def _put_generation(connection: sa.Connection, doc: str, pipeline: str, generation: int) -> bool:
    """True if it is the document's first there, so that it has no chunks yet. The first is most often number 1."""
    first = {"doc": doc, "pipeline": pipeline, "generation": generation}
    if generation <= 1 and connection.execute(sql.INSERT_FIRST, first).rowcount:
        return True
    if connection.execute(sql.UPDATE_GENERATION, {"of": doc, "in": pipeline, "to": generation}).rowcount:
        return False
    connection.execute(sql.INSERT_GENERATION, first)
    return True
