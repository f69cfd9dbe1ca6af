"""Embed: text in, one dense, many late and one sparse vector out.

`minilm` (shipped weights), `hash` (no model: for tests and for measuring everything else), a folder with weights, or
the name of a fastembed model. Importing this package is cheap; what is heavy is imported when an embedder is made.
"""

from pathlib import Path

from upwell.embed.tokens import TextTokenizer
from upwell.embed.weights import MINILM, TOKENIZER, weights_of
from upwell.ports import Embedder, Tokenizer

HASH = "hash"

__all__ = ["HASH", "MINILM", "embedder_of", "tokenizer_of"]


def tokenizer_of(name: str, models: Path | None = None) -> Tokenizer:
    """The tokenizer that decides how long a chunk may be for embedder `name`; cheap for `minilm` and `hash`.

    Raises Misconfigured as `embedder_of` does.
    """
    if name in {MINILM, HASH}:
        return TextTokenizer(TOKENIZER)
    weights = weights_of(name, models)
    return TextTokenizer(weights.tokenizer, weights.context_tokens)


def embedder_of(name: str, threads: int = 2, models: Path | None = None) -> Embedder:
    """The embedder called `name`: `minilm`, `hash`, a folder with weights, or a fastembed model (first in `models`).

    Raises Misconfigured, naming the setting, when the weights are not there or cannot be used.
    """
    if name == HASH:
        from upwell.embed.hashed import HashEmbedder

        return HashEmbedder(TextTokenizer(TOKENIZER))
    from upwell.embed.model import ModelEmbedder

    return ModelEmbedder(name, weights_of(name, models), threads)
