"""The embedder's own tokenizer: it counts, it cuts queries, and it never pads or truncates by itself."""

from collections.abc import Sequence
from pathlib import Path

from tokenizers import Encoding, Tokenizer

from upwell.embed.words import Words, reads_word_by_word
from upwell.errors import Misconfigured, Reason, Rejected

# Far above any text that fits a model; spares the tokenizer the megabytes of a hostile query or chunk.
CHARACTERS_PER_TOKEN_LIMIT = 100


class TextTokenizer:
    """A `tokenizer.json`. `max_tokens` counts the text's own tokens: the special ones have their place beside it."""

    def __init__(self, path: Path, context_tokens: int = 512) -> None:
        """`context_tokens` is what the model reads at most, special tokens included. Raises Misconfigured."""
        try:
            self._tokenizer = Tokenizer.from_file(str(path))
        except Exception as e:  # tokenizers raises bare Exception, for a missing file too
            raise Misconfigured(f"embedder: {path} is not a usable tokenizer.json ({e})") from e
        self._tokenizer.no_padding()
        self._tokenizer.no_truncation()
        self.special_ids = frozenset(self._tokenizer.encode("").ids)
        self._special = self._tokenizer.num_special_tokens_to_add(is_pair=False)
        self.max_tokens = context_tokens - self._special
        self._words = Words(self._tokenizer) if reads_word_by_word(self._tokenizer) else None

    def starts(self, text: str) -> Sequence[int]:
        """At which characters the tokens begin, in order, without special tokens."""
        if self._words is not None:
            return self._words.starts(text)
        return [start for start, _ in self._tokenizer.encode(text, add_special_tokens=False).offsets]

    def passages(self, texts: Sequence[str]) -> list[list[int]]:
        """Token ids of whole passages, special tokens included. Raises Rejected(too_large): a passage is never cut."""
        self._check_characters(texts)
        ids = [encoding.ids for encoding in self._tokenizer.encode_batch_fast(list(texts))]
        self._check_tokens(max(map(len, ids), default=0) - self._special)
        return ids

    def check(self, texts: Sequence[str]) -> None:
        """Raises as `passages` does, for who needs no ids."""
        if self._words is None:
            self.passages(texts)
            return
        self._check_characters(texts)
        self._check_tokens(max(map(self._words.count, texts), default=0))

    def query(self, text: str) -> list[int]:
        """Token ids of a query, cut to what the model reads, special tokens included."""
        encoding: Encoding = self._tokenizer.encode(self.shorten(text), add_special_tokens=False)
        encoding.truncate(self.max_tokens)
        return list(self._tokenizer.post_process(encoding).ids)

    def shorten(self, text: str) -> str:
        """The start of a text that no model would read to its end."""
        return text[: self.max_tokens * CHARACTERS_PER_TOKEN_LIMIT]

    def _check_characters(self, texts: Sequence[str]) -> None:
        for text in texts:
            if len(text) > self.max_tokens * CHARACTERS_PER_TOKEN_LIMIT:
                raise self._too_large(f"{len(text)} characters")

    def _check_tokens(self, longest: int) -> None:
        if longest > self.max_tokens:
            raise self._too_large(f"{longest} tokens")

    def _too_large(self, size: str) -> Rejected:
        return Rejected(Reason.TOO_LARGE, f"a chunk of {size}; the embedder takes {self.max_tokens} tokens")
