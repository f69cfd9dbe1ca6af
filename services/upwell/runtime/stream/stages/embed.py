"""Embed: the vectors of those chunks that the lake does not hold already."""

from upwell.errors import Reason, Rejected
from upwell.lake import decide
from upwell.lake.family import family_chunks
from upwell.lake.vectors import embed_text, keyed
from upwell.messages import Embedded, Message, Prefixed
from upwell.metrics import Metrics
from upwell.ports import Embedder, Fate, Registry
from upwell.records import Chunk, Lane, Vectors
from upwell.runtime.stream import topics
from upwell.runtime.stream.contract import Outgoing
from upwell.runtime.stream.meter import StageMeter
from upwell.runtime.stream.stages.fates import given_up, onwards, superseded
from upwell.runtime.stream.stages.recent import RECENT_BYTES, RecentVectors, size_bytes
from upwell.runtime.stream.topics import Role

AT_ONCE_CHUNKS = 128
MOST_BYTES = 512 * 1024 * 1024
"""The vectors of one document travel in one message, which embed and upsert have to hold: with MiniLM 3,300 chunks, or
three million characters. A worker that died of more would be given it again for ever."""


class EmbedStage:
    """Asks the registry alone what the lake holds; upsert sends back what that turns out to be wrong about.

    `most_bytes` is how much a document's new vectors may take in memory.
    """

    def __init__(
        self,
        *,
        registry: Registry,
        pipeline: str,
        embedder: Embedder,
        recent_bytes: int = RECENT_BYTES,
        most_bytes: int = MOST_BYTES,
        metrics: Metrics | None = None,
    ) -> None:
        self._registry = registry
        self._pipeline = pipeline
        self._embedder = embedder
        self._recent = RecentVectors(recent_bytes)
        self._most_bytes = most_bytes
        self._meter = StageMeter(metrics)

    def handle(self, message: Prefixed) -> list[Outgoing]:
        """See `contract.Stage`. Rejected `too_large` over `most_bytes`, and what the embedder raises."""
        with self._meter.timed(Role.EMBED):
            row = self._registry.row(message.event.key)
            if row is not None and decide.overtaken(row, message.event):
                return superseded(message, Role.EMBED)
            vectors = self._vectors(message)
        return onwards(
            topics.EMBEDDED,
            Embedded(event=message.event, attempts=message.attempts, document=message.document, vectors=vectors),
        )

    def reject(self, message: Message, fate: Fate) -> list[Outgoing]:
        return given_up(message, fate)

    def close(self) -> None:
        pass

    def _vectors(self, message: Prefixed) -> dict[str, Vectors]:
        tenant, wanted = message.event.tenant, frozenset(message.wanted)
        chunks = {c.embed_key: c for c in keyed(family_chunks(message.document), self._embedder.fingerprint)}
        held = self._registry.points_of(tenant, self._pipeline, chunks.keys() - wanted)
        needed = {key: chunk for key, chunk in chunks.items() if key not in held}
        found = {key: known for key in needed if (known := self._recent.get(tenant, key)) is not None}
        new = [chunk for key, chunk in needed.items() if key not in found]
        room = self._most_bytes - sum(map(size_bytes, found.values()))
        for some in (new[start : start + AT_ONCE_CHUNKS] for start in range(0, len(new), AT_ONCE_CHUNKS)):
            for chunk, made in zip(some, self._embed(some, urgent=message.event.lane is Lane.LIVE), strict=True):
                found[chunk.embed_key] = made
                self._recent.put(tenant, chunk.embed_key, made)
                room -= size_bytes(made)
            if room < 0:
                detail = f"the vectors of {len(needed)} chunks; one message holds {self._most_bytes} bytes of them"
                raise Rejected(Reason.TOO_LARGE, detail)
        return found

    def _embed(self, chunks: list[Chunk], *, urgent: bool) -> list[Vectors]:
        made = self._embedder.embed([embed_text(chunk) for chunk in chunks], urgent=urgent)
        self._meter.embedded(sum(chunk.tokens for chunk in chunks))
        return made
