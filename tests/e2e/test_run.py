"""`run` owns the lake; every other command works beside it; it stops cleanly and resumes."""

import pytest
from command import INTERRUPT, KILL, TERMINATE

pytestmark = pytest.mark.e2e


def test_commands_work_while_run_runs(upwell, run):
    docs = upwell.write({"a.md": "Larch dries slowly."})
    assert run("docs").ready()["documents"]["new"] == 1
    assert upwell.found("larch") == {"a.md"}
    upwell.write({"b.md": "Brass hinges arrive on Monday."})
    upwell.until(lambda: "b.md" in upwell.found("brass hinges"), "a new file is found")
    (docs / "a.md").unlink()
    upwell.until(lambda: "a.md" not in upwell.found("larch"), "a deleted file is hidden")
    assert upwell.json("show", "a.md")["deleted"] is True
    assert upwell.json("status")["sources"][0]["documents"] == 1
    assert upwell.json("dead", "list") == []


def test_a_second_run_says_who_holds_the_lake(upwell, run):
    upwell.write({"a.md": "Larch dries slowly."})
    first = run("docs")
    first.ready()
    refused = upwell("run", "docs", status=2)
    assert str(first.process.pid) in refused.stderr
    assert refused.stderr.count("\n") == 1
    assert upwell.found("larch") == {"a.md"}


@pytest.mark.parametrize(("number", "status"), [(INTERRUPT, 130), (TERMINATE, 0)], ids=["ctrl-C", "SIGTERM"])
def test_it_stops_cleanly_and_resumes(upwell, run, number, status):
    upwell.write({"a.md": "Larch dries slowly."})
    running = run("docs")
    running.ready()
    assert running.end(number) == status
    assert "Traceback" not in running.log.read_text()
    upwell.write({"b.md": "Brass hinges arrive on Monday."})
    answer = run("docs").ready()
    assert answer["documents"] | {"new": 1, "unchanged": 1} == answer["documents"]
    assert upwell.found("larch") == {"a.md", "b.md"}


def test_after_a_kill_the_lake_is_whole_and_free(upwell, run):
    upwell.write({"a.md": "Larch dries slowly."})
    running = run("docs")
    running.ready()
    running.end(KILL)
    assert upwell.found("larch") == {"a.md"}
    assert run("docs").ready()["documents"]["unchanged"] == 1


def test_each_change_is_one_line_of_the_log(upwell, run):
    upwell.write({"a.md": "Larch dries slowly."})
    running = run("docs")
    running.ready()
    upwell.write({"b.md": "Brass hinges."})
    upwell.until(lambda: "b.md" in running.log.read_text(), "the log names the file")
