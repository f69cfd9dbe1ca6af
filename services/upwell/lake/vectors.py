"""Where the vectors of new chunks come from: first the lake itself, then the model."""

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Protocol

import msgspec

from upwell.errors import Retryable
from upwell.ports import Embedder, Registry, Store
from upwell.records import ChangeEvent, Chunk, Lane, Vectors, stable_hash


class CountedVectors(Protocol):
    """Where publish gets the vectors of one document's new chunks, in their order.

    Counts what it did: chunks reused and embedded, tokens embedded.
    """

    reused: int
    embedded: int
    tokens_embedded: int

    def __call__(self, chunks: Sequence[Chunk]) -> list[Vectors]: ...


CHECKED_AT_ONCE = 64
"""Of how many chunks the lake's vectors are in memory while it is asked which it lacks (10 MB with MiniLM)."""

VectorsFor = Callable[[ChangeEvent], CountedVectors]
"""Opens a source for one publish of an event's document."""


def embed_text(chunk: Chunk) -> str:
    """What the model reads of a chunk: its prefix, if it has one, on a line of its own before the text."""
    return f"{chunk.prefix}\n{chunk.text}" if chunk.prefix else chunk.text


def embed_key(model: str, chunk: Chunk) -> str:
    """Equal key, equal vectors: a hash of the model's fingerprint, the prefix and the text."""
    return stable_hash(model, chunk.prefix, chunk.text)


def keyed(chunks: Sequence[Chunk], model: str) -> tuple[Chunk, ...]:
    """The chunks with the embed_keys of this model (its fingerprint)."""
    return tuple(msgspec.structs.replace(chunk, embed_key=embed_key(model, chunk)) for chunk in chunks)


class LakeVectors:
    """Vectors from points of the same tenant with the same embed_key, the rest from the model, each text once."""

    def __init__(
        self, event: ChangeEvent, pipeline: str, registry: Registry, store: Store, embedder: Callable[[], Embedder]
    ) -> None:
        self._tenant = event.tenant
        self._urgent = event.lane is Lane.LIVE
        self._pipeline = pipeline
        self._registry = registry
        self._store = store
        self._embedder = embedder
        self.reused = 0
        self.embedded = 0
        self.tokens_embedded = 0

    def __call__(self, chunks: Sequence[Chunk]) -> list[Vectors]:
        """Vectors in the order of `chunks`. Raises what the embedder and the store raise."""
        found = self._from_lake({chunk.embed_key for chunk in chunks})
        self.reused += sum(chunk.embed_key in found for chunk in chunks)
        new = {chunk.embed_key: chunk for chunk in chunks if chunk.embed_key not in found}
        if new:
            made = self._embedder().embed([embed_text(chunk) for chunk in new.values()], urgent=self._urgent)
            found.update(zip(new, made, strict=True))
            self.embedded += sum(chunk.embed_key in new for chunk in chunks)
            self.tokens_embedded += sum(chunk.tokens for chunk in new.values())
        return [found[chunk.embed_key] for chunk in chunks]

    def _from_lake(self, embed_keys: set[str]) -> dict[str, Vectors]:
        return held_vectors(self._registry, self._store, self._tenant, self._pipeline, embed_keys)


class MissingVectors(Retryable):
    """Vectors that are neither given nor in the lake: the document has to be embedded again, with `embed_keys`."""

    def __init__(self, embed_keys: Collection[str]) -> None:
        super().__init__(f"{len(embed_keys)} vectors are neither given nor in the lake")
        self.embed_keys = frozenset(embed_keys)


class GivenVectors:
    """Vectors that came with a document (embed_key -> vectors), the rest from points of the same tenant; no model.

    Those that are given count as embedded, each text's tokens once.
    """

    def __init__(
        self, given: Mapping[str, Vectors], tenant: str, pipeline: str, registry: Registry, store: Store
    ) -> None:
        self._given = given
        self._tenant = tenant
        self._pipeline = pipeline
        self._registry = registry
        self._store = store
        self._counted: set[str] = set()
        self.reused = 0
        self.embedded = 0
        self.tokens_embedded = 0

    def __call__(self, chunks: Sequence[Chunk]) -> list[Vectors]:
        """Vectors in the order of `chunks`. Raises MissingVectors, and what the store raises."""
        held = self._held(chunks)
        lacking = {chunk.embed_key for chunk in chunks} - self._given.keys() - held.keys()
        if lacking:
            raise MissingVectors(lacking)
        for chunk in chunks:
            self._count(chunk)
        return [self._given[c.embed_key] if c.embed_key in self._given else held[c.embed_key] for c in chunks]

    def lacking(self, chunks: Sequence[Chunk]) -> frozenset[str]:
        """The embed_keys of all of `chunks` for which this would raise MissingVectors."""
        found = frozenset(chunk.embed_key for chunk in chunks) - self._given.keys()
        for start in range(0, len(chunks), CHECKED_AT_ONCE):
            found -= self._held(chunks[start : start + CHECKED_AT_ONCE]).keys()
        return found

    def _held(self, chunks: Sequence[Chunk]) -> dict[str, Vectors]:
        wanted = {chunk.embed_key for chunk in chunks} - self._given.keys()
        return held_vectors(self._registry, self._store, self._tenant, self._pipeline, wanted) if wanted else {}

    def _count(self, chunk: Chunk) -> None:
        if chunk.embed_key not in self._given:
            self.reused += 1
            return
        self.embedded += 1
        if chunk.embed_key not in self._counted:
            self._counted.add(chunk.embed_key)
            self.tokens_embedded += chunk.tokens


def held_vectors(
    registry: Registry, store: Store, tenant: str, pipeline: str, embed_keys: Collection[str]
) -> dict[str, Vectors]:
    """embed_key -> vectors, of those that points of the tenant hold."""
    points = registry.points_of(tenant, pipeline, embed_keys)
    vectors = store.vectors(sorted(points.values())) if points else {}
    return {key: vectors[point] for key, point in points.items() if point in vectors}


def lake_vectors(registry: Registry, store: Store, pipeline: str, embedder: Callable[[], Embedder]) -> VectorsFor:
    """The embedded lake's sources: `pipeline` and `store` are the active ones; the model is asked for when needed."""
    return lambda event: LakeVectors(event, pipeline, registry, store, embedder)
