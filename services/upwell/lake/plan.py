"""What publishing a document comes to: a pure difference between its chunks and its live manifest."""

import uuid
from collections.abc import Sequence

import msgspec

from upwell.errors import Reason, Rejected
from upwell.ports import Manifest, ManifestEntry
from upwell.records import JSON_ENCODER, Chunk, DocKey, Record, stable_hash

NAMESPACE = uuid.UUID("b6c1d1f5-5d0e-5a55-9d1c-3c9d3f0f6c4e")
"""The namespace of point ids. Changing it makes every point a new one."""


class Addition(Record, frozen=True, kw_only=True):
    """A chunk that needs a new point."""

    chunk: Chunk
    entry: ManifestEntry


class Plan(Record, frozen=True, kw_only=True):
    """How a manifest changes: points that stay (with their new places), points to insert, points to leave behind."""

    keep: tuple[ManifestEntry, ...]
    add: tuple[Addition, ...]
    remove: tuple[ManifestEntry, ...]
    generation: int

    @property
    def manifest(self) -> Manifest:
        """The manifest that this plan leads to, by ordinal."""
        entries = (*self.keep, *(addition.entry for addition in self.add))
        return Manifest(generation=self.generation, entries=tuple(sorted(entries, key=lambda e: e.ordinal)))


def point_id(key: DocKey, chunk_key: str, born: int) -> str:
    """The id of an immutable point: its document, its chunk, and the generation that first had it.

    A chunk that goes and comes back is a new point, so a late prune of the old one cannot hit it.
    """
    name = JSON_ENCODER.encode([key.tenant, key.source, key.doc_id, chunk_key, born]).decode()
    return str(uuid.uuid5(NAMESPACE, name))


def plan(chunks: Sequence[Chunk], manifest: Manifest, key: DocKey) -> Plan:
    """Match `chunks` (in order, embed_keys filled in) with the live manifest by chunk_key.

    Raises Rejected if two chunks have one key: the chunker numbers equal ones.
    """
    if len({chunk.chunk_key for chunk in chunks}) != len(chunks):
        raise Rejected(Reason.INVALID_EVENT, "two chunks of the document have one chunk_key")
    generation = manifest.generation + 1
    live = {(entry.chunk_key, entry.embed_key): entry for entry in manifest.entries}
    keep: list[ManifestEntry] = []
    add: list[Addition] = []
    for ordinal, chunk in enumerate(chunks):
        stays = live.pop((chunk.chunk_key, chunk.embed_key), None)
        if stays is not None:
            keep.append(_placed(chunk, ordinal, stays.point_id, stays.born))
        else:
            new_id = point_id(key, chunk.chunk_key, generation)
            add.append(Addition(chunk=chunk, entry=_placed(chunk, ordinal, new_id, generation)))
    return Plan(keep=tuple(keep), add=tuple(add), remove=tuple(live.values()), generation=generation)


def bumped(manifest: Manifest) -> Manifest:
    """The same chunks, one generation later: whatever was being inserted for the next one can be pruned."""
    return msgspec.structs.replace(manifest, generation=manifest.generation + 1)


def emptied(manifest: Manifest) -> Manifest:
    """No chunks, one generation later."""
    return Manifest(generation=manifest.generation + 1)


def _placed(chunk: Chunk, ordinal: int, new_id: str, born: int) -> ManifestEntry:
    return ManifestEntry(
        point_id=new_id,
        chunk_key=chunk.chunk_key,
        embed_key=chunk.embed_key,
        ordinal=ordinal,
        born=born,
        tokens=chunk.tokens,
        text_hash=stable_hash(chunk.text),
        kind=chunk.kind,
        heading_path=chunk.heading_path,
        page=chunk.page,
        bbox=chunk.bbox,
        parent=chunk.parent,
        spans=chunk.spans,
        child=chunk.child,
    )
