"""Tokens of words that were read before are those that the tokenizer finds in the whole text."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tokenizers import AddedToken, Tokenizer, pre_tokenizers

from upwell.embed import tokenizer_of, words
from upwell.embed.tokens import TextTokenizer
from upwell.embed.weights import TOKENIZER
from upwell.embed.words import Words, reads_word_by_word
from upwell.errors import Reason, Rejected

BERT = Tokenizer.from_file(str(TOKENIZER))
ODD = "\t\n\r \x0b\x0c\x1c\x85\xa0\u3000\u200b\x00\x07\ufffd\u0301\u0327\u0345ΣςİßǄé中かがกำक्ا-'—aAb9_🙂"
TEXTS = st.lists(
    st.one_of(st.sampled_from([*ODD, " ", "[CLS]", "the", "unbelievable", "e\u0301", "x" * 101]), st.text(max_size=8))
).map("".join)


def starts_of(text):
    return [start for start, _ in BERT.encode(text, add_special_tokens=False).offsets]


@given(texts=st.lists(TEXTS, max_size=5))
def test_tokens_begin_where_they_do_in_the_whole_text(texts):
    """Of any text, in any company; odd spaces, controls, accents and special tokens included."""
    read = Words(BERT)
    for text in texts:
        assert list(read.starts(text)) == starts_of(text)
        assert read.count(text) == len(starts_of(text))


def test_words_are_forgotten_before_they_fill_the_memory(monkeypatch):
    """Each text is still read whole, and what is kept stays near its bound."""
    monkeypatch.setattr(words, "MOST_CHARACTERS", 100)
    read = Words(BERT)
    for number in range(50):
        text = f"unbelievably long number{number} of words"
        assert list(read.starts(text)) == starts_of(text)
        assert sum(map(len, read._known)) < 200


def test_only_berts_recipe_is_read_word_by_word():
    """White space may be a part of tokens elsewhere, or of those that were added."""
    assert reads_word_by_word(BERT)
    added, spaced, other = (Tokenizer.from_file(str(TOKENIZER)) for _ in range(3))
    added.add_tokens([AddedToken("two words")])
    spaced.add_tokens([AddedToken("word", lstrip=True)])
    other.pre_tokenizer = pre_tokenizers.Metaspace()
    assert not any(map(reads_word_by_word, (added, spaced, other)))


def test_a_tokenizer_of_another_recipe_reads_whole_texts(tmp_path):
    """Its tokens, and the same refusal of what is too long."""
    other = Tokenizer.from_file(str(TOKENIZER))
    other.add_tokens([AddedToken("two words")])
    other.save(str(tmp_path / "tokenizer.json"))
    tokenizer = TextTokenizer(tmp_path / "tokenizer.json", context_tokens=6)
    assert list(tokenizer.starts("a two words b")) == [0, 2, 12]
    tokenizer.check(["a two words b c"])
    with pytest.raises(Rejected):
        tokenizer.check(["a two words b c d"])


@pytest.mark.parametrize("text", ["word " * 511, "x" * 51_001])
def test_a_passage_is_refused_without_its_ids_as_with_them(text):
    """One token too many, or far too many characters."""
    tokenizer = tokenizer_of("hash")
    tokenizer.check(["word " * 510])
    refusals = []
    for refuses in (tokenizer.check, tokenizer.passages):
        with pytest.raises(Rejected) as refused:
            refuses([text, "word"])
        assert refused.value.reason is Reason.TOO_LARGE
        refusals.append(str(refused.value))
    assert refusals[0] == refusals[1]
