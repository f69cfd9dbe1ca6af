"""docs/parsing.md says what the code does: formats, statuses, settings, limits, extras, reasons; its examples parse."""

import re
import shlex
import tomllib
from pathlib import Path

import msgspec
import pytest
import typer

from upwell.cli.app import app
from upwell.config import Settings
from upwell.parse.limits import DEFAULT_LIMITS, MIB
from upwell.parse.policy import ParsePolicy
from upwell.records import ParseStatus
from upwell.runtime.checkup_parsers import EXTRAS, formats

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "parsing.md").read_text(encoding="utf-8")


def section(title):
    return re.search(rf"^## {re.escape(title)}\n(.*?)(?=^## |\Z)", PAGE, re.MULTILINE | re.DOTALL)[1]


def first_cells(text):
    """What stands in backquotes in the first cell of each row."""
    return {
        word
        for line in text.splitlines()
        if line.startswith("|")
        for word in re.findall(r"`([^`]+)`", line.split("|")[1])
    }


def test_every_format_that_is_read_has_its_row_and_no_other():
    assert first_cells(section("What reads what")) == set(formats())
    assert "| picture files |" in section("What reads what")


def test_every_status_says_what_becomes_of_the_document():
    assert first_cells(section("How it can end")) == {str(status) for status in ParseStatus}


def test_every_decision_of_the_policy_has_its_setting():
    """The office's decisions bear its name in the settings; the rest are called the same."""
    names = first_cells(section("Settings"))
    wanted = {f"office_{name}" if name in {"comments", "revisions"} else name for name in ParsePolicy.__struct_fields__}
    assert wanted <= names
    assert names - set(EXTRAS) <= Settings.model_fields.keys()


def test_every_limit_stands_there_with_its_default():
    rows = dict(re.findall(r"^\| `(\w+)` \| ([^|]+?) \|", section("The sandbox"), re.MULTILINE))
    assert rows == {name: written(name, value) for name, value in msgspec.structs.asdict(DEFAULT_LIMITS).items()}


def written(name, value):
    return (
        f"{value // MIB} MiB"
        if name.endswith("_bytes")
        else f"{value:,g}"
        if isinstance(value, float)
        else f"{value:,}"
    )


def test_extras_of_the_page_are_the_packages():
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["optional-dependencies"]
    assert set(EXTRAS) <= first_cells(section("Settings")) & extras.keys()


def test_the_reasons_of_the_example_are_explained():
    shown = set(re.findall(r"left out: (\w+)", PAGE)) - {"0"}
    assert shown
    assert shown <= first_cells(section("Looking at it"))


@pytest.mark.parametrize("example", re.findall(r"^\$ (upwell .*)$", PAGE, re.MULTILINE))
def test_every_example_parses(example):
    _, command, *words = shlex.split(example)
    typer.main.get_command(app).commands[command].make_context(command, words)


def test_links_lead_somewhere():
    links = re.findall(r"\]\((?!http)([^)#]+)\)", PAGE)
    assert links
    assert [link for link in links if not (ROOT / "docs" / link).exists()] == []
