"""Chunk: from blocks to drafts of chunks."""

from upwell.chunk.document import chunk_document
from upwell.chunk.policy import DEFAULT_POLICY, ChunkPolicy
from upwell.messages import Chunked, Message, Parsed
from upwell.metrics import Metrics
from upwell.ports import Fate, Tokenizer
from upwell.runtime.stream import topics
from upwell.runtime.stream.contract import Outgoing
from upwell.runtime.stream.meter import StageMeter
from upwell.runtime.stream.stages.fates import given_up, onwards
from upwell.runtime.stream.topics import Role


class ChunkStage:
    """Chunks by the tokenizer of the lake's embedder."""

    def __init__(
        self, tokenizer: Tokenizer, *, policy: ChunkPolicy = DEFAULT_POLICY, metrics: Metrics | None = None
    ) -> None:
        self._tokenizer = tokenizer
        self._policy = policy
        self._meter = StageMeter(metrics)

    def handle(self, message: Parsed) -> list[Outgoing]:
        """See `contract.Stage`."""
        with self._meter.timed(Role.CHUNK):
            document = chunk_document(message.document, self._tokenizer, self._policy)
        return onwards(
            topics.CHUNKED,
            Chunked(
                event=message.event,
                attempts=message.attempts,
                document=document,
                content_sha256=message.content_sha256,
            ),
        )

    def reject(self, message: Message, fate: Fate) -> list[Outgoing]:
        return given_up(message, fate)

    def close(self) -> None:
        pass
