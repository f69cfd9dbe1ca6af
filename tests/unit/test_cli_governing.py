"""What `principals`, `approve` and `status` print for people, and which usage they refuse."""

import pytest
from typer.testing import CliRunner

from upwell.answers import ApproveAnswer, MemberAnswer, SourceStatus, StatusAnswer, WaitingDeletes
from upwell.cli import approve, directory, status
from upwell.cli.app import app
from upwell.cli.output import console

ANA = MemberAnswer(tenant="default", principal="user:ana", member_of=("group:eng", "group:staff"), version=3)
DELETES = WaitingDeletes(tenant="default", source="docs", documents=1200, since="2026-03-04T05:06:07.000000Z")


def drawn(view, capsys):
    import sys

    console(sys.stdout).print(view)
    return capsys.readouterr().out


def source(**rest):
    return SourceStatus(
        tenant="default",
        source="docs",
        documents=9,
        chunks=9,
        watermark=None,
        staleness_s=None,
        pending=0,
        dead=0,
        **rest,
    )


def state_of(*sources):
    return StatusAnswer(lake="/lake", embedder="hash", pipeline="p", owner="run", sources=sources)


def test_a_principal_is_shown_with_its_groups(capsys):
    assert directory.line(ANA) == "user:ana is in group:eng, group:staff"
    assert directory.line(MemberAnswer(tenant="t", principal="user:b", member_of=(), version=1)) == (
        "user:b is in no group"
    )
    gone = MemberAnswer(tenant="t", principal="user:b\x1b[2J", member_of=(), version=1, gone=True)
    assert "\x1b" not in directory.line(gone)
    assert "group:eng, group:staff" in drawn(directory.view((ANA,)), capsys)


def test_what_was_approved_or_kept_is_a_line_a_source():
    assert approve.lines(ApproveAnswer(sources=(DELETES,))) == [
        "docs: 1,200 documents are deleted (waited since 2026-03-04 05:06:07)"
    ]
    assert "documents stay" in approve.lines(ApproveAnswer(sources=(DELETES,), discarded=True))[0]


def test_status_counts_unconfirmed_rights_where_there_are_some(capsys):
    assert "unconfirmed" not in drawn(status.view(state_of(source())), capsys)
    shown = drawn(status.view(state_of(source(acl_missing=12, acl_hidden=3), source())), capsys)
    assert "unconfirmed rights" in shown
    assert "12 (3 hidden)" in shown


@pytest.mark.parametrize(
    "words",
    [
        ["set", "team:eng"],
        ["set", "everyone"],
        ["set", ""],
        ["set", "ana", "--group", "everyone"],
        ["set", "ana", "--group", "user:eve"],
        ["set", "ana", "--group", "eng", "--gone"],
        ["set", "ana\x1b"],
    ],
)
def test_what_is_no_membership_is_refused_before_a_lake_is_made(words, tmp_path):
    ran = CliRunner().invoke(app, ["principals", *words, "--lake", str(tmp_path / "lake")])
    assert ran.exit_code != 0
    assert not (tmp_path / "lake").exists()
