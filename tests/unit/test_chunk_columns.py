"""Rows that are too long for a chunk: no value stands without the name of its column, and no part without its row."""

from itertools import pairwise

import pytest

from upwell.chunk.columns import column_names
from upwell.chunk.policy import DEFAULT_POLICY
from upwell.embed import tokenizer_of
from upwell.parse.prepare import prepare_document

TOKENIZER = tokenizer_of("hash")


def prepared(text, name="a.csv"):
    return prepare_document(text.encode(), name, None, tokenizer=TOKENIZER, model_fingerprint="fp")


def covered_once(chunks, length):
    """Whether no character of the first block is in two spans, and how many are in one."""
    spans = sorted((s.start, s.end) for c in chunks for s in c.spans if s.block == 0)
    assert all(a[1] <= b[0] for a, b in pairwise(spans))
    return sum(end - start for start, end in spans) >= length - len(spans)


def test_a_wide_table_is_cut_by_columns():
    """Each part has a line of names, a line of values, and the row's first cell."""
    wide = [",".join(f"column_{n}" for n in range(60))] + [
        ",".join(f"value_{row}_{n}" for n in range(60)) for row in range(9)
    ]
    chunks = prepared("\n".join(wide)).chunks
    parts = [chunk.text.split("\n") for chunk in chunks[1:]]
    assert len(parts) >= 18
    for names, values in parts:
        assert [name.replace("column_", "") for name in names.split(" | ")] == [
            value.rpartition("_")[2] for value in values.split(" | ")
        ]
        assert values.startswith("value_")
    assert {parts[0][1].split(" | ")[0], parts[1][1].split(" | ")[0]} == {"value_0_0"}
    assert covered_once(chunks, sum(len(row) for row in wide) + 2 * 59 * 10)
    assert all(chunk.tokens == len(TOKENIZER.starts(chunk.text)) for chunk in chunks)


def test_a_long_cell_goes_on_below_its_name_and_its_row():
    """Each part of a long text repeats the header and the row's first cell; short cells after it are a part as well."""
    text = " ".join(f"Sentence {n} tells of one matter more." for n in range(120))
    chunks = prepared(
        "id,title,comment,date\n" + "".join(f"k{row},Title {row},{text},day {row}\n" for row in range(3))
    ).chunks
    assert chunks[0].text.startswith("id | title | comment | date\nk0 | Title 0 | Sentence 0 ")
    going_on = [chunk.text for chunk in chunks if chunk.text.startswith("id | comment\n")]
    assert len(going_on) > 9
    assert all(part.split("\n")[1][:5] in {"k0 | ", "k1 | ", "k2 | "} for part in going_on)
    assert [chunk.text for chunk in chunks if chunk.text.startswith("id | date")] == [
        f"id | date\nk{row} | day {row}" for row in range(3)
    ]
    assert sum("Sentence 119 " in chunk.text for chunk in chunks) == 3


def test_a_short_row_after_a_long_one_stands_below_the_whole_header():
    """A chunk that begins with names of some columns holds no other row."""
    text = " ".join(f"Sentence {n} tells of one matter more." for n in range(80))
    chunks = prepared(f"id,comment,date\n1,{text},today\n2,short,later\n3,short,later\n").chunks
    assert chunks[-1].text == "id | comment | date\n2 | short | later\n3 | short | later"


def test_a_name_over_several_columns_is_said_with_each():
    """`Q1` above `plan` and `actual` is `Q1 plan` and `Q1 actual`; a name of two rows is said once."""
    text = "Region | Q1 |  | Q2\nRegion | plan | actual | plan"
    assert column_names(text, [(0, 19), (20, len(text))]) == ["Region", "Q1 plan", "Q1 actual", "Q2 plan"]


@pytest.mark.timeout(20)
def test_long_names_over_short_values_do_not_multiply_a_table():
    """What is repeated of the names stays within a few times the table's own text."""
    names = ",".join(f"{'name ' * 60}{n}" for n in range(40))
    table = names + "\n" + "\n".join(",".join("1" for _ in range(40)) for _ in range(2_000))
    chunks = prepared(table).chunks
    assert sum(len(chunk.text) for chunk in chunks) < 10 * len(table)
    assert all(chunk.tokens <= DEFAULT_POLICY.room_tokens for chunk in chunks)
