"""What the sandbox costs a small document: through a warm child, against the same preparation in process."""

import statistics
import time

import pytest

from upwell.embed import tokenizer_of
from upwell.parse.confined.sandbox import SandboxPreparer
from upwell.parse.prepare import prepare_document

pytestmark = [pytest.mark.bench, pytest.mark.timeout(120)]
DOCUMENTS = 400
MOST_MS = 5.0


def document(number):
    words = " ".join(f"word{(number * 7 + i) % 97}" for i in range(80))
    return f"# Page {number}\n\n{words}\n\n## Steps\n\n- one {number}\n- two\n\n| a | b |\n|---|---|\n| {number} | 2 |\n".encode()


def timed(work):
    started = time.perf_counter()
    work()
    return (time.perf_counter() - started) * 1000


def test_the_sandbox_costs_a_small_document_less_than_five_milliseconds(capsys):
    """Each document is read both ways, in turn, so that what else the machine does falls on both."""
    tokenizer = tokenizer_of("hash")
    preparer = SandboxPreparer("hash", "fp", workers=1)
    inside, through = [], []
    try:
        preparer.prepare(document(0), "a.md")
        prepare_document(document(0), "a.md", None, tokenizer=tokenizer, model_fingerprint="fp")
        for number in range(DOCUMENTS):
            data = document(number)
            direct = lambda: prepare_document(data, "a.md", None, tokenizer=tokenizer, model_fingerprint="fp")  # noqa: B023, E731
            inside.append(timed(direct))
            through.append(timed(lambda: preparer.prepare(data, "a.md")))  # noqa: B023
    finally:
        preparer.close()
    costs = [a - b for a, b in zip(through, inside, strict=True)]
    with capsys.disabled():
        print(
            f"\n{DOCUMENTS} small documents: {statistics.median(through):.2f} ms through the sandbox, "
            f"{statistics.median(inside):.2f} ms in process; the sandbox costs {statistics.median(costs):.2f} ms "
            f"(p90 {statistics.quantiles(costs, n=10)[8]:.2f})"
        )
    assert statistics.median(costs) < MOST_MS
