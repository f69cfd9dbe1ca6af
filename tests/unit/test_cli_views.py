"""What people see: views are functions of answers."""

import io

import msgspec
import pytest
from rich.console import Console

from upwell.answers import (
    Check,
    ChunkCounts,
    DeadAnswer,
    DocumentCounts,
    EraseAnswer,
    HistoryLine,
    Hit,
    IngestAnswer,
    Scope,
    SearchAnswer,
    ShowAnswer,
    ShownAcl,
    ShownChild,
    ShownChunk,
    SourceStatus,
    StatusAnswer,
)
from upwell.cli import dead, demo, demo_steps, doctor, erase, explain_view, ingest, search, show, status

AT = "2026-03-04T05:06:07.000000Z"
HOSTILE = "\x1b]0;owned\x07[bold]x[/bold]:smile:"
SHOWN = "␛]0;owned␇[bold]x[/bold]:smile:"


def drawn(view):
    """The view as a console without colours prints it."""
    out = io.StringIO()
    Console(file=out, width=200, markup=False, highlight=False, emoji=False).print(view)
    return out.getvalue()


HIT = Hit(
    citation="docs/a.md > Pay (p. 2)",
    rank=1,
    score=0.5,
    tenant="default",
    source="docs",
    doc_id="a.md",
    version=7,
    title="Pay",
    url=None,
    heading_path=("Pay",),
    page=2,
    bbox=None,
    text="Raises come in March.",
    chunk_key="k",
    modified_at=AT,
    searchable_at=AT,
    stale_since=None,
    stale_reason=None,
    lineage={},
    why={},
)
SHOW = ShowAnswer(
    doc_id="a.md",
    tenant="default",
    source="docs",
    version=7,
    deleted=False,
    moved_to=None,
    title="Pay",
    url=None,
    media_type="text/markdown",
    status="ok",
    stale_since=None,
    stale_reason=None,
    modified_at=AT,
    searchable_at=AT,
    acl=ShownAcl(
        levels=(("group:staff",), ("group:hr", "user:ana")), deny=("group:contractors",), acl_version=3, pending=0
    ),
    lineage={"parser": "markdown 1", "choice": "fuller text than the other"},
    history=(HistoryLine(at=AT, op="upsert", version=7, acl_version=3, outcome="applied", detail="first"),),
    chunks=(
        ShownChunk(
            chunk_key="k",
            ordinal=0,
            text="Raises come in March.",
            tokens=5,
            heading_path=("Pay",),
            page=2,
            spans=((0, 0, 21),),
        ),
    ),
)
STATUS = StatusAnswer(
    lake="/lake",
    embedder="minilm",
    pipeline="p",
    owner="run, pid 7",
    sources=(
        SourceStatus(
            tenant="default",
            source="docs",
            documents=1234,
            chunks=5,
            watermark=AT,
            staleness_s=0.4,
            pending=2,
            dead=1,
            warnings=("access file not understood",),
        ),
    ),
)
LETTER = DeadAnswer(
    id=7,
    tenant="default",
    source="docs",
    doc_id="b.pdf",
    stage="parse",
    reason="encrypted",
    detail="needs a password",
    attempts=1,
    at=AT,
)


def grid_of(words):
    return {"rows": 1, "cols": 1, "cells": [{"row": 0, "col": 0, "text": words, "header": True}]}


def test_a_hit_shows_citation_words_and_freshness():
    text = drawn(search.view(SearchAnswer(query="q", as_of=AT, hits=(HIT,))))
    for part in ("1  docs/a.md > Pay (p. 2)", "Raises come in March.", "changed 2026-03-04 05:06:07", "score 0.500"):
        assert part in text


def test_a_stale_hit_says_since_when_and_why():
    stale = msgspec.structs.replace(HIT, stale_since=AT, stale_reason="corrupt")
    assert "STALE since 2026-03-04 05:06:07 (corrupt)" in search.freshness(stale)


@pytest.mark.parametrize(
    "view",
    [
        lambda t: search.view(
            SearchAnswer(query="q", as_of=AT, hits=(msgspec.structs.replace(HIT, citation=t, text=t, stale_reason=t),))
        ),
        lambda t: show.view(msgspec.structs.replace(SHOW, title=t, doc_id=t, url=t, lineage={t: t})),
        lambda t: status.view(
            msgspec.structs.replace(
                STATUS, sources=(msgspec.structs.replace(STATUS.sources[0], source=t, warnings=(t,)),)
            )
        ),
        lambda t: dead.view((msgspec.structs.replace(LETTER, doc_id=t, detail=t),)),
        lambda t: dead.letter_view(msgspec.structs.replace(LETTER, doc_id=t, detail=t)),
        lambda t: explain_view.view(
            {
                "status": "ok",
                "title": t,
                "parser": t,
                "choice": t,
                "reason": t,
                "blocks": [
                    {"kind": "heading", "text": t, "left_out": t},
                    {"kind": "table", "text": t, "table": grid_of(t)},
                ],
                "chunks": [{"tokens": 1, "text": t, "heading_path": [t], "spans": []}],
                "dropped": [{"reason": t, "spans": [{"block": 0, "start": 0, "end": 99}]}],
                "children": [{"name": t}],
            },
            t,
        ),
        lambda t: doctor.view((Check(name=t, state="ok", detail=t, remedy=t),)),
        lambda t: demo.asked_view(
            demo_steps.PEOPLE[0], SearchAnswer(query="q", as_of=AT, hits=(msgspec.structs.replace(HIT, text=t),))
        ),
    ],
    ids=["search", "show", "status", "dead", "letter", "explain", "doctor", "demo"],
)
def test_hostile_words_are_shown_literally(view):
    """Escape sequences become visible, and neither markup nor emoji codes are obeyed."""
    text = drawn(view(HOSTILE))
    assert SHOWN in text
    assert "\x1b" not in text
    assert "\x07" not in text


def test_a_document_shows_its_levels_history_and_chunks():
    text = drawn(show.view(SHOW))
    for part in (
        "docs/a.md (tenant default)",
        "one of group:staff",
        "and one of group:hr, user:ana",
        "never group:contractors",
        "parser: markdown 1",
        "choice: fuller text than the other",
        "upsert",
        "Raises come in March.",
    ):
        assert part in text


def test_a_document_lists_what_it_carries():
    child = ShownChild(
        doc_id="a.md!/b.bin",
        title=None,
        media_type=None,
        status="unsupported",
        reason="no parser",
        pages=None,
        chunks=0,
    )
    assert "inside" not in drawn(show.view(SHOW))
    text = drawn(show.view(msgspec.structs.replace(SHOW, children=(child,))))
    for part in ("inside", "a.md!/b.bin", "unsupported", "no parser"):
        assert part in text


def test_no_levels_read_as_nobody():
    assert show.acl_lines(ShownAcl(levels=(), deny=(), acl_version=0, pending=1))[0].startswith("nobody")


def test_a_moved_document_says_where_it_went():
    assert "moved to new.md" in drawn(show.view(msgspec.structs.replace(SHOW, deleted=True, moved_to="new.md")))


def test_status_shows_counts_staleness_and_warnings():
    text = drawn(status.view(STATUS))
    for part in ("minilm", "run, pid 7", "1,234", "0.4 s", "2026-03-04 05:06:07", "docs: access file not understood"):
        assert part in text


def test_status_of_a_distributed_lake_shows_how_events_ended_and_who_has_messages_waiting():
    answer = msgspec.structs.replace(
        STATUS, outcomes={"applied": 1200, "dead": 1}, lag={"upwell-embed-live": 3, "upwell-parse-live": 0}
    )
    lines = drawn(status.view(answer)).splitlines()
    assert "events: 1,200 applied, 1 dead" in [line.strip() for line in lines]
    assert "waiting: 3 upwell-embed-live" in [line.strip() for line in lines]
    assert "events:" not in drawn(status.view(STATUS))


def test_a_message_that_nobody_could_read_has_no_document_and_no_source():
    lost = msgspec.structs.replace(LETTER, tenant="", source="", doc_id="", replayable=False)
    assert "(an unreadable message)" in drawn(dead.view((lost,)))
    source = msgspec.structs.replace(STATUS.sources[0], tenant="", source="")
    lines = drawn(status.view(msgspec.structs.replace(STATUS, sources=(source,)))).splitlines()
    assert any(line.strip().startswith("(an unreadable message) ") for line in lines)
    assert ["replayable", "no"] in [line.split() for line in drawn(dead.letter_view(lost)).splitlines()]


def test_a_dry_run_lists_what_would_be_meant_and_says_that_nothing_was_changed(capsys):
    dead.would((LETTER,), "discarded", as_json=False)
    out, err = capsys.readouterr()
    assert LETTER.doc_id in out
    assert err == "dry run: 1 would be discarded; nothing was changed\n"


@pytest.mark.parametrize(
    ("seconds", "words"),
    [(None, "unknown"), (0.44, "0.4 s"), (99, "99 s"), (120, "2.0 min"), (7200, "2.0 h"), (172800, "2 d")],
)
def test_durations_read_well(seconds, words):
    assert status.duration(seconds) == words


def test_an_ingest_tells_only_the_counts_that_are_not_zero():
    answer = IngestAnswer(
        documents=DocumentCounts(seen=4, new=3, dead=1),
        chunks=ChunkCounts(kept=2, embedded=9),
        tokens_embedded=1200,
        seconds=1.5,
    )
    text = drawn(ingest.view(answer))
    assert "4 seen" in text
    assert "3 new, 1 dead" in text
    assert "2 kept, 9 embedded" in text
    assert "1,200 tokens embedded" in text


def test_a_second_ingest_says_that_there_was_nothing_to_do():
    assert ingest.said(DocumentCounts(seen=4), without="seen") == "nothing to do"


def test_an_erasure_names_what_went_and_what_remains():
    answer = EraseAnswer(doc_id="a.md", source="docs", removed={"points": 3}, remaining=("backup",))
    assert erase.lines(answer) == ["erased docs/a.md: 3 points", "remains: backup"]


def test_a_dry_run_lists_what_would_go_and_what_would_be_left_alone():
    answer = EraseAnswer(
        doc_id="", source="", removed={"points": 3}, remaining=(), scope=Scope.PRINCIPAL, name="user:ana", documents=0,
        dry_run=True, listed=tuple(f"docs/{n}.md" for n in range(22)), warnings=("stays in audit: ids",),
    )  # fmt: skip
    first, *rest = erase.lines(answer)
    assert first == "would erase principal user:ana (0 documents): 3 points"
    assert rest[0] == "left alone: docs/0.md"
    assert rest[-2:] == ["left alone: 2 more", "note: stays in audit: ids"]


@pytest.mark.parametrize(
    ("options", "scope", "name", "tenant"),
    [
        ({"doc": "a.md"}, Scope.DOCUMENT, "a.md", "default"),
        ({"doc": "a.md", "source": "wiki", "tenant": "acme"}, Scope.DOCUMENT, "a.md", "acme"),
        ({"source": "wiki"}, Scope.SOURCE, "wiki", "default"),
        ({"source": "wiki", "tenant": "acme"}, Scope.SOURCE, "wiki", "acme"),
        ({"tenant": "acme"}, Scope.TENANT, "acme", "acme"),
        ({"principal": "ana", "tenant": "acme"}, Scope.PRINCIPAL, "user:ana", "acme"),
    ],
)
def test_the_options_of_an_erasure_mean_one_thing(options, scope, name, tenant):
    """A tenant goes whole only when nothing narrower is named."""
    wish = erase.wish_of(**{"doc": None, "source": None, "tenant": None, "principal": None, **options})
    assert (wish.scope, wish.name, wish.tenant) == (scope, name, tenant)


def test_doctor_says_what_to_do():
    text = drawn(
        doctor.view((Check(name="ocr", state="missing", detail="not installed", remedy="pip install upwell[ocr]"),))
    )
    assert "missing" in text
    assert "-> pip install upwell[ocr]" in text


def test_the_demos_table_has_a_line_a_step():
    step = demo_steps.Step(
        change="edit a paragraph",
        path="a.md",
        effect="searchable",
        seconds=0.456,
        chunks=ChunkCounts(kept=3, embedded=1, removed=1),
        tokens_embedded=90,
    )
    text = drawn(demo.steps_view((step,)))
    assert "edit a paragraph" in text
    assert "0.46 s" in text
    assert text.split("0.46 s")[1].split()[:4] == ["3", "0", "1", "1"]
