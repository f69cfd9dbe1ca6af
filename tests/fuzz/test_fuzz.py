"""The fuzz run as CI has it, and that its judge can find fault."""

import pytest
from fuzz_cases import case, documents
from fuzz_judge import ANSWERS, faults
from fuzz_run import fuzz_run
from fuzz_tally import DEATH, Tally
from rich.console import Console

FILES = 200
GOOD = (
    b'{"status":"ok","media_type":"text/plain","blocks":[{"text":"ab cd"}],"children":[],"dropped":[],'
    b'"chunks":[{"spans":[{"block":0,"start":0,"end":2},{"block":0,"start":3,"end":5}]}]}'
)


def test_a_case_is_the_same_bytes_each_time(monkeypatch):
    """A failing case can be made again from its seed and number; another seed makes another."""
    monkeypatch.delenv("UPWELL_CORPORA", raising=False)
    corpus = documents()
    assert [case(1, n, corpus) for n in range(40)] == [case(1, n, corpus) for n in range(40)]
    assert case(1, 5, corpus).data != case(2, 5, corpus).data


def test_the_judge_accepts_a_right_answer():
    """All characters but white space are in a span."""
    assert faults(ANSWERS.decode(GOOD)) == []


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        (b'"end":2', b'"end":1', "in no chunk"),
        (b'"end":5', b'"end":6', "nowhere"),
        (b'"status":"ok"', b'"status":"corrupt"', "without a reason"),
        (b'"dropped":[]', b'"dropped":[{"spans":[],"reason":""}]', "without a reason"),
        (b'"children":[]', b'"children":[' + GOOD.replace(b'"end":5', b'"end":4') + b"]", "in a part"),
    ],
)
def test_the_judge_finds_fault(old, new, said):
    """Characters lost, spans that are nowhere, an end without a reason, and all that in parts too."""
    assert said in " ".join(faults(ANSWERS.decode(GOOD.replace(old, new))))


def test_one_fault_or_nothing_read_is_no_success():
    """The verdict of a run."""
    tally = Tally()
    assert not tally.good
    made = case(1, 0, [("a.md", b"words")])
    tally.add(made, "ok", 0.1)
    assert tally.good
    tally.fault(made, DEATH, "a child ended")
    assert not tally.good


@pytest.mark.integration
@pytest.mark.timeout(300)
def test_two_hundred_mutated_documents_do_no_harm():
    """No child dies, every end has its word and its reason, and every character is accounted for."""
    console = Console(stderr=True)
    tally = fuzz_run(seed=1, numbers=range(FILES), corpus=documents(), workers=2, console=console)
    assert [(failed.number, kind, said) for failed, kind, said in tally.faults] == []
    assert tally.total == FILES
