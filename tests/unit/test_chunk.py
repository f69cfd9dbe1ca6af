"""What a chunk holds: headings with their text, tables with their header, prefixes from the document's own words."""

import pytest

from upwell.embed import tokenizer_of
from upwell.parse.prepare import prepare_document
from upwell.prefix.structural import structural_prefix

TOKENIZER = tokenizer_of("hash")


def prepared(text, name="a.md"):
    return prepare_document(text.encode(), name, None, tokenizer=TOKENIZER, model_fingerprint="fp")


def test_a_split_table_repeats_its_header():
    """Every part of a long table begins with the header; the spans of later parts cover their rows alone."""
    rows = "\n".join(f"| item {i} | a longer description of thing number {i} |" for i in range(120))
    chunks = prepared(f"# T\n\n| name | description |\n|---|---|\n{rows}\n").chunks
    assert len(chunks) > 3
    assert all("name | description\n" in c.text for c in chunks)
    starts = [s.start for c in chunks for s in c.spans if s.block == 1]
    assert starts == sorted(set(starts))


def test_a_wide_table_repeats_its_header_too():
    """A header of a hundred tokens stands above each part, and no row is parted from it."""
    names = " | ".join(f"column of group {n} in euros" for n in range(16))
    rows = "\n".join("| " + " | ".join(f"{row}.{n}" for n in range(16)) + " |" for row in range(30))
    chunks = prepared(f"| {names} |\n{'|---' * 16}|\n{rows}\n").chunks
    assert len(chunks) > 3
    assert all(chunk.text.startswith("column of group 0") for chunk in chunks)
    assert sum(chunk.text.count("\n") for chunk in chunks) == 30


def test_a_heading_without_text_joins_what_follows():
    """Nested headings begin the chunk of the first words under them; the prefix does not repeat what the text shows."""
    chunks = prepared("# A\n\n## B\n\nwords of b\n\n## C\n\nwords of c\n").chunks
    assert [(c.text, c.prefix, c.heading_path) for c in chunks] == [
        ("A\n\nB\n\nwords of b", "", ("A", "B")),
        ("C\n\nwords of c", "A", ("A", "C")),
    ]


def test_a_name_or_path_changes_no_key():
    """Renaming a file changes no chunk key and no embed key."""
    text = "# A\n\nwords\n"
    assert prepared(text, "a.md").chunks == prepared(text, "other/b.md").chunks


def test_equal_paragraphs_have_keys_of_their_own():
    """Equal text under equal headings is told apart by its occurrence; the embed key is shared."""
    chunks = prepared("".join("# H\n\nsame words\n\n" for _ in range(3))).chunks
    assert len({c.chunk_key for c in chunks}) == 3
    assert len({c.embed_key for c in chunks}) == 1


def test_contents_and_front_matter_are_dropped_with_reasons():
    """A list of links into the page under `Contents` is no content."""
    made = prepared("---\ntitle: T\n---\n\n## Contents\n\n- [a](#a)\n- [b](#b)\n\n## a\n\nwords\n")
    assert {d.reason for d in made.dropped} == {"front_matter", "table_of_contents"}
    assert all("Contents" not in c.text for c in made.chunks)


def test_a_last_heading_of_one_endless_word_states_its_true_tokens():
    """A heading at the end joins what precedes it; where its only word was cut, the chunk's tokens are counted anew."""
    for chunk in prepared("words\n\n# " + "0" * 900).chunks:
        assert chunk.tokens == len(TOKENIZER.starts(chunk.text))


def test_long_code_repeats_its_signature_and_is_cut_between_statements():
    """Decorators and a signature of several lines stand above each part; no part begins inside a call's brackets."""
    calls = "".join(f"    record(\n        name_{n},\n        value={n},\n    )\n" for n in range(80))
    source = f"@cached\ndef keep(\n    ledger,\n    shop,\n):\n{calls}"
    chunks = prepared(source, "a.py").chunks
    assert len(chunks) > 3
    for chunk in chunks:
        assert chunk.text.startswith("@cached\ndef keep(\n    ledger,\n    shop,\n):\n    record(\n")
        assert chunk.text.endswith("\n    )")


def test_code_is_cut_into_longer_chunks_than_prose():
    """A function of 220 tokens stays whole; a run of prose as long is cut."""
    lines = [f"value_{n} = {n}" for n in range(44)]
    assert (
        len(prepared("```\n" + "\n\n".join(lines[:22]) + "\n```\n\n```\n" + "\n".join(lines[22:]) + "\n```\n").chunks)
        == 1
    )
    assert len(prepared("\n\n".join(f"{line}." for line in lines)).chunks) > 1


def test_code_without_a_signature_repeats_nothing():
    """The first lines of a script that come before its first loop are no signature."""
    source = "a = 1\nb = 2\nfor x in y:\n" + "".join(f"    total = total + {n}\n" for n in range(200))
    chunks = prepared(f"```\n{source}```\n").chunks
    assert len(chunks) > 3
    assert sum("a = 1" in chunk.text for chunk in chunks) == 1


@pytest.mark.parametrize(
    "sentence",
    [
        "\u8fd9\u662f\u4e00\u4e2a\u5f88\u957f\u7684\u53e5\u5b50\u3002",
        "\u5f7c\u306f\u8a00\u3063\u305f\uff01\u300d",
        "\u0647\u0644 \u062a\u0631\u064a\u062f \u0627\u0644\u0634\u0627\u064a\u061f ",
        "\u06cc\u06c1 \u0627\u06cc\u06a9 \u062c\u0645\u0644\u06c1 \u06c1\u06d2\u06d4 ",
        "\u092f\u0939 \u090f\u0915 \u0935\u093e\u0915\u094d\u092f \u0939\u0948\u0964 ",
    ],
)
def test_sentences_of_other_scripts_stay_whole(sentence):
    """Chinese, Japanese, Arabic, Urdu and Hindi text without paragraphs is cut where its sentences end."""
    chunks = prepared(sentence * 150, "a.txt").chunks
    assert len(chunks) > 3
    assert all(chunk.text.endswith(sentence.strip()) and chunk.text.startswith(sentence[:3]) for chunk in chunks)


def test_lines_without_full_stops_stay_whole():
    """Verses and lists of lines, without a full stop anywhere, are cut at line ends."""
    lines = [f"a line of verse number {n} that has no end" for n in range(120)]
    chunks = prepared("\n".join(lines), "a.txt").chunks
    assert len(chunks) > 3
    assert [line for chunk in chunks for line in chunk.text.split("\n")] == lines


def test_accents_stay_with_their_letters():
    """A word without end is cut between what a reader takes for letters, joined signs of hundreds apart."""
    chunks = prepared("e\u0301" * 3000, "a.txt").chunks
    assert len(chunks) > 3
    assert all(chunk.text.startswith("e") for chunk in chunks)


@pytest.mark.timeout(20)
@pytest.mark.parametrize(
    "text", ["." * 60_000, ". " * 30_000, "x" + " " * 60_000 + "y.", "!)" * 30_000, ")" * 60_000 + "x"]
)
def test_marks_without_end_cost_no_more_than_words(text):
    """No pattern looks twice at a run of marks or of white space."""
    assert prepared(text, "a.txt").chunks
    assert prepared(f"```\n{text}\n```\n").chunks


def test_entries_with_dot_leaders_are_contents_and_a_sentence_with_dots_is_none():
    """Lines that end in dots and a page are dropped; prose that happens to end like one is kept."""
    made = prepared(
        f"Owls ......... 3\n\nMice . . . . . 12\n\n{'Prose goes on and on. ' * 20} and so on .... 7\n", "a.txt"
    )
    assert [d.reason for d in made.dropped] == ["table_of_contents"]
    assert sum(len(d.spans) for d in made.dropped) == 2
    assert any("and so on .... 7" in chunk.text for chunk in made.chunks)


def test_the_heading_above_entries_with_dot_leaders_goes_with_them():
    """`Contents` alone would only stand at the head of what follows."""
    made = prepared("# Contents\n\nOwls ......... 3\n\nMice . . . . . 12\n\n# Owls\n\nThey fly by night.\n")
    assert [d.reason for d in made.dropped] == ["table_of_contents"]
    assert [chunk.text for chunk in made.chunks] == ["Owls\n\nThey fly by night."]


def test_prefix_keeps_the_deepest_parts():
    """Over the limit the outer parts go first, then the last words of the deepest."""

    def words(text):
        return len(text.split())

    assert structural_prefix("T", ("A", "A", "B"), None, words, 64) == "T > A > B"
    assert structural_prefix("T", ("A", "B"), "Cap", words, 3) == "B > Cap"
    assert words(structural_prefix("T", ("long " * 50,), None, words, 5)) <= 5
    assert structural_prefix(None, (), None, words, 5) == ""


def test_rows_that_begin_with_a_header_of_their_own_are_not_repeated():
    """Only a row of nothing but headers stands over the others."""
    rows = "".join(f"<tr><th scope=row>name {i}<td>{'words ' * 12}" for i in range(40))
    chunks = prepared(f"<html><body><table><tr><th>name<th>what{rows}</table>", "a.html").chunks
    assert len(chunks) > 2
    assert all(chunk.text.startswith("name | what\n") for chunk in chunks)
    assert sum(chunk.text.count("name 3 |") for chunk in chunks) == 1


def test_a_heading_without_end_does_not_multiply():
    """Paths repeat its beginning alone, and so does the title."""
    made = prepared("# " + "larch " * 20_000 + "\n\nwords\n")
    assert len(made.chunks) > 100
    assert max(len(part) for chunk in made.chunks for part in (*chunk.heading_path, chunk.prefix)) <= 500
    assert len(made.title) <= 500
