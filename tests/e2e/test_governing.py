"""Memberships and mass deletes by the installed command: alone, and beside a `run` that owns the lake."""

import pytest

pytestmark = pytest.mark.e2e


def test_a_membership_opens_what_its_group_may_read(upwell):
    docs = upwell.write({"a.md": "Larch dries eleven days.", ".upwell-access.yaml": "allow: [group:eng]"})
    upwell("ingest", docs, "--owner", "ana")
    assert upwell.json("search", "larch", "--as", "bob")["hits"] == []
    told = upwell.json("principals", "set", "bob", "--group", "core")
    assert (told["principal"], told["member_of"], told["gone"]) == ("user:bob", ["group:core"], False)
    upwell("principals", "set", "group:core", "--group", "eng")
    assert [hit["doc_id"] for hit in upwell.json("search", "larch", "--as", "bob")["hits"]] == ["a.md"]
    assert [one["principal"] for one in upwell.json("principals", "list")] == ["group:core", "user:bob"]
    upwell("principals", "set", "bob", "--gone")
    assert upwell.json("search", "larch", "--as", "bob")["hits"] == []
    assert upwell.json("search", "larch", "--as", "eve", "--group", "eng")["hits"] == []


def test_a_mass_delete_waits_for_approve(upwell):
    docs = upwell.write({f"{number}.md": f"Larch, {number}." for number in range(20)})
    upwell("ingest", docs)
    for number in range(15):
        (docs / f"{number}.md").unlink()
    assert "upwell approve" in upwell.json("ingest", docs)["warnings"][0]
    assert upwell.json("approve", "--discard", "--source", "other") == {"sources": [], "discarded": True}
    (deletes,) = upwell.json("approve")["sources"]
    assert (deletes["source"], deletes["documents"]) == ("docs", 15)
    (source,) = upwell.json("status")["sources"]
    assert (source["documents"], source["warnings"]) == (5, [])


def test_both_go_through_the_run_that_owns_the_lake(upwell, run):
    """It tells whoever watches that deletes wait, deletes what is approved, and answers by the memberships told."""
    docs = upwell.write({f"{number}.md": f"Larch, {number}." for number in range(40)})
    upwell.write({".upwell-access.yaml": "allow: [group:eng]"})
    running = run(docs, "--owner", "ana")
    running.ready()
    upwell("principals", "set", "ana", "--group", "eng")
    assert upwell.json("principals", "list")[0]["member_of"] == ["group:eng"]
    assert len(upwell.found("larch", "--as", "ana", "-k", "50")) == 40
    for number in range(30):
        (docs / f"{number}.md").unlink()
    upwell.until(lambda: "upwell approve --source docs" in running.log.read_text(), "the run says that deletes wait")
    assert len(upwell.found("larch", "--as", "ana", "-k", "50")) >= 30
    (deletes,) = upwell.json("approve", "--source", "docs")["sources"]
    assert deletes["documents"] >= 20
    upwell.until(lambda: len(upwell.found("larch", "--as", "ana", "-k", "50")) == 10, "they are gone")
