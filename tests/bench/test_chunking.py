"""How much of what answers a question the five best chunks hold, and how little else, beside recursive splitting.

Published for MiniLM on all five texts of the set (recall / IoU in percent, five chunks): 82.4 / 3.5 the best recall,
75.2 / 7.1 the best IoU. Where only some of the texts are in the folder, their questions alone are asked.
"""

import os
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest
from chroma_chunking import Passage, Places, Question, length, merged, questions, score, texts
from numpy.typing import NDArray
from ranking import Ranking, best
from recursive_splitting import split

from upwell.embed import embedder_of
from upwell.parse.limits import DEFAULT_LIMITS
from upwell.parse.prepare import prepare_parsed
from upwell.parse.route import parse
from upwell.ports import Embedder, Tokenizer

pytestmark = [pytest.mark.bench, pytest.mark.timeout(2400)]
CHUNKS = 5
BASELINES = (200, 400)
RESAMPLES = 2000
OURS = "upwell"

Table = NDArray[np.float64]  # a row a question: recall, precision, IoU, in percent


class Tried(NamedTuple):
    """A way to chunk: what it made, and its scores by the vectors alone and by the lake's search."""

    passages: list[Passage]
    dense: Table
    searched: Table


@pytest.fixture(scope="module")
def tried():
    corpora = os.environ.get("UPWELL_CORPORA")
    if not corpora:
        pytest.skip("UPWELL_CORPORA is not set")
    found = texts(Path(corpora))
    asked = questions(Path(corpora), list(found))
    embedder = embedder_of("minilm")
    made = {OURS: [passage for name, text in found.items() for passage in ours(name, text, embedder.tokenizer)]}
    for size in BASELINES:
        name = f"recursive {size}"
        made[name] = [p for text, words in found.items() for p in recursive(text, words, embedder.tokenizer, size)]
    return found, {name: Tried(passages, *scores(passages, asked, embedder)) for name, passages in made.items()}


def ours(name: str, text: str, tokenizer: Tokenizer) -> list[Passage]:
    """The chunks that the product makes of a file `name`.md, their prefixes embedded with them as in a lake."""
    parsed = parse(text.encode(), f"{name}.md", None, DEFAULT_LIMITS)
    places = Places(text, parsed.blocks)
    chunks = prepare_parsed(parsed, tokenizer, "bench").chunks
    return [
        Passage(name, *place, f"{chunk.prefix}\n{chunk.text}" if chunk.prefix else chunk.text, chunk.tokens)
        for chunk in chunks
        if (place := places.of(chunk))
    ]


def recursive(name: str, text: str, tokenizer: Tokenizer, size: int) -> list[Passage]:
    passages = []
    at = 0
    for part in split(text, tokenizer, size):
        start, at = at, at + len(part)
        if words := part.strip():
            start += len(part) - len(part.lstrip())
            passages.append(Passage(name, start, start + len(words), words, len(tokenizer.starts(words))))
    return passages


def scores(passages: list[Passage], asked: list[Question], embedder: Embedder) -> tuple[Table, Table]:
    ranking = Ranking(embedder, [passage.words for passage in passages])
    dense, searched = [], []
    for question in asked:
        query = embedder.embed_query(question.words)
        for rows, values in ((dense, ranking.dense(query)), (searched, ranking.searched(query))):
            rows.append(score([passages[place] for place in best(values, CHUNKS)], question))
    return np.array(dense) * 100, np.array(searched) * 100


def interval(differences: NDArray[np.float64]) -> tuple[float, float]:
    """95 % of the means of resampled questions (Efron, "Bootstrap methods", 1979: percentiles), the same each time."""
    draws = np.random.default_rng(1).integers(0, len(differences), (RESAMPLES, len(differences)))
    low, high = np.percentile(differences[draws].mean(axis=1), [2.5, 97.5])
    return float(low), float(high)


def lines(results: dict[str, Tried]) -> list[str]:
    shown = [f"\n{'':15}chunks tokens | {'recall':>12} {'precision':>10} {'IoU':>11}  | as searched: recall, IoU"]
    for name, (passages, dense, searched) in results.items():
        mean, spread, late = dense.mean(axis=0), dense.std(axis=0), searched.mean(axis=0)
        tokens = sum(passage.tokens for passage in passages) / len(passages)
        shown.append(
            f"{name:15}{len(passages):6} {tokens:6.0f} | {mean[0]:6.1f}±{spread[0]:4.1f} {mean[1]:6.2f}±{spread[1]:4.1f}"
            f" {mean[2]:6.2f}±{spread[2]:4.1f} | {late[0]:6.1f} {late[2]:6.2f}"
        )
    for name in list(results)[1:]:
        for kind in ("dense", "searched"):
            differences = getattr(results[OURS], kind) - getattr(results[name], kind)
            parts = [
                f"{measure} {differences[:, k].mean():+.2f} [{low:+.2f}, {high:+.2f}]"
                for measure, k in (("recall", 0), ("IoU", 2))
                for low, high in [interval(differences[:, k])]
            ]
            shown.append(f"{OURS} - {name}, {kind}: {', '.join(parts)}")
    return shown


def test_five_chunks_hold_the_answer_and_little_else(tried, capsys):
    """Recall of at least 82 % and IoU of at least 7.5 % together, by the vectors alone and by the lake's search."""
    _, results = tried
    with capsys.disabled():
        print("\n".join(lines(results)))
    for table in results[OURS][1:]:
        recall, _, iou = table.mean(axis=0)
        assert recall >= 82
        assert iou >= 7.5


def test_the_chunks_bring_less_else_than_splitting_does(tried):
    """The IoU of recursive splitting is lower beyond doubt, at both sizes."""
    _, results = tried
    for size in BASELINES:
        assert interval(results[OURS].dense[:, 2] - results[f"recursive {size}"].dense[:, 2])[0] > 0


def test_no_text_is_hidden_from_the_measure(tried):
    """Nearly every character of each text is in a chunk, and few are in two."""
    found, results = tried
    for passages, *_ in results.values():
        for name, text in found.items():
            ranges = [(passage.start, passage.end) for passage in passages if passage.text == name]
            assert length(merged(ranges)) > 0.97 * len(text.strip())
            assert length(ranges) < 1.01 * length(merged(ranges))
