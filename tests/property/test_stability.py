"""Content-defined cuts: an edit changes the chunks it is in and at most a neighbour; an insertion shifts nothing."""

import os
import random
import tarfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from upwell.embed import tokenizer_of
from upwell.parse.prepare import prepare_document

TOKENIZER = tokenizer_of("hash")
SENTENCES = [
    f"The {a} {b} of the {c} is kept in the {d}."
    for a in ("old", "new", "small", "green")
    for b in ("ledger", "index", "cache", "report")
    for c in ("team", "shop", "lake")
    for d in ("vault", "cellar", "attic")
]


def chunks(text):
    return prepare_document(text.encode(), "a.md", None, tokenizer=TOKENIZER, model_fingerprint="fp").chunks


def paragraphs_of(rng, count):
    return [" ".join(rng.choices(SENTENCES, k=rng.randint(1, 9))) for _ in range(count)]


def is_local(before, after):
    """Whether the chunks of `before` that are gone are one and at most its neighbours."""
    kept = {c.chunk_key for c in after}
    lost = [i for i, c in enumerate(before) if c.chunk_key not in kept]
    return not lost or lost[-1] - lost[0] <= 2


def edited(rng, paragraph):
    """A paragraph with a word replaced, a sentence added, or its end cut off."""
    words = paragraph.split(" ")
    kind = rng.randrange(4)
    if kind == 0:
        return f"{paragraph} This sentence is new and says a little more."
    if kind == 1:
        return " ".join(words[: -(-len(words) * 2 // 3)])
    words[rng.randrange(len(words))] = "zymurgy"
    return " ".join(words)


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 10**6))
def test_an_insertion_at_the_top_shifts_nothing(seed):
    """A new paragraph before a long section changes at most the first two chunks."""
    rng = random.Random(seed)
    paragraphs = paragraphs_of(rng, 60)
    before = chunks("\n\n".join(paragraphs))
    after = chunks("\n\n".join(["A paragraph that was not here.", *paragraphs]))
    kept = {c.chunk_key for c in after}
    assert all(c.chunk_key in kept for c in before[2:])


def test_single_paragraph_edits_are_local():
    """Of 100 random edits in long sections without a heading at least 98 % change one chunk and its neighbours."""
    rng = random.Random(7)
    local = 0
    for _ in range(100):
        paragraphs = paragraphs_of(rng, 40)
        at = rng.randrange(40)
        after = [*paragraphs[:at], edited(rng, paragraphs[at]), *paragraphs[at + 1 :]]
        local += is_local(chunks("\n\n".join(paragraphs)), chunks("\n\n".join(after)))
    assert local >= 98


@pytest.mark.integration
def test_edits_of_a_real_history_are_local():
    """Single-paragraph edits of real documentation pages: 99 % change the edited chunks and a neighbour each side."""
    corpora = os.environ.get("UPWELL_CORPORA")
    if not corpora:
        pytest.skip("UPWELL_CORPORA is not set")
    pack = Path(corpora) / "changes" / "otel-docs"
    rng = random.Random(11)
    with tarfile.open(pack / "blobs.tar.xz") as archive:
        base = [line.split("\t")[1].strip() for line in (pack / "base.tsv").read_text().splitlines()]
        wanted = set(base)
        texts = [archive.extractfile(m).read().decode() for m in archive if m.name.rsplit("/", 1)[-1] in wanted]
    tried = local = 0
    for text in texts:
        parts = text.split("\n\n")
        plain = [i for i, p in enumerate(parts) if len(p) > 60 and p[0].isalpha() and parts.count(p) == 1]
        before = chunks(text)
        for at in rng.sample(plain, min(3, len(plain))):
            after = "\n\n".join([*parts[:at], edited(rng, parts[at]), *parts[at + 1 :]])
            tried += 1
            local += is_local(before, chunks(after))
    assert tried > 300
    assert local >= 0.99 * tried
