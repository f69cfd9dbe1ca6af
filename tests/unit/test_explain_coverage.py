"""Where every character of a document went."""

import pytest

from upwell.explain.coverage import coverage


def span(block, start, end):
    return {"block": block, "start": start, "end": end}


def answer(texts, chunks=(), dropped=()):
    return {
        "blocks": [{"text": text} for text in texts],
        "chunks": [{"spans": spans} for spans in chunks],
        "dropped": [{"reason": reason, "spans": spans} for reason, spans in dropped],
    }


def test_characters_are_in_chunks_left_out_or_unaccounted():
    counted = coverage(
        answer(["0123456789", "abc"], [[span(0, 0, 4)]], [("whitespace", [span(0, 4, 6)]), ("hidden", [span(1, 0, 3)])])
    )
    assert (counted.characters, counted.in_chunks, counted.unaccounted) == (13, 4, 4)
    assert list(counted.dropped.items()) == [("hidden", 3), ("whitespace", 2)], "the most first"


def test_a_character_in_two_chunks_counts_once():
    """A table's header stands in each of its chunks."""
    assert coverage(answer(["0123456789"], [[span(0, 0, 6)], [span(0, 0, 2), span(0, 4, 10)]])).in_chunks == 10


def test_what_a_chunk_holds_is_not_left_out():
    counted = coverage(answer(["0123456789"], [[span(0, 0, 8)]], [("hidden", [span(0, 4, 10)])]))
    assert (counted.in_chunks, counted.dropped, counted.unaccounted) == (8, {"hidden": 2}, 0)


@pytest.mark.parametrize(
    "spans", [[span(7, 0, 3)], [span(0, 5, 99)], [span(0, 3, 3)]], ids=["no block", "past", "empty"]
)
def test_spans_that_point_nowhere_count_nothing(spans):
    assert coverage(answer(["01234"], [spans])).unaccounted == 5


def test_white_space_where_a_block_is_cut_is_counted_apart():
    """A chunk ends before it and the next begins after it; a whole block of it is in no chunk by mistake."""
    cut = coverage(answer(["one two ", "  "], [[span(0, 0, 3)], [span(0, 4, 7)]]))
    assert (cut.at_cuts, cut.unaccounted) == (2, 2)
    assert cut.line == "10 characters = 6 in chunks + 0 left out + 2 white space at cuts + 2 unaccounted"


def test_many_spans_of_one_block_are_counted_in_time():
    """A block of a million characters cut into a hundred thousand pieces: sorting, never one pass a span."""
    count = 100_000
    cut = [("whitespace", [span(0, n * 10, n * 10 + 1) for n in range(count)])]
    counted = coverage(answer(["x" * 10 * count], [[span(0, n * 10 + 1, n * 10 + 10)] for n in range(count)], cut))
    assert (counted.in_chunks, counted.dropped, counted.unaccounted) == (9 * count, {"whitespace": count}, 0)
