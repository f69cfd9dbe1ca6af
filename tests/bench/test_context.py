"""How much of what answers a question a context holds, beside the raw best hits in as many tokens."""

import os
import random
import statistics
import time
from pathlib import Path

import pytest
from measuring import summary, upwell_json
from retrieval_sets import SETS, covered, laid_out

from upwell import wiring
from upwell.config import load
from upwell.embed import tokenizer_of
from upwell.runtime.reading import operator_as

pytestmark = [pytest.mark.bench, pytest.mark.timeout(2400)]
BUDGETS = (1000, 2000, 4000)
QUESTIONS = 40
ANA = operator_as(frozenset({"user:ana"}), "default")
MINILM = tokenizer_of("minilm")


@pytest.fixture(scope="module", params=sorted(SETS))
def asked(request, tmp_path_factory):
    """A lake of a set's documents, some of its questions, and the set's name."""
    corpora = os.environ.get("UPWELL_CORPORA")
    if not corpora:
        pytest.skip("UPWELL_CORPORA is not set")
    base = tmp_path_factory.mktemp(request.param)
    questions = laid_out(request.param, Path(corpora), base / "documents")
    upwell_json("ingest", base / "documents", "--owner", "user:ana", "--lake", base / "lake")
    lake = wiring.connect(load(lake=base / "lake"))
    yield request.param, lake.reading(), random.Random(1).sample(questions, QUESTIONS)
    lake.close()


def test_a_context_holds_what_answers_the_question(asked, capsys):
    name, api, questions = asked
    seconds = []
    lines = []
    for budget in BUDGETS:
        ours, theirs = [], []
        for question, answers in questions:
            began = time.perf_counter()
            answer = api.context(question, reader=ANA, budget=budget)
            seconds.append(time.perf_counter() - began)
            assert len(MINILM.starts(answer.text)) == answer.tokens <= budget
            ours.append(covered(answers, answer.text))
            theirs.append(covered(answers, best_hits(api, question, budget)))
        lines.append((budget, statistics.mean(ours), statistics.mean(theirs)))
    with capsys.disabled():
        for budget, context, raw in lines:
            print(f"\n{name}, {budget} tokens: context {context:.1%}, raw hits {raw:.1%}", end="")
        print("\n" + summary(f"{name}, a context", seconds))
    for _, context, raw in lines:
        assert context >= raw - 0.05, "what the frame and the sections cost is more than they are worth"


def best_hits(api, question, budget):
    """The raw hits' texts, best first, as many as fit: no frame, no citation."""
    texts, tokens = [], 0
    for hit in api.search(question, reader=ANA, k=100).hits:
        tokens += len(MINILM.starts(hit.text))
        if tokens > budget:
            break
        texts.append(hit.text)
    return "\n\n".join(texts)
