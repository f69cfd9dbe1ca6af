"""`upwell audit`: what was done stands in it, forged records are found, beside a running owner too."""

import json
import shutil
import signal
import sqlite3

import pytest
from command import Upwell

from audits import forging

pytestmark = pytest.mark.e2e
SECRET = "heliotrope"


def acts(upwell, *words):
    """The exported acts."""
    lines = upwell("audit", "export", *words).stdout.splitlines()
    return [entry for line in lines if "act" in (entry := json.loads(line)["entry"])]


@pytest.fixture(scope="module")
def home(tmp_path_factory):
    """A lake with two documents, one of them deleted again, and two searches."""
    upwell = Upwell(tmp_path_factory.mktemp("home"))
    docs = upwell.write({"a.md": f"# One\n\n{SECRET} grows here.", "b.md": "# Two\n\nNothing grows here."})
    upwell("ingest", str(docs), "--owner", "ana")
    (docs / "b.md").unlink()
    upwell("ingest", str(docs), "--owner", "ana")
    assert upwell.found(SECRET, "--as", "ana") == {"a.md"}
    assert upwell.found(SECRET, "--as", "eve") == set()
    return upwell.home


@pytest.fixture
def upwell(tmp_path, home):
    """The command over a copy of that lake."""
    shutil.copytree(home, tmp_path / "home")
    return Upwell(tmp_path / "home")


@pytest.fixture
def lake(upwell):
    return upwell.home / ".upwell"


def test_each_act_leaves_one_record_without_a_word_of_a_document(upwell, lake):
    found = acts(upwell)
    published = [(entry["act"], entry["document"]["doc_id"]) for entry in found if "document" in entry]
    assert sorted(published) == [("delete", "b.md"), ("publish", "a.md"), ("publish", "b.md")]
    searches = [entry for entry in found if entry["act"] == "search"]
    assert [len(entry.get("hits", ())) for entry in searches] == [1, 0]
    assert ["user:ana" in entry["principals"] for entry in searches] == [True, False]
    assert SECRET not in upwell("audit", "export").stdout
    assert SECRET.encode() not in (lake / "audit.sqlite").read_bytes()


def test_the_records_verify_and_a_forged_one_is_found(upwell, lake):
    answer = upwell.json("audit", "verify")
    assert answer["ok"]
    assert all(chain["signed"] and chain["closed"] and not chain["unsealed"] for chain in answer["chains"])
    with forging(lake / "audit.sqlite") as db:
        db.run("UPDATE audit SET body = replace(body, 'user:eve', 'user:ida') WHERE body LIKE '%user:eve%'")
    forged = upwell.json("audit", "verify", status=1)
    assert not forged["ok"]
    assert [chain["bad"] for chain in forged["chains"] if chain["bad"]] == [
        "record 1: its body, its hash or its place in the chain was changed"
    ]
    assert "BAD" in upwell("audit", "verify", status=1).stdout


def test_filters_narrow_an_export_and_the_list_shows_the_last(upwell, lake):
    assert {entry["act"] for entry in acts(upwell, "--act", "search")} == {"search"}
    assert acts(upwell, "--before", "1h") == []
    assert len(acts(upwell, "--since", "1h", "--actor", "source:docs")) == 3
    exported = upwell.json("audit", "export", "--act", "delete")
    assert [line["entry"]["document"]["doc_id"] for line in exported] == ["b.md"]
    assert upwell.json("audit", "export", "--tenant", "other") == []
    assert [line["entry"].get("act") for line in upwell.json("audit", "list", "-n", "1")] == ["search"]
    assert "search" in upwell("audit", "list").stdout


def test_it_is_read_beside_a_running_owner(upwell, lake, run):
    running = run(str(upwell.home / "docs"), "--owner", "ana", "--source", "again")
    running.ready()
    upwell.found("nothing", "--as", "ana")
    assert len(acts(upwell, "--act", "search")) == 3
    assert upwell.json("audit", "verify")["ok"]
    assert running.end(signal.SIGTERM) == 0
    answer = upwell.json("audit", "verify")
    assert answer["ok"]
    assert all(chain["closed"] for chain in answer["chains"])


def test_old_records_expire_behind_a_checkpoint(upwell, lake):
    upwell("audit", "expire", "--before", "0s", status=2)
    assert upwell.json("audit", "expire", "--before", "1h", "--yes") == {"expired": 0}
    assert upwell.json("audit", "expire", "--before", "0s", "--yes")["expired"] > 5
    assert acts(upwell) == []
    answer = upwell.json("audit", "verify")
    assert answer["ok"]
    assert answer["records"] == 0


def test_a_forged_audit_does_not_expire(upwell, lake):
    with forging(lake / "audit.sqlite") as db:
        db.run("UPDATE audit SET at = at - 1 WHERE seq = 1")
    assert "does not verify" in upwell("audit", "expire", "--before", "0s", "--yes", status=2).stderr
    with sqlite3.connect(lake / "audit.sqlite") as connection:
        assert connection.execute("SELECT count(*) FROM audit").fetchone()[0] > 5


def test_where_nothing_was_done_there_is_no_audit(tmp_path):
    assert "no audit" in Upwell(tmp_path)("audit", "verify", status=2).stderr
