"""A block as long as a document is tokenised in pieces, and counts as if it had not been."""

import pytest

from upwell.chunk import measure
from upwell.chunk.measure import Measure
from upwell.embed import tokenizer_of
from upwell.records import Block, Kind

TOKENIZER = tokenizer_of("hash")


class Watched:
    """The tokenizer, and the longest text that it was given."""

    max_tokens = TOKENIZER.max_tokens

    def __init__(self):
        self.longest = 0

    def starts(self, text):
        self.longest = max(self.longest, len(text))
        return TOKENIZER.starts(text)


@pytest.mark.parametrize("piece", [10, 64, 1_000])
def test_pieces_count_as_the_whole(piece, monkeypatch):
    """Cut at white space, the tokens begin where they did; no more than a piece is tokenised at once."""
    text = " ".join(f"word{i % 7}, and\tmore\n" for i in range(300))
    blocks = [Block(kind=Kind.PARAGRAPH, text="short"), Block(kind=Kind.PARAGRAPH, text=text)]
    whole = list(TOKENIZER.starts(text))
    monkeypatch.setattr(measure, "PIECE_CHARACTERS", piece)
    watched = Watched()
    measured = Measure(blocks, watched, 4)
    assert [k for k in range(len(text)) if measured.tokens(1, k, k + 1)] == whole
    assert measured.tokens(0, 0, 5) == len(TOKENIZER.starts("short"))
    assert watched.longest <= piece


def test_a_word_without_end_is_cut_all_the_same(monkeypatch):
    """Without white space the pieces are as long as they may be; every character is still seen."""
    monkeypatch.setattr(measure, "PIECE_CHARACTERS", 50)
    watched = Watched()
    measured = Measure([Block(kind=Kind.PARAGRAPH, text="a" * 1_000)], watched, 4)
    assert watched.longest == 50
    assert measured.tokens(0, 0, 1_000) == 20 * len(TOKENIZER.starts("a" * 50))
