"""Words of documents cannot give orders to a terminal."""

import json

from hypothesis import given
from hypothesis import strategies as st

from upwell.cli.output import as_json
from upwell.cli.text import name, safe, safe_line, snippet

ORDERS = {chr(c) for c in range(0x20)} - {"\n", "\t"} | {chr(c) for c in range(0x7F, 0xA0)}
TURNS = set("\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069\u200e\u200f\u2028\u2029")


@given(st.text())
def test_nothing_that_a_terminal_obeys_survives(text):
    assert not (ORDERS | TURNS) & set(safe(text))
    assert not (ORDERS | TURNS | {"\n", "\t"}) & set(name(text))
    assert "\n" not in safe_line(text)


def test_escape_sequences_are_shown_not_sent():
    assert safe("a\x1b[31mred\x9b0m\r") == "a␛[31mred�0m␍"


def test_harmless_text_is_left_alone():
    text = "Größe — 日本語 🙂\n\tsecond line"
    assert safe(text) == text


def test_names_keep_their_length_but_no_line_breaks():
    assert name("a\nb\tc  d") == "a␊b␉c  d"


def test_snippets_end_with_an_ellipsis_only_when_cut():
    assert snippet("one  two\nthree", 40) == "one two three"
    assert snippet("abcdef", 4) == "abc…"


@given(st.text())
def test_json_means_the_same_and_obeys_the_same_rule(text):
    document = as_json({"title": text})
    assert not (ORDERS | TURNS) & set(document)
    assert json.loads(document) == {"title": text}
