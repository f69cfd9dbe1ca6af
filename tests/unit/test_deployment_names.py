"""Names in the deployment files are names of the code: settings, topics, metrics, and nobody's registry."""

import re
import shlex

import pytest

from deployment import ROOT, VARIABLES, files, parsed
from upwell.metrics import METRICS, Histogram
from upwell.runtime.stream import topics

TEXTS = {path.relative_to(ROOT).as_posix(): path.read_text() for path in files()}
SERIES = {m.name for m in METRICS} | {
    f"{m.name}_{part}" for m in METRICS if isinstance(m, Histogram) for part in ("bucket", "sum", "count")
}


@pytest.mark.parametrize("name", TEXTS)
def test_every_variable_is_a_setting(name):
    assert set(re.findall(r"\bUPWELL_[A-Z][A-Z_]*", TEXTS[name])) <= VARIABLES


@pytest.mark.parametrize("name", TEXTS)
def test_every_topic_exists(name):
    assert set(re.findall(r"\bupwell\.[a-z.]+\.v\d+", TEXTS[name])) <= set(topics.ALL)


@pytest.mark.parametrize("name", TEXTS)
def test_every_metric_exists(name):
    assert set(re.findall(r"\bupwell_[a-z_]+", TEXTS[name])) <= SERIES


@pytest.mark.parametrize("name", TEXTS)
def test_no_file_names_a_registry_host(name):
    """Images go by their short names; whoever has a registry of their own names it in an overlay."""
    assert re.findall(r"^\s*(?:FROM|image:|-? ?newName:)\s+[\w-]+\.[\w.-]+/\S*", TEXTS[name], re.MULTILINE) == []


NAMED = re.compile(r"(?:`upwell ([a-z][^`…]*)`|gateway upwell (.*))")
COMMANDS = sorted({"".join(words) for text in TEXTS.values() for words in NAMED.findall(text)})


@pytest.mark.parametrize("words", COMMANDS)
def test_every_command_that_the_texts_name_parses(words):
    path, _ = parsed(shlex.split(words))
    assert path != "upwell"


def test_links_of_the_page_lead_somewhere():
    links = re.findall(r"\]\((?!http)([^)#]+)\)", TEXTS["docs/deploying.md"])
    assert links
    assert [link for link in links if not (ROOT / "docs" / link).exists()] == []


def test_the_patterns_above_find_what_they_look_for():
    """Were a pattern wrong, its test would hold for every file."""
    everything = "\n".join(TEXTS.values())
    assert set(re.findall(r"\bupwell\.[a-z.]+\.v\d+", everything)) >= set(topics.LANED)
    assert len(set(re.findall(r"\bUPWELL_[A-Z][A-Z_]*", everything))) > 10
    assert set(re.findall(r"\bupwell_[a-z_]+", everything))
