"""Faust warns of idle partitions as if they were stuck: none of its lines comes out, by whatever name it logs."""

import logging

import pytest

from upwell.logs import LOGGER
from upwell.runtime.stream import faust_app

PARTS = [faust_app.LineApp, faust_app._Consumer, faust_app._ConsumerThread]


@pytest.mark.parametrize("part", PARTS)
def test_parts_of_faust_that_are_ours_are_as_quiet_as_its_own(part, caplog, monkeypatch):
    for name in ("faust", "mode", "aiokafka", "asyncio", part.logger.name):  # as they were, for other tests
        monkeypatch.setattr(logging.getLogger(name), "propagate", True)
        monkeypatch.setattr(logging.getLogger(name), "handlers", [])
    monkeypatch.setattr(LOGGER, "propagate", True)
    faust_app.quiet()
    part.logger.error("Aiokafka has not sent fetch request for a partition since start")
    assert caplog.records == []
