"""The gateway's page shows settings that load and events that are taken."""

import re
from pathlib import Path

import pytest

from gateways import NOW
from upwell.config import load
from upwell.sources.offers import Offer, events_of
from upwell.sources.terms import check, terms_of

PAGE = (Path(__file__).parents[2] / "docs" / "gateway.md").read_text(encoding="utf-8")


def blocks(language):
    return re.findall(rf"^```{language}\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)


@pytest.fixture
def settings(tmp_path):
    (shown,) = blocks("toml")
    path = tmp_path / "upwell.toml"
    path.write_text(shown, encoding="utf-8")
    return load(config=path)


def test_the_settings_shown_work(settings):
    assert settings.sources.keys() == {"notes", "handbook", "wiki"}
    for name, source in settings.sources.items():
        check(name, source)


def test_the_events_shown_are_taken(settings):
    terms = terms_of("notes", settings.sources["notes"])
    taken = [event for shown in blocks("json") for event in events_of(shown.encode(), terms, NOW)]
    assert {str(event.op) for event in taken} == {"upsert", "acl", "delete", "erase"}


def test_no_field_is_shown_that_there_is_not():
    table = PAGE[PAGE.index("| Field | |") : PAGE.index("The answer is 202")]
    named = {name for line in table.split("\n|") for name in re.findall(r"`([a-z_]+)`", line.split("|")[0])}
    assert named
    assert named <= set(Offer.__struct_fields__)
