"""The documents say what the commands are, and their examples are commands that exist."""

import importlib.util
import re
import shlex
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")


def tool(name):
    spec = importlib.util.spec_from_file_location(name, ROOT / "tools" / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


docs = tool("make_docs")
COMMANDS = docs.commands()
LEAVES = [(path, command) for path, command in COMMANDS if not getattr(command, "commands", None)]


@pytest.mark.parametrize("target", docs.PAGES, ids=lambda target: target.name)
def test_generated_pages_are_current(target):
    assert target.read_text(encoding="utf-8") == docs.PAGES[target](), "run python tools/make_docs.py"


def test_every_setting_says_what_it_is_for():
    assert [name for name, field in docs.Settings.model_fields.items() if not field.description] == []


@pytest.mark.parametrize("path", [path for path, _ in LEAVES])
def test_the_readme_names_every_command(path):
    assert f"`{path}" in README


@pytest.mark.parametrize(("path", "command"), LEAVES, ids=[path for path, _ in LEAVES])
def test_every_option_says_what_it_does_and_every_command_has_an_example(path, command):
    assert all(parameter.help for parameter in command.params)
    assert f"  {path}" in command.epilog


@pytest.mark.parametrize(("path", "command"), LEAVES, ids=[path for path, _ in LEAVES])
def test_every_command_takes_the_three_common_options(path, command):
    options = {option for parameter in command.params for option in parameter.opts}
    assert {"--lake", "--config", "--json"} <= options


def examples():
    yield from re.findall(r"^\$ (upwell .*)$", README, re.MULTILINE)
    for _, command in COMMANDS:
        yield from re.findall(r"^ *(upwell .*)$", command.epilog or "", re.MULTILINE)


@pytest.mark.parametrize("example", sorted(set(examples())))
def test_every_example_parses(example):
    """Resolve the command by its words, then parse the rest strictly: a wrong option raises."""
    _, *words = shlex.split(example)
    command = dict(COMMANDS)["upwell"]
    path = "upwell"
    while getattr(command, "commands", None):
        path = f"{path} {words[0]}"
        command = command.commands[words.pop(0)]
    command.make_context(path, words)


def test_links_of_the_readme_lead_somewhere():
    links = re.findall(r"\]\((?!http)([^)#]+)\)", README)
    assert links
    assert [link for link in links if not (ROOT / link).exists()] == []


def test_the_readme_shows_the_access_file_that_the_design_fixes():
    assert 'files: {"salaries*.xlsx": {allow: [group:hr]}}' in README
