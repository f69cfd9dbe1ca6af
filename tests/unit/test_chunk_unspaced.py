"""Scripts without spaces, which the tokenizer does not know, make chunks as long as those of any other script."""

from itertools import pairwise
from unicodedata import category, combining

import pytest

from upwell.chunk.measure import UNSPACED_CHARACTERS, Measure
from upwell.chunk.policy import DEFAULT_POLICY
from upwell.embed import tokenizer_of
from upwell.parse.prepare import prepare_document
from upwell.records import Block, Kind

TOKENIZER = tokenizer_of("hash")
THAI = "\u0e1b\u0e31\u0e4a\u0e21\u0e19\u0e49\u0e33\u0e2a\u0e39\u0e1a\u0e19\u0e49\u0e33\u0e40\u0e02\u0e49\u0e32\u0e16\u0e31\u0e07"
SCRIPTS = {
    "thai": THAI,
    "lao": "\u0e9b\u0eb1\u0ec9\u0ea1\u0e99\u0ecd\u0ec9\u0eb2\u0eaa\u0eb9\u0e9a\u0e99\u0ecd\u0ec9\u0eb2\u0ec4\u0e9b",
    "khmer": "\u179f\u17d2\u1793\u1794\u17cb\u1791\u17b9\u1780\u1794\u17bc\u1798\u1791\u17b9\u1780",
    "burmese": "\u101b\u1031\u1005\u102f\u1015\u103a\u1005\u1000\u103a\u101e\u100a\u103a\u101b\u1031\u1000\u102d\u102f",
    "tibetan": "\u0f46\u0f74\u0f0b\u0f60\u0f41\u0fb1\u0f7a\u0f53\u0f0b\u0f60\u0f55\u0fb2\u0f74\u0f63\u0f0b",
}
LONGEST = (DEFAULT_POLICY.most_tokens + 20) * UNSPACED_CHARACTERS


def prepared(text):
    return prepare_document(text.encode(), "a.txt", None, tokenizer=TOKENIZER, model_fingerprint="fp")


@pytest.mark.parametrize("script", SCRIPTS)
def test_a_text_without_spaces_is_cut_as_its_letters_weigh(script):
    """No chunk holds more than four characters for each token that a chunk may have, and none begins within a sign."""
    text = SCRIPTS[script] * 150
    chunks = prepared(text).chunks
    assert len(chunks) > 2
    assert "".join(chunk.text for chunk in chunks) == text
    for before, chunk in pairwise(chunks):
        assert len(chunk.text) <= LONGEST
        assert category(chunk.text[0]) not in {"Mn", "Mc"}
        assert chunk.text[0] not in "\u0e33\u0eb2"
        assert combining(before.text[-1]) != 9
        assert before.text[-1] not in "\u0e40\u0ec4"


def test_phrases_stay_whole():
    """Thai puts spaces between phrases: there it is cut."""
    phrases = [THAI * (2 + n % 3) for n in range(80)]
    chunks = prepared(" ".join(phrases)).chunks
    assert len(chunks) > 3
    assert [phrase for chunk in chunks for phrase in chunk.text.split(" ")] == phrases


def test_a_tokenizer_that_knows_the_script_is_believed():
    """Where it makes enough tokens of a run, nothing is added to them."""

    class Knowing:
        max_tokens = 256

        def starts(self, text):
            return list(range(0, len(text), 3))

    text = THAI * 10
    measure = Measure([Block(kind=Kind.PARAGRAPH, text=text)], Knowing(), 8)
    assert measure.weight(0, 0, len(text)) == measure.tokens(0, 0, len(text)) == measure.weigh(text)


def test_words_of_other_scripts_weigh_what_they_did():
    """Greek, Hindi and Chinese are as heavy as their tokens."""
    text = "\u03bb\u03cc\u03b3\u03bf\u03c2 \u0935\u093e\u0915\u094d\u092f \u4e2d\u6587 word " * 20
    measure = Measure([Block(kind=Kind.PARAGRAPH, text=text)], TOKENIZER, 8)
    assert measure.weight(0, 0, len(text)) == measure.tokens(0, 0, len(text))
