"""The usual splitter, as a baseline: by blank lines, lines, sentences, words, as long as the parts are too long.

What LangChain's RecursiveCharacterTextSplitter and Chroma's RecursiveTokenChunker do, sizes in the embedder's tokens,
without overlap.
"""

import re
from collections.abc import Iterator

from upwell.ports import Tokenizer

SEPARATORS = ("\n\n", "\n", ".", "?", "!", " ", "")


def split(text: str, tokenizer: Tokenizer, size: int, separators: tuple[str, ...] = SEPARATORS) -> Iterator[str]:
    """Parts of at most `size` tokens that make the text again when joined."""
    at = next(i for i, separator in enumerate(separators) if separator in text)
    waiting: list[str] = []
    tokens = 0
    for part in _parts(text, separators[at]):
        count = len(tokenizer.starts(part))
        if waiting and tokens + count > size:
            yield "".join(waiting)
            waiting, tokens = [], 0
        if count > size and separators[at]:
            yield from split(part, tokenizer, size, separators[at + 1 :])
        else:
            waiting.append(part)
            tokens += count
    if waiting:
        yield "".join(waiting)


def _parts(text: str, separator: str) -> list[str]:
    """The text cut before each separator."""
    return [p for p in re.split(f"(?={re.escape(separator)})", text) if p] if separator else list(text)
