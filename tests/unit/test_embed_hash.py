"""The `hash` embedder: deterministic, crude, and small enough to measure everything around it."""

import numpy as np
import pytest

from upwell.embed import HASH, embedder_of
from upwell.embed.hashed import HashEmbedder
from upwell.errors import Reason, Rejected
from upwell.records import Vectors


@pytest.fixture(scope="module")
def hashed() -> HashEmbedder:
    return embedder_of(HASH)


def dense(vectors: Vectors) -> np.ndarray:
    return np.frombuffer(vectors.dense, dtype="<f2").astype(np.float32)


def test_another_instance_gives_the_same(hashed):
    """Vectors depend on the text alone; these first numbers hold on every machine."""
    text = "Travel costs are paid back within a week."
    assert embedder_of(HASH).embed([text]) == hashed.embed(["other words", text])[1:]
    assert embedder_of(HASH).fingerprint == hashed.fingerprint
    np.testing.assert_allclose(dense(hashed.embed(["travel"])[0])[:4], [-0.02086, 0.0855, 0.04517, -0.02502], atol=1e-4)


def test_shapes(hashed):
    """384 numbers, at most 32 late vectors, lengths of one; a short text has one late vector a word."""
    long, short = hashed.embed([" ".join(f"word{n}" for n in range(150)), "travel costs"])
    assert (long.late_count, short.late_count) == (32, 2)
    assert len(long.late) == 32 * 384 * 2
    late = np.frombuffer(long.late, dtype="<f2").reshape(32, 384).astype(np.float32)
    np.testing.assert_allclose(np.linalg.norm(late, axis=1), 1, atol=2e-3)
    np.testing.assert_allclose(np.linalg.norm(dense(long)), 1, atol=2e-3)


def test_shared_words_are_close(hashed):
    """A query is nearer to the text that holds its words, in every kind of vector."""
    near, far = hashed.embed(["The travel policy pays for trains.", "Lunch is served at noon in the garden."])
    query = hashed.embed_query("travel policy")
    point = np.frombuffer(query.dense, dtype="<f4")
    assert point @ dense(near) > point @ dense(far) + 0.2
    assert set(query.sparse_indices) <= set(near.sparse_indices)
    assert not set(query.sparse_indices) & set(far.sparse_indices)


@pytest.mark.parametrize("text", ["", "the of and", "\0", "\N{CJK UNIFIED IDEOGRAPH-6570}"])
def test_texts_without_words_have_a_vector(hashed, text):
    """Stop words alone have no sparse vector, but a dense and a late one of length one."""
    vectors = hashed.embed([text])[0]
    assert vectors.late_count == 1
    assert np.linalg.norm(dense(vectors)) == pytest.approx(1, abs=2e-3)


def test_limits_are_the_models(hashed):
    """Chunks come out the same as with MiniLM, so a text that it would refuse is refused here too."""
    assert hashed.tokenizer.max_tokens == 510
    with pytest.raises(Rejected) as refused:
        hashed.embed(["tea " * 511])
    assert refused.value.reason is Reason.TOO_LARGE


def test_hostile_query(hashed):
    """Megabytes of query cost no more than its start."""
    assert hashed.embed_query("tea " * 1_000_000).late_count == 1
