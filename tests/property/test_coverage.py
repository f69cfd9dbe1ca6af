"""L7: every character is in a chunk or dropped with a reason, and no chunk is longer than its embedder reads."""

import re
from itertools import groupby

from hypothesis import given, settings
from hypothesis import strategies as st

from upwell.chunk.policy import DEFAULT_POLICY
from upwell.embed import tokenizer_of
from upwell.parse.limits import DEFAULT_LIMITS
from upwell.parse.prepare import prepare_parsed
from upwell.parse.route import parse
from upwell.records import Kind

TOKENIZER = tokenizer_of("hash")
WORDS = st.text(st.sampled_from("abc déß漢字かな مرحبا 0123.,:;!?。-_*`#|<>&[]()\"'"), min_size=1, max_size=120)
LONG = st.one_of(
    st.builds(
        lambda w, n: (w + " ") * n, st.sampled_from(["lorem ipsum.", "x", "Satz eins!", "漢字。"]), st.integers(1, 900)
    ),
    st.builds(lambda c, n: c * n, st.sampled_from(["a", "漢", "é", "0"]), st.integers(1, 9000)),
)
LINE = st.one_of(WORDS, LONG).map(lambda s: " ".join(s.split()))


@st.composite
def markdown(draw):
    """Headings, paragraphs, lists, tables, code, quotes in any order."""
    parts = []
    for _ in range(draw(st.integers(1, 12))):
        kind = draw(st.sampled_from(["#", "##", "p", "-", "t", "c", ">", "cap"]))
        line = draw(LINE)
        if kind in {"#", "##", "-", ">"}:
            parts.append(f"{kind} {line}")
        elif kind == "t":
            rows = draw(st.integers(1, 60))
            cell = line.replace("|", "/")[:400] or "x"
            parts.append("\n".join(["| a | b |", "|---|---|", *(f"| {cell} {i} | {i} |" for i in range(rows))]))
        elif kind == "c":
            parts.append(
                f"```python\ndef f():\n    x = {line!r}\n"
                + f"    y = {line[:30]!r}\n" * draw(st.integers(1, 80))
                + "```"
            )
        else:
            parts.append(f"Table 1: {line}" if kind == "cap" else line)
    return "\n\n".join(parts).encode()


def html(text):
    rows = "".join(f"<tr><td>{i}<td>{i}" for i in range(len(text) % 50))
    body = re.sub("[<>&]", " ", text)
    return f"<title>t</title><nav>menu</nav><h1>{body[:50]}</h1><p>{body}</p><table><tr><th>a<th>b{rows}</table><ul><li>{body}</ul>".encode()


DOCUMENTS = st.one_of(
    markdown().map(lambda d: (d, "a.md")),
    LINE.map(lambda s: (html(s), "a.html")),
    st.lists(st.lists(LINE, min_size=1, max_size=4), min_size=1, max_size=30).map(
        lambda rows: (
            "\n".join(",".join(c.replace(",", " ").replace('"', "") for c in row) for row in rows).encode(),
            "a.csv",
        )
    ),
    st.lists(LINE, min_size=1, max_size=20).map(lambda lines: ("\n\n".join(lines).encode(), "a.txt")),
    st.lists(LINE, min_size=1, max_size=20).map(
        lambda lines: (("\n\n".join(f"def f():\n    return {s!r}" for s in lines)).encode(), "a.py")
    ),
    st.lists(LINE, min_size=1, max_size=20).map(lambda lines: ("\n\n".join(f"fn {s}" for s in lines).encode(), "a.rs")),
)


def uncovered(parsed, prepared):
    """Characters, white space apart, of the blocks that are in no span."""
    marks = [bytearray(len(block.text)) for block in parsed.blocks]
    for part in (*prepared.chunks, *prepared.dropped):
        for span in part.spans:
            assert 0 <= span.start < span.end <= len(marks[span.block])
            marks[span.block][span.start : span.end] = b"\1" * (span.end - span.start)
    return [
        (block.kind, c)
        for block, mark in zip(parsed.blocks, marks, strict=True)
        for c, m in zip(block.text, mark, strict=True)
        if not m and not c.isspace()
    ]


@settings(max_examples=60, deadline=None)
@given(DOCUMENTS)
def test_every_character_is_accounted_for(document):
    """L7: whatever the document, its blocks' characters are in chunks or in drops, and the text of chunks is theirs."""
    parsed = parse(*document, None, DEFAULT_LIMITS)
    prepared = prepare_parsed(parsed, TOKENIZER, "fp")
    assert not uncovered(parsed, prepared)
    for chunk in prepared.chunks:
        for span in chunk.spans:
            assert parsed.blocks[span.block].text[span.start : span.end] in chunk.text
    assert all(dropped.reason for dropped in prepared.dropped)


@settings(max_examples=60, deadline=None)
@given(DOCUMENTS)
def test_no_chunk_is_longer_than_the_embedder_reads(document):
    """Prefix, text and special tokens together stay within the limit; the count that a chunk states is true."""
    parsed = parse(*document, None, DEFAULT_LIMITS)
    special = DEFAULT_POLICY.special_tokens
    for chunk in prepare_parsed(parsed, TOKENIZER, "fp").chunks:
        assert len(TOKENIZER.starts(f"{chunk.prefix}\n{chunk.text}")) + special <= TOKENIZER.max_tokens
        assert chunk.tokens == len(TOKENIZER.starts(chunk.text))
        assert chunk.text.strip()


@settings(max_examples=40, deadline=None)
@given(DOCUMENTS)
def test_keys_are_unique_and_repeatable(document):
    """Equal bytes give equal chunks, and no two chunks of a document share a key."""
    first = prepare_parsed(parse(*document, None, DEFAULT_LIMITS), TOKENIZER, "fp")
    again = prepare_parsed(parse(*document, None, DEFAULT_LIMITS), TOKENIZER, "fp")
    assert first == again
    assert len({c.chunk_key for c in first.chunks}) == len(first.chunks)


def weight(block):
    """Tokens, or what so many characters count as where the tokenizer makes one token of an endless word."""
    return max(len(TOKENIZER.starts(block.text)), len(block.text) // DEFAULT_POLICY.characters_per_token)


@settings(max_examples=40, deadline=None)
@given(markdown())
def test_no_chunk_is_a_heading_alone(data):
    """A heading stands with what is under it, unless the document is only headings or the heading fills a chunk."""
    parsed = parse(data, "a.md", None, DEFAULT_LIMITS)
    if all(block.kind is Kind.HEADING for block in parsed.blocks):
        return
    # Headings of half a chunk, one under the other, are more than any chunk can hold with what is under them.
    runs = groupby(parsed.blocks, key=lambda block: block.kind is Kind.HEADING)
    if any(sum(map(weight, run)) > 200 for heading, run in runs if heading):
        return
    kinds = [{parsed.blocks[s.block].kind for s in c.spans} for c in prepare_parsed(parsed, TOKENIZER, "fp").chunks]
    assert {Kind.HEADING} not in kinds
