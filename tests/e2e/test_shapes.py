"""The JSON that others build on, exactly as the design fixes it."""

import getpass
import re

import pytest

pytestmark = pytest.mark.e2e
RFC3339 = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z")
GUIDE = (
    "# Guide\n\n## Leave\n\nEverybody takes twenty weeks of parental leave.\n\n## Kiln\n\nLarch dries eleven days.\n"
)
DOCUMENTS = {"seen", "new", "changed", "unchanged", "renamed", "acl_changed", "deleted", "dead"}
CHUNKS = {"kept", "reused", "embedded", "removed"}
HIT = {
    "citation",
    "rank",
    "score",
    "source",
    "doc_id",
    "version",
    "title",
    "url",
    "heading_path",
    "page",
    "bbox",
    "text",
    "chunk_key",
    "modified_at",
    "searchable_at",
    "stale_since",
    "why",
}


def test_ingest(upwell):
    docs = upwell.write({"guide.md": GUIDE, "other.md": "Something else about boats."})
    first = upwell.json("ingest", docs)
    assert {"documents", "chunks", "tokens_embedded", "seconds"} <= set(first)
    assert set(first["documents"]) == DOCUMENTS
    assert set(first["chunks"]) == CHUNKS
    assert first["documents"] | {"seen": 2, "new": 2, "dead": 0} == first["documents"]
    assert first["chunks"]["embedded"] >= 2
    assert first["tokens_embedded"] > 0
    again = upwell.json("ingest", docs)
    assert again["documents"] | {"seen": 2, "new": 0, "changed": 0, "unchanged": 2} == again["documents"]
    assert again["chunks"]["embedded"] == 0


def test_search(upwell):
    upwell("ingest", upwell.write({"guide.md": GUIDE}))
    answer = upwell.json("search", "parental leave", "-k", "1")
    assert set(answer) == {"query", "as_of", "hits"}
    assert RFC3339.fullmatch(answer["as_of"])
    (hit,) = answer["hits"]
    assert set(hit) >= HIT
    assert hit["rank"] == 1
    assert (hit["source"], hit["doc_id"]) == ("docs", "guide.md")
    assert hit["heading_path"][-1] == "Leave"
    assert "twenty weeks" in hit["text"]
    assert " ".join(hit["text"].split()) in " ".join(GUIDE.replace("#", "").split()), "the source's words, no prefix"
    assert hit["citation"].startswith("docs/guide.md")
    assert RFC3339.fullmatch(hit["modified_at"])
    assert RFC3339.fullmatch(hit["searchable_at"])
    assert hit["stale_since"] is None


def test_show(upwell):
    upwell("ingest", upwell.write({"guide.md": GUIDE}))
    answer = upwell.json("show", "guide.md")
    assert {"doc_id", "source", "version", "deleted", "acl", "lineage", "history", "chunks"} <= set(answer)
    assert answer["deleted"] is False
    assert answer["acl"]["levels"] == [[f"user:{getpass.getuser()}"]]
    assert [chunk["ordinal"] for chunk in answer["chunks"]] == list(range(len(answer["chunks"])))
    for chunk in answer["chunks"]:
        assert {"chunk_key", "ordinal", "text", "tokens", "heading_path", "page", "spans"} <= set(chunk)
        assert chunk["tokens"] > 0
    assert "twenty weeks" in " ".join(chunk["text"] for chunk in answer["chunks"])
    assert answer["history"]


def test_status(upwell):
    upwell("ingest", upwell.write({"guide.md": GUIDE}))
    answer = upwell.json("status")
    (source,) = answer["sources"]
    assert {"source", "documents", "chunks", "watermark", "staleness_s", "pending", "dead"} <= set(source)
    assert (source["source"], source["documents"], source["pending"], source["dead"]) == ("docs", 1, 0, 0)
    assert RFC3339.fullmatch(source["watermark"])
    assert source["staleness_s"] >= 0
    assert answer["embedder"].startswith("hash")


def test_dead_letters(upwell):
    docs = upwell.write({"broken.pdf": "%PDF-1.7 and then nothing of the kind", "fine.md": GUIDE})
    answer = upwell.json("ingest", docs)
    assert answer["documents"]["dead"] == 1
    (letter,) = upwell.json("dead", "list")
    assert set(letter) >= {"id", "doc_id", "stage", "reason", "detail", "attempts", "at"}
    assert letter["doc_id"] == "broken.pdf"
    assert letter["reason"] == "corrupt"
    assert RFC3339.fullmatch(letter["at"])
    assert upwell.json("dead", "show", str(letter["id"])) == letter
    assert upwell.json("dead", "replay", str(letter["id"])) == {"replayed": 1}
    upwell("dead", "show", "999999", status=1)


def test_strict_makes_a_refused_document_a_failure(upwell):
    docs = upwell.write({"broken.pdf": "%PDF-1.7 and then nothing of the kind"})
    upwell("ingest", docs, "--strict", status=1)


def test_explain_writes_nothing(upwell):
    docs = upwell.write({"guide.md": GUIDE})
    answer = upwell.json("explain", docs / "guide.md")
    assert {"status", "reason", "media_type", "title", "pages", "parser", "blocks", "chunks", "dropped"} <= set(answer)
    assert answer["status"] == "ok"
    assert answer["title"] == "Guide"
    covered = {
        (span["block"], at)
        for part in (*answer["chunks"], *answer["dropped"])
        for span in part["spans"]
        for at in range(span["start"], span["end"])
    }
    assert covered >= {(n, at) for n, block in enumerate(answer["blocks"]) for at in range(len(block["text"]))}
    assert not (upwell.home / ".upwell").exists()


def test_explain_of_several_files_is_one_list(upwell):
    docs = upwell.write({"guide.md": GUIDE, "broken.pdf": "%PDF-1.7 and then nothing of the kind", "none.txt": ""})
    files = [docs / name for name in ("guide.md", "broken.pdf", "none.txt")]
    answers = upwell.json("explain", *files)
    assert [answer["name"] for answer in answers] == [str(file) for file in files]
    assert [answer["status"] for answer in answers] == ["ok", "corrupt", "empty"]
    assert answers[1]["reason"]


def test_explain_shows_people_a_tree_and_that_every_character_is_accounted_for(upwell):
    shown = upwell("explain", upwell.write({"guide.md": GUIDE}) / "guide.md").stdout
    for part in ("status: ok", "parser: markdown", "chunk 0", "0 unaccounted"):
        assert part in shown


def test_explain_writes_the_page_that_is_asked_for_and_nothing_else(upwell):
    docs = upwell.write({"guide.md": GUIDE})
    done = upwell("explain", docs / "guide.md", "--html", "guide.html")
    assert done.stdout == ""
    assert done.stderr == "wrote guide.html: 0 pages drawn\n"
    assert (upwell.home / "guide.html").read_text(encoding="utf-8").startswith("<!DOCTYPE html>")
    assert {path.name for path in upwell.home.iterdir()} == {"docs", "guide.html"}
    assert upwell.json("explain", docs / "guide.md", "--html", "again.html")["status"] == "ok"


def test_explain_reads_by_the_settings_limits(upwell):
    """A file that takes longer than `parse_timeout_s` is a status, not a failure."""
    docs = upwell.write({"long.md": "Paragraph *of* [many](x) `words`.\n\n" * 200_000})
    answer = upwell.json("explain", docs / "long.md", UPWELL_PARSE_TIMEOUT_S="0.05")
    assert answer["status"] == "timed_out"


def test_erase(upwell):
    upwell("ingest", upwell.write({"guide.md": GUIDE}))
    upwell("erase", "guide.md", "--json", status=2)
    answer = upwell.json("erase", "guide.md", "--yes")
    assert {"doc_id", "source", "removed", "remaining"} <= set(answer)
    assert answer["remaining"] == []
    assert upwell.found("parental leave") == set()


def test_doctor_finds_this_installation_sound(upwell):
    checks = upwell.json("doctor")
    assert checks
    assert {check["state"] for check in checks} <= {"ok", "missing"}
    assert not (upwell.home / ".upwell").exists()
