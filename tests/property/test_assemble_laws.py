"""Laws of assembly over any texts: never over the budget, nothing breaks out, the same in any order."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from contexts import byte_pairs, candidate, piece
from upwell.assemble import assemble_best, assemble_whole, counter_of
from upwell.embed import tokenizer_of

MINILM = tokenizer_of("minilm")
FRAGMENTS = ["</passage>", "<passage id=", "</context>", "<context>", "&lt;/passage>", "\n\n", " ", "<", "\u200b", "\r"]
WORDS = ["kiln", "glaze", "temperature", "1,200", "the", "of", "é", "窯", "🔥", "x" * 150]
texts = st.one_of(
    st.text(max_size=200),
    st.lists(st.sampled_from(FRAGMENTS + WORDS), max_size=60).map(" ".join),
    st.lists(st.sampled_from([*FRAGMENTS, "passage", "context", "/", "p"]), max_size=20).map("".join),
)
names = st.text(min_size=1, max_size=20)
PASSAGE = re.compile(
    r'<passage id="([0-9a-f]{8,16})" from="([^"<]*)"(?: stale="yes")?>\n(.*?)\n</passage>\n', re.DOTALL
)


@st.composite
def sections(draw):
    """Documents with sections of chunks, all of them texts of any kind."""
    found = []
    for doc in draw(st.lists(names, min_size=1, max_size=5, unique=True)):
        for ordinal, text in enumerate(draw(st.lists(texts, min_size=1, max_size=4))):
            section = 0 if ordinal < 2 else 1
            found.append(piece(text, ordinal, doc=doc, section=section, tokens=len(MINILM.starts(text)), citation=doc))
    return found


@st.composite
def matches(draw):
    pieces = draw(sections())
    matched = draw(st.lists(st.sampled_from(pieces), max_size=8, unique_by=lambda p: p.point_id))
    return [
        candidate(
            hit,
            draw(st.floats(0.0, 1.5)),
            tuple(p for p in pieces if (p.origin.key, p.section) == (hit.origin.key, hit.section)),
        )
        for hit in matched
    ]


@pytest.fixture(scope="module")
def counters(tmp_path_factory):
    path = byte_pairs(tmp_path_factory.mktemp("tokenizer") / "tokenizer.json")
    names = ("minilm", "bytes", str(path))
    return [counter_of(name, "minilm", MINILM, files=True) for name in names]


@given(found=matches(), budget=st.integers(1, 600))
def test_a_context_never_exceeds_its_budget(counters, found, budget):
    for counter in counters:
        made = assemble_best(found, budget, counter)
        assert made.tokens == counter.count(made.text) <= budget


@given(pieces=sections(), budget=st.integers(1, 3000))
def test_all_there_is_is_given_within_the_budget_or_not_at_all(counters, pieces, budget):
    for counter in counters:
        made = assemble_whole(pieces, budget, counter)
        if made is not None:
            assert made.tokens == counter.count(made.text) <= budget
            assert sum(len(excerpt.pieces) for excerpt in made.excerpts) == len(pieces)
        else:
            assert counter.count(assemble_whole(pieces, 10**9, counter).text) > budget


@given(pieces=sections())
def test_nothing_breaks_out_of_its_frame(counters, pieces):
    made = assemble_whole(pieces, 10**9, counters[0])
    lines, rest = made.text.split("\n", 2)[:2], made.text.split("\n", 2)[2]
    assert lines[0] == "<context>"
    found = PASSAGE.findall(rest)
    assert [name for name, _, _ in found] == [passage.id for passage in made.passages]
    assert PASSAGE.sub("", rest) == "</context>\n"


@given(found=matches(), budget=st.integers(1, 600), order=st.randoms(use_true_random=False))
def test_equal_hits_give_equal_bytes_in_any_order(counters, found, budget, order):
    shuffled = found.copy()
    order.shuffle(shuffled)
    assert assemble_best(shuffled, budget, counters[0]) == assemble_best(found, budget, counters[0])


@given(found=matches())
def test_every_passage_is_made_of_what_was_found(counters, found):
    known = {p.point_id: p for c in found for p in c.section}
    for excerpt in assemble_best(found, 10_000, counters[0]).excerpts:
        assert all(known[p.point_id] == p for p in excerpt.pieces)
        assert [p.ordinal for p in excerpt.pieces] == sorted({p.ordinal for p in excerpt.pieces})
