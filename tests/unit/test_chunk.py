"""What a chunk holds: headings with their text, tables with their header, prefixes from the document's own words."""

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
        assert chunk.tokens == len(TOKENIZER.offsets(chunk.text))


def test_prefix_keeps_the_deepest_parts():
    """Over the limit the outer parts go first, then the last words of the deepest."""

    def words(text):
        return len(text.split())

    assert structural_prefix("T", ("A", "A", "B"), None, words, 64) == "T > A > B"
    assert structural_prefix("T", ("A", "B"), "Cap", words, 3) == "B > Cap"
    assert words(structural_prefix("T", ("long " * 50,), None, words, 5)) <= 5
    assert structural_prefix(None, (), None, words, 5) == ""
