"""The event log on each of its databases: what it promises holds on both."""

import pytest

from upwell.runtime.eventlog import EventLog


@pytest.fixture(params=["sqlite", pytest.param("postgresql", marks=pytest.mark.integration)])
def log(request, tmp_path):
    where = tmp_path / "log.sqlite" if request.param == "sqlite" else request.getfixturevalue("postgres_url")
    opened = EventLog.at(where, clock=lambda: 99)
    yield opened
    opened.close()
