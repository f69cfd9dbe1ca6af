"""The dead letter commands, with the lake opened by the command and through the socket of a `run`."""

import pytest
from command import INTERRUPT, Running

pytestmark = pytest.mark.e2e
BROKEN = "%PDF-1.7 and then nothing of the kind"


@pytest.fixture(params=["own", "asked"])
def refused(upwell, request):
    """Three broken documents refused, by a lake that each command opens or that a `run` holds."""
    docs = upwell.write({"a.pdf": BROKEN, "in/b.pdf": BROKEN, "in/c.json": "{not json"})
    if request.param == "own":
        upwell("ingest", docs)
        yield upwell
        return
    running = Running(upwell, docs)
    running.ready()
    yield upwell
    assert running.end(INTERRUPT) == 130
    running.close()


def names(letters):
    return [letter["doc_id"] for letter in letters]


def test_filters_choose_what_is_listed(refused):
    letters = refused.json("dead", "list")
    assert sorted(names(letters)) == ["a.pdf", "in/b.pdf", "in/c.json"]
    assert all(letter["replayable"] for letter in letters)
    assert names(refused.json("dead", "list", "--doc", "in/*.pdf", "--stage", "parse", "--reason", "corrupt")) == [
        "in/b.pdf"
    ]
    assert refused.json("dead", "list", "--older-than", "1h") == []
    assert len(refused.json("dead", "list", "--since", "1h", "--limit", "2", "--tenant", "default")) == 2


def test_a_replay_counts_the_tries_of_those_it_means(refused):
    assert names(refused.json("dead", "replay", "--doc", "a.*", "--dry-run")) == ["a.pdf"]
    assert refused.json("dead", "replay", "--doc", "a.*") == {"replayed": 1}
    assert refused.json("dead", "replay", "--doc", "nothing*") == {"replayed": 0}
    tries = {letter["doc_id"]: letter["attempts"] for letter in refused.json("dead", "list")}
    assert tries == {"a.pdf": 2, "in/b.pdf": 1, "in/c.json": 1}


def test_those_named_are_discarded_and_in_a_dry_run_none(refused):
    ids = [str(letter["id"]) for letter in refused.json("dead", "list") if letter["doc_id"] != "a.pdf"]
    assert sorted(names(refused.json("dead", "discard", *ids, "--dry-run"))) == ["in/b.pdf", "in/c.json"]
    assert refused.json("dead", "discard", *ids) == {"discarded": 2}
    assert names(refused.json("dead", "list")) == ["a.pdf"]


def test_all_is_never_discarded_by_accident(refused):
    assert "say which" in refused("dead", "discard", status=2).stderr
    assert "no dead letter 999" in refused("dead", "discard", "999", status=1).stderr
    assert refused.json("dead", "replay") == {"replayed": 3}
    assert refused.json("dead", "discard", "--all") == {"discarded": 3}
