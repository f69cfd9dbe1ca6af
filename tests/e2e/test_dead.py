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


def test_filters_choose_what_is_listed_replayed_and_discarded(refused):
    letters = refused.json("dead", "list")
    assert sorted(names(letters)) == ["a.pdf", "in/b.pdf", "in/c.json"]
    assert all(letter["replayable"] for letter in letters)
    assert names(refused.json("dead", "list", "--doc", "in/*.pdf", "--stage", "parse", "--reason", "corrupt")) == [
        "in/b.pdf"
    ]
    assert refused.json("dead", "list", "--source", "others") == []
    assert refused.json("dead", "list", "--older-than", "1h") == []
    assert len(refused.json("dead", "list", "--since", "1h", "--limit", "2", "--tenant", "default")) == 2

    assert names(refused.json("dead", "replay", "--doc", "a.*", "--dry-run")) == ["a.pdf"]
    assert refused.json("dead", "replay", "--doc", "a.*") == {"replayed": 1}
    tries = {letter["doc_id"]: letter["attempts"] for letter in refused.json("dead", "list")}
    assert tries == {"a.pdf": 2, "in/b.pdf": 1, "in/c.json": 1}
    assert refused.json("dead", "replay", "--doc", "nothing*") == {"replayed": 0}

    assert len(refused.json("dead", "discard", "--doc", "in/*", "--dry-run")) == 2
    assert len(refused.json("dead", "list")) == 3
    assert refused.json("dead", "discard", "--doc", "in/*") == {"discarded": 2}
    assert names(refused.json("dead", "list")) == ["a.pdf"]


def test_all_is_never_discarded_by_accident(refused):
    assert "say which" in refused("dead", "discard", status=2).stderr
    assert "--all" in refused("dead", "discard", "--all", "--source", "docs", status=2).stderr
    assert "no dead letter 999" in refused("dead", "discard", "999", status=1).stderr
    assert len(refused.json("dead", "list")) == 3
    assert refused.json("dead", "replay") == {"replayed": 3}
    assert refused.json("dead", "discard", "--all") == {"discarded": 3}
    assert refused.json("dead", "list") == []
