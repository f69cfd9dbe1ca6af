"""Which of two readings is better, by what can be measured."""

import pytest

from upwell.parse.arbitrate.signals import best, coverage, order_agreement, scores, signals, words_of
from upwell.parse.outline import Outline, grid
from upwell.records import Kind

WORDS = [f"word{i}" for i in range(40)]
RAW = " ".join(WORDS)


def blocks(*texts, headings=(), table=None):
    outline = Outline(10**6)
    for text in headings:
        outline.heading(text, 1)
    for text in texts:
        outline.add(Kind.PARAGRAPH, text)
    if table is not None:
        outline.table(table)
    return outline.blocks


def test_words_of_ascii_are_those_that_any_text_has():
    """The short way for ASCII finds what the way for all scripts does."""
    text = "".join(map(chr, range(128))) + " Ab_c9 d e1 X-Ray a.b.cd __x__ 10,000 I\x1fJ"
    assert words_of(text) == words_of(text + " \u00e9\u00c9")[:-1]
    assert words_of("One_two \u00c9t\u00e9 3") == ["one", "two", "\u00e9t\u00e9"]


def test_coverage_is_of_distinct_words():
    """Half of the words are half, however often they stand there."""
    assert coverage(["a", "b"], ["a", "a", "a"]) == 0.5
    assert coverage([], ["a"]) == 1.0


def test_order_is_the_longest_run_in_order():
    """A column read first is half; words that stand twice say nothing; few words say nothing."""
    assert order_agreement(WORDS, WORDS) == 1.0
    assert order_agreement(WORDS, WORDS[20:] + WORDS[:20]) == 0.5
    assert order_agreement(WORDS, WORDS[::-1]) == 1 / 40
    assert signals(blocks(" ".join(WORDS[::-1])), RAW, ordered=False).order == 1.0
    assert order_agreement(WORDS[:5], WORDS[:5][::-1]) == 1.0


@pytest.mark.parametrize("text", ["CafÃ© dÃ©jÃ  vu, donâ€™t", "donâ€™t", "b\ufffdoken", "bell\x07"])
def test_broken_letters_are_counted(text):
    """Mojibake, replacement marks, control characters; an accent is none of them, nor what the raw text has too."""
    assert signals(blocks(text), "").broken > 0.01
    assert signals(blocks(text), text).broken == 0
    assert signals(blocks("Café déjà vu, don’t — Ångström Â"), "").broken == 0


def test_a_clean_reading_has_no_doubts_and_another_names_them():
    """The line of the choice says what is doubtful."""
    assert signals(blocks(RAW), RAW).clean
    poor = signals(blocks(" ".join(WORDS[:20])), RAW)
    assert not poor.clean
    assert poor.doubts() == "text coverage 50%"


def test_the_better_reading_is_kept_and_the_first_wins_ties():
    """By coverage, by order, by headings, by tables."""
    full, half = signals(blocks(RAW), RAW), signals(blocks(" ".join(WORDS[:20])), RAW)
    turned = signals(blocks(" ".join(WORDS[20:] + WORDS[:20])), RAW)
    assert best([half, full]) == 1
    assert best([full, half]) == 0
    assert best([full, full]) == 0
    assert best([turned, full]) == 1
    named = signals(blocks(RAW, headings=["word0"]), RAW)
    assert signals(blocks("word1", headings=WORDS), RAW).headings == 0
    assert best([full, named]) == 1
    rows = signals(blocks(RAW, table=grid([["word1", "word2"], ["word3", "word4"]])), RAW)
    assert best([full, rows]) == 1
    assert all(0 <= score <= 1 for score in scores([full, half, turned, named, rows]))
