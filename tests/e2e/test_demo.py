"""The demo, twice, as an installed package runs it."""

import json
import shlex

import pytest

pytestmark = pytest.mark.e2e


def check(answer):
    assert answer["ingest"]["documents"]["new"] >= 18
    assert answer["ingest"]["documents"]["dead"] == 0
    edit, rename, revoke, delete = answer["steps"]
    assert 1 <= edit["chunks"]["embedded"] <= 2
    assert edit["chunks"]["kept"] >= 1
    for step in (rename, revoke, delete):
        assert step["chunks"]["embedded"] == 0
        assert step["tokens_embedded"] == 0
    assert delete["chunks"]["removed"] >= 1
    assert all(0 < step["seconds"] < 30 for step in answer["steps"])
    tom, ida = ({hit["doc_id"] for hit in asked["answer"]["hits"]} for asked in answer["answers"])
    assert "people/pay-review-2026.pdf" in ida
    assert not any(doc.startswith("people/") for doc in tom)
    pages = [h["page"] for h in answer["answers"][1]["answer"]["hits"] if h["doc_id"].endswith(".pdf")]
    assert all(pages)


def test_the_demo_works_twice_and_leaves_its_lake(upwell):
    check(upwell.json("demo", "--embedder", "hash", timeout=120))
    answer = upwell.json("demo", "--embedder", "hash", timeout=120)
    check(answer)
    search, show, _ = answer["next"]
    for command in (search, show):
        _, *words = shlex.split(command)
        done = upwell(*words)
        assert "time-off.md" in done.stdout


def test_the_demo_tells_a_person_what_happened(upwell):
    out = upwell("demo", "--embedder", "hash", timeout=120).stdout
    for part in (
        "edit a paragraph",
        "rename a file",
        "revoke a group",
        "delete a file",
        "tom",
        "ida",
        "The lake stays in",
    ):
        assert part in out


def test_the_demo_refuses_while_another_process_follows_its_lake(upwell, run):
    upwell.json("demo", "--embedder", "hash", timeout=120)
    running = run("upwell-demo/harbor-and-pine", "--lake", "upwell-demo/lake")
    running.ready()
    refused = upwell("demo", "--embedder", "hash", status=2, timeout=120)
    assert str(running.process.pid) in refused.stderr
    assert json.loads(upwell("status", "--lake", "upwell-demo/lake", "--json").stdout)["sources"]
