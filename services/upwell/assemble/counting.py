"""How many tokens a text has, by the name of who counts."""

from pathlib import Path
from typing import Protocol

from upwell.embed import MINILM, tokenizer_of
from upwell.embed.tokens import TextTokenizer
from upwell.errors import Misconfigured
from upwell.ports import Tokenizer

BYTES = "bytes"
CHARACTERS_PER_TOKEN = 64
"""A text counts at least a token for so many characters: some tokenizers make one token of a word without end, and a
hostile document must not fill a prompt with such words for nothing. No real prose or code comes near."""


class Counter(Protocol):
    """Counts the tokens of a text as it will stand in a prompt: no special tokens, nothing cut.

    `thrift`: at most so many of the embedder's tokens go into one of these (an estimate, for giving up early).
    """

    name: str
    thrift: float

    def count(self, text: str) -> int: ...


class TokenCounter:
    """Counts with a tokenizer. Never fewer than it has, and a token for 64 characters at least."""

    def __init__(self, name: str, tokenizer: Tokenizer, thrift: float = 1.25) -> None:
        self.name = name
        self.thrift = thrift
        self._tokenizer = tokenizer

    def count(self, text: str) -> int:
        return max(len(self._tokenizer.starts(text)), -(-len(text) // CHARACTERS_PER_TOKEN))


class ByteCounter:
    """A token for each byte of UTF-8: no tokenizer over bytes that leaves its text alone makes more of any text.

    An upper bound for models whose tokenizer is not at hand; of English it counts four times too many.
    """

    name = BYTES
    thrift = 1.25

    def count(self, text: str) -> int:
        return len(text.encode())


def file_counter(path: Path) -> TokenCounter:
    """Counts with a `tokenizer.json`. Raises Misconfigured for one that is none."""
    if not path.is_file():
        raise Misconfigured(f"tokenizer {path}: no such file; name a tokenizer.json, `minilm` or `{BYTES}`")
    try:
        return TokenCounter(str(path), TextTokenizer(path), thrift=4.0)
    except Misconfigured:
        raise Misconfigured(f"tokenizer {path}: not a usable tokenizer.json") from None


def counter_of(name: str | None, own: str, tokenizer: Tokenizer, *, files: bool) -> Counter:
    """Who counts: `bytes`, `minilm`, the lake's embedder `own` (also for None), or with `files` a tokenizer.json.

    A name never fetches anything, and somebody on the network (`files` False) never makes a path of it.
    Raises Misconfigured for an unknown name or a file that is no tokenizer.
    """
    if name is None or name == own:
        return TokenCounter(own, tokenizer)
    if name == BYTES:
        return ByteCounter()
    if name == MINILM:
        return TokenCounter(name, tokenizer_of(name), thrift=4.0)
    if files and name.endswith(".json"):
        return file_counter(Path(name).expanduser())
    path = ", or the path of a tokenizer.json" if files else ""
    raise Misconfigured(f"tokenizer {name[:80]!r}: name {own}, minilm, {BYTES}{path}")
