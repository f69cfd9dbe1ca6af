"""Sparse vectors: stop words are really left out, forms of a word meet, weights follow BM25."""

import pytest

from upwell.embed.bm25 import SparseModel

MODEL = SparseModel()


def test_stop_words_are_left_out():
    """A text of stop words has no weight at all (the known trap: a model without its list)."""
    assert MODEL.passage("the of and to is are it this that") == ((), ())
    assert MODEL.query("the of and") == ((), ())
    assert len(MODEL.passage("the revenues of the company")[0]) == 2


@pytest.mark.parametrize(
    ("one", "other"),
    [("running", "runs"), ("Policies", "policy"), ("NAÏVE", "naive"), ("Zürich", "Zurich"), ("costs", "cost")],
)
def test_forms_of_a_word_meet(one, other):
    """Stems, case and accents do not keep a query from its text."""
    assert MODEL.query(one)[0] == MODEL.passage(other)[0] != ()


def test_identifiers_are_found_by_their_parts():
    """What people paste from logs and code matches."""
    assert set(MODEL.query("CONN_REFUSED")[0]) <= set(MODEL.passage("it failed with ERR_CONN_REFUSED")[0])


def test_weights_follow_the_formula():
    """BM25 with k1 = 1.2, b = 0.75, average length 256: tf (k1 + 1) / (tf + k1 (1 - b + b len / 256))."""
    indices, values = MODEL.passage("zebra zebra quagga")
    weights = dict(zip(indices, values, strict=True))
    norm = 1.2 * (1 - 0.75 + 0.75 * 3 / 256)
    assert weights[MODEL.query("zebra")[0][0]] == pytest.approx(2 * 2.2 / (2 + norm), rel=1e-6)
    assert weights[MODEL.query("quagga")[0][0]] == pytest.approx(2.2 / (1 + norm), rel=1e-6)
    assert set(MODEL.query("zebra zebra quagga")[1]) == {1.0}


def test_indices_are_sorted_and_small():
    """Stores take unsigned 32-bit indices, each once; ascending makes equal texts equal records."""
    indices, values = MODEL.passage(" ".join(f"word{n}" for n in range(300)))
    assert list(indices) == sorted(set(indices))
    assert 0 <= indices[0] <= indices[-1] < 2**32
    assert len(indices) == len(values)
