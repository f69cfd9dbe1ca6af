"""Prefix: from drafts to chunks that lack nothing but vectors."""

from msgspec.structs import replace

from upwell.chunk.policy import DEFAULT_POLICY, ChunkPolicy
from upwell.messages import Chunked, Message, Prefixed
from upwell.metrics import Metrics
from upwell.ports import Fate, Tokenizer
from upwell.prefix.document import prefix_document
from upwell.runtime.stream import topics
from upwell.runtime.stream.contract import Outgoing
from upwell.runtime.stream.meter import StageMeter
from upwell.runtime.stream.stages.fates import given_up, onwards
from upwell.runtime.stream.topics import Role


class PrefixStage:
    """Prefixes and keys. `model` is the embedder's fingerprint, `tokenizer` the embedder's own."""

    def __init__(
        self,
        tokenizer: Tokenizer,
        model: str,
        *,
        policy: ChunkPolicy = DEFAULT_POLICY,
        metrics: Metrics | None = None,
    ) -> None:
        self._tokenizer = tokenizer
        self._model = model
        self._prefix_tokens = policy.within(tokenizer.max_tokens).prefix_tokens
        self._meter = StageMeter(metrics)

    def handle(self, message: Chunked) -> list[Outgoing]:
        """See `contract.Stage`."""
        with self._meter.timed(Role.PREFIX):
            document = prefix_document(message.document, self._tokenizer, self._model, self._prefix_tokens)
            document = replace(document, content_sha256=message.content_sha256)
        return onwards(topics.PREFIXED, Prefixed(event=message.event, attempts=message.attempts, document=document))

    def reject(self, message: Message, fate: Fate) -> list[Outgoing]:
        return given_up(message, fate)

    def close(self) -> None:
        pass
