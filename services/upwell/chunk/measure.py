"""Counts tokens of any range of any block after tokenising the document once."""

import re
from array import array
from bisect import bisect_left
from collections.abc import Iterator, Sequence

from upwell.ports import Tokenizer
from upwell.records import Block

BATCH_CHARACTERS = 64 * 1024
PIECE_CHARACTERS = 256 * 1024
SEPARATOR = "\n\n"
# Thai, Lao, Tibetan, Burmese, Khmer, Tai, Balinese, Javanese: written without spaces, and a tokenizer that does not
# know them makes one token of a whole phrase. Those that do make one of two to four characters.
UNSPACED = re.compile(
    "[\u0e00-\u109f\u1780-\u17ff\u1950-\u19ff\u1a20-\u1aaf\u1b00-\u1b7f\ua980-\ua9ff\uaa60-\uaa7f\uaa80-\uaadf]+"
)
UNSPACED_CHARACTERS = 4


class Measure:
    """Token counts of ranges of blocks. Exact where a range begins and ends at white space."""

    def __init__(self, blocks: Sequence[Block], tokenizer: Tokenizer, characters_per_token: int) -> None:
        self._tokenizer = tokenizer
        self._per_token = characters_per_token
        self._starts: list[Sequence[int]] = [()] * len(blocks)  # of all blocks that were tokenised together
        self._bases = [0] * len(blocks)  # where a block begins among them
        self._missing: list[Sequence[int]] = [()] * len(blocks)
        for batch in _batches(blocks):
            self._tokenise(blocks, batch)

    def tokens(self, block: int, start: int, end: int) -> int:
        """Tokens that begin in [start, end) of block number `block`."""
        base = self._bases[block]
        return _within(self._starts[block], base + start, base + end)

    def weight(self, block: int, start: int, end: int) -> int:
        """Tokens, or what the characters alone would cost: some tokenizers make one token of a word without end."""
        tokens = self.tokens(block, start, end) + _within(self._missing[block], start, end)
        return max(tokens, -((start - end) // self._per_token))

    def weigh(self, text: str) -> int:
        """The weight of a text of its own."""
        starts = self._tokenizer.starts(text)
        return max(len(starts) + len(_missing(text, starts, 0)), -(-len(text) // self._per_token))

    def count(self, text: str) -> int:
        """Tokens of a text of its own."""
        return len(self._tokenizer.starts(text))

    def _tokenise(self, blocks: Sequence[Block], batch: list[int]) -> None:
        at = 0
        for number in batch:
            self._bases[number] = at
            at += len(blocks[number].text) + len(SEPARATOR)
        starts = self._token_starts(SEPARATOR.join(blocks[number].text for number in batch))
        for number in batch:
            self._starts[number] = starts
            self._missing[number] = _missing(blocks[number].text, starts, self._bases[number])

    def _token_starts(self, text: str) -> Sequence[int]:
        """Piece by piece: a tokenizer takes hundreds of bytes a token, and a block may be as long as a document."""
        starts = array("I")
        at = 0
        while at < len(text):
            piece = text[at : _cut(text, at)]
            found = self._tokenizer.starts(piece)
            starts.extend([at + start for start in found] if at else found)
            at += len(piece)
        return starts


def _within(starts: Sequence[int], start: int, end: int) -> int:
    return bisect_left(starts, end) - bisect_left(starts, start)


def _missing(text: str, starts: Sequence[int], base: int) -> Sequence[int]:
    """Where tokens would begin, beyond `starts`, if scripts without spaces had one each four characters.

    The text begins at `base` of what `starts` is of.
    """
    if text.isascii():
        return ()
    missing = array("I")
    for run in UNSPACED.finditer(text):
        had = _within(starts, base + run.start(), base + run.end())
        missing.extend(range(run.start() + had * UNSPACED_CHARACTERS, run.end(), UNSPACED_CHARACTERS))
    return missing


def _cut(text: str, start: int) -> int:
    """Where a piece that begins at `start` ends: at the last white space within its length, if there is any."""
    end = start + PIECE_CHARACTERS
    if end >= len(text):
        return len(text)
    space = max(text.rfind(space, start + 1, end) for space in (" ", "\n", "\t"))
    return space if space > 0 else end


def _batches(blocks: Sequence[Block]) -> Iterator[list[int]]:
    batch: list[int] = []
    size = 0
    for number, block in enumerate(blocks):
        if batch and size + len(block.text) > BATCH_CHARACTERS:
            yield batch
            batch, size = [], 0
        batch.append(number)
        size += len(block.text)
    if batch:
        yield batch
