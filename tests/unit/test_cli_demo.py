"""The demo's folder and its changes, without a lake."""

from pathlib import Path

import pytest

from upwell.access import reader
from upwell.answers import ChunkCounts
from upwell.cli import demo_folder
from upwell.cli.demo import next_commands
from upwell.cli.demo_steps import ACCESS, LETTER, MINUTES, RENAMED, TRAVEL, changes, difference
from upwell.errors import Misconfigured


def listing(folder):
    return {str(p.relative_to(folder)): p.read_bytes() for p in folder.rglob("*") if p.is_file()}


def test_a_second_demo_starts_from_the_same_folder(tmp_path):
    company = demo_folder.lay_out(tmp_path / "demo")
    first = listing(company)
    (company / "extra.md").write_text("left over")
    (tmp_path / "demo" / "lake").mkdir()
    (tmp_path / "demo" / "mine.txt").write_text("not the demo's")
    assert listing(demo_folder.lay_out(tmp_path / "demo")) == first
    assert not (tmp_path / "demo" / "lake").exists()
    assert (tmp_path / "demo" / "mine.txt").exists()


def test_the_copy_is_the_sample_with_its_access_files(tmp_path):
    company = demo_folder.lay_out(tmp_path / "demo")
    assert (company / ".upwell-access.yaml").is_file()
    assert not list(company.rglob("__pycache__"))
    assert len(listing(company)) > 20


def test_a_folder_of_somebody_else_is_left_alone(tmp_path):
    (tmp_path / "thesis.docx").write_text("years of work")
    with pytest.raises(Misconfigured, match="--dir"):
        demo_folder.lay_out(tmp_path)
    assert (tmp_path / "thesis.docx").read_text() == "years of work"


def test_an_empty_folder_may_be_used(tmp_path):
    assert demo_folder.lay_out(tmp_path).is_dir()


def test_each_change_changes_what_it_names(tmp_path):
    """Every text that a change looks for stands in the sample: an edit of the sample that breaks the demo fails here."""
    company = demo_folder.lay_out(tmp_path / "demo")
    before = listing(company)
    for change in changes("user:me"):
        change.make(company)
    after = listing(company)
    assert b"45 euros a day" in after[TRAVEL]
    assert b"38 euros a day" in before[TRAVEL]
    assert after[RENAMED] == before[MINUTES]
    assert MINUTES not in after
    assert b"partners" in before[ACCESS]
    assert b"group:partners" not in after[ACCESS]
    assert b"group:staff" in after[ACCESS]
    assert LETTER not in after


def test_who_asks_could_see_it_before():
    """A change that hides is measured with a reader who is not its owner only where the reader was admitted."""
    by_name = {change.name: change for change in changes("user:me")}
    assert by_name["revoke a group"].who == reader("user:noa", "group:partners")
    assert "user:me" in by_name["delete a file"].who


def test_costs_are_differences_of_totals():
    after, before = ChunkCounts(kept=5, embedded=9, removed=2), ChunkCounts(kept=1, embedded=8)
    assert difference(after, before) == ChunkCounts(kept=4, embedded=1, removed=2)


def test_the_next_commands_quote_what_a_shell_would_split():
    for command in next_commands(Path("my lake"), Path("/x/my docs")):
        assert "--lake 'my lake'" in command
    assert next_commands(Path("l"), Path("/x/my docs"))[2].split(" run ")[1].startswith("'/x/my docs'")
