"""Content-defined cuts: an edit changes the chunks it is in and at most a neighbour; an insertion shifts nothing."""

import os
import random
import tarfile
from pathlib import Path

import pytest
from editing import edited, gone, is_local, paragraphs, with_edit
from hypothesis import given, settings
from hypothesis import strategies as st

from upwell.embed import tokenizer_of
from upwell.parse.limits import DEFAULT_LIMITS
from upwell.parse.prepare import prepare_parsed
from upwell.parse.route import parse

TOKENIZER = tokenizer_of("hash")
SENTENCES = [
    f"The {a} {b} of the {c} is kept in the {d}."
    for a in ("old", "new", "small", "green")
    for b in ("ledger", "index", "cache", "report")
    for c in ("team", "shop", "lake")
    for d in ("vault", "cellar", "attic")
]
VERSIONS = 600
EDITS_A_VERSION = 6


def chunks(parsed):
    return prepare_parsed(parsed, TOKENIZER, "fp").chunks


def read(text):
    return parse(text.encode(), "a.md", None, DEFAULT_LIMITS)


def paragraphs_of(rng, count):
    """Paragraphs of up to nine sentences; most sentences stand once, as in what people write."""
    return [
        " ".join(f"{rng.randrange(1000)}: {sentence}" for sentence in rng.choices(SENTENCES, k=rng.randint(1, 9)))
        for _ in range(count)
    ]


def flowing(rng):
    """A long document without a heading: nothing but the words says where to cut."""
    return "\n\n".join(paragraphs_of(rng, 40))


def ordered(rng):
    """A document of sections, with lists and code between the paragraphs."""
    parts = []
    for number, paragraph in enumerate(paragraphs_of(rng, 40)):
        kind = rng.randrange(6)
        parts.append(f"## Part {number}\n\n{paragraph}" if kind == 0 else f"- {paragraph}" if kind == 1 else paragraph)
        if kind == 2:
            parts.append("```\n" + "\n".join(f"step {n} {number}" for n in range(rng.randint(1, 30))) + "\n```")
    return "\n\n".join(parts)


def share_of_local_edits(rng, documents, edits):
    tried = local = 0
    for parsed in documents:
        numbers = paragraphs(parsed)
        before = chunks(parsed)
        for number in rng.choices(numbers, k=edits if numbers else 0):
            tried += 1
            local += is_local(before, chunks(with_edit(rng, parsed, number)), number)
    return tried, local / tried


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 10**6))
def test_an_insertion_at_the_top_shifts_nothing(seed):
    """A new paragraph before a long section changes at most the first two chunks."""
    paragraphs = paragraphs_of(random.Random(seed), 60)
    before = chunks(read("\n\n".join(paragraphs)))
    after = chunks(read("\n\n".join(["A paragraph that was not here.", *paragraphs])))
    assert all(place < 2 for place in gone(before, after))


@pytest.mark.parametrize("writer", [flowing, ordered])
def test_single_paragraph_edits_are_local(writer):
    """Of 200 random edits 98 % change the chunks of their paragraph and a neighbour each side, no others."""
    rng = random.Random(7)
    tried, share = share_of_local_edits(rng, [read(writer(rng)) for _ in range(20)], 10)
    assert tried == 200
    assert share >= 0.98


def test_an_edit_of_the_file_is_as_local_as_one_of_its_blocks():
    """Markdown on the way changes nothing: the edited text of a paragraph, parsed anew, keeps all far chunks."""
    rng = random.Random(3)
    for _ in range(15):
        parts = paragraphs_of(rng, 40)
        at = rng.randrange(40)
        after = [*parts[:at], edited(rng, parts[at]), *parts[at + 1 :]]
        assert len(gone(chunks(read("\n\n".join(parts))), chunks(read("\n\n".join(after))))) <= 6


@pytest.mark.integration
@pytest.mark.timeout(900)
def test_edits_of_a_real_history_are_local(capsys):
    """Edits of pages of a documentation's history: 99 % change the edited chunks and at most a neighbour each side."""
    corpora = os.environ.get("UPWELL_CORPORA")
    if not corpora:
        pytest.skip("UPWELL_CORPORA is not set")
    with tarfile.open(Path(corpora) / "changes" / "otel-docs" / "blobs.tar.xz") as archive:
        versions = {member.name: archive.extractfile(member).read().decode() for member in archive if member.isfile()}
    rng = random.Random(11)
    picked = rng.sample(sorted(versions), VERSIONS)
    tried, share = share_of_local_edits(rng, map(read, map(versions.get, picked)), EDITS_A_VERSION)
    with capsys.disabled():
        print(f"\n{share:.2%} of {tried} single-paragraph edits are local")
    assert tried > 3000
    assert share >= 0.99
