"""Tokens of words that were read before: who reads word by word need not read the same word twice.

BERT's recipe (its normalizer, its pre-tokenizer, WordPiece; https://huggingface.co/docs/tokenizers/components) looks at
nothing beyond the white space around a word, and most words of a lake are few. Finding their tokens again takes an
eighth of the time of the tokenizer, which also tells of each token what nobody asks.
"""

from array import array
from bisect import bisect_left
from collections.abc import Iterable, Sequence
from itertools import accumulate

from tokenizers import Tokenizer
from tokenizers.models import WordPiece
from tokenizers.normalizers import BertNormalizer
from tokenizers.pre_tokenizers import BertPreTokenizer

MOST_CHARACTERS = 512 * 1024
"""Of the words that are kept, about 15 MB with what goes with them."""
Starts = tuple[int, ...]


def reads_word_by_word(tokenizer: Tokenizer) -> bool:
    """Whether the tokens of a text are those of its words, whatever stands beside them."""
    return (
        isinstance(tokenizer.pre_tokenizer, BertPreTokenizer)
        and isinstance(tokenizer.normalizer, BertNormalizer)
        and isinstance(tokenizer.model, WordPiece)
        and not any(
            token.lstrip or token.rstrip or len(token.content.split()) != 1
            for token in tokenizer.get_added_tokens_decoder().values()
        )
    )


class Words:
    """Words and where their tokens begin, of a tokenizer that reads word by word."""

    def __init__(self, tokenizer: Tokenizer) -> None:
        self._tokenizer = tokenizer
        self._known: dict[str, Starts] = {"": ()}
        self._characters = 0

    def starts(self, text: str) -> Sequence[int]:
        """Where the tokens of a text begin, in characters, without special tokens."""
        words, known = self._read(text)
        places = accumulate([len(word) + 1 for word in words], initial=0)
        return array("I", [place + start for place, word in zip(places, words, strict=False) for start in known[word]])

    def count(self, text: str) -> int:
        """How many tokens a text has, without special ones."""
        words, known = self._read(text)
        return sum([len(known[word]) for word in words])

    def _read(self, text: str) -> tuple[list[str], dict[str, Starts]]:
        """The words of a text, one after each white space, and what is known, all of them included."""
        # White space of ASCII that BERT's recipe does not remove; other spaces stay within our words.
        words = text.replace("\n", " ").replace("\t", " ").replace("\r", " ").split(" ")
        if self._characters > MOST_CHARACTERS:
            self._known, self._characters = {"": ()}, 0
        known = self._known
        new = [word for word in dict.fromkeys(words) if word not in known]
        if new:
            known.update(zip(new, self._tokens(new), strict=True))
            self._characters += sum(map(len, new))
        return words, known

    def _tokens(self, words: list[str]) -> Iterable[Starts]:
        starts = [start for start, _ in self._tokenizer.encode(" ".join(words), add_special_tokens=False).offsets]
        low = place = 0
        for word in words:
            high = bisect_left(starts, place + len(word), low)
            yield tuple([start - place for start in starts[low:high]])
            low, place = high, place + len(word) + 1
