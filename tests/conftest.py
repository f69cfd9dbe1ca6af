"""Stands here so that `tests/` is on the import path: samples are shared between kinds of tests."""

import gc

import pytest

from broker import kafka, kafka_of_session  # noqa: F401
from chromium import chromium, tab  # noqa: F401
from leaving import _all_left  # noqa: F401
from postgres import postgres, postgres_url  # noqa: F401
from upwell.logs import LOGGER

AS_MADE = LOGGER.handlers[:], LOGGER.level, LOGGER.propagate


@pytest.hookimpl(wrapper=True)
def pytest_collection():
    """What is imported and collected stays: to look for garbage in it took a quarter of this time, and some later."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()


@pytest.fixture(autouse=True)
def _logger_as_it_was_made():
    """A command that runs inside a test, or in a fixture of many, sets the logger up for itself alone."""
    LOGGER.handlers[:], LOGGER.level, LOGGER.propagate = AS_MADE
    yield
    LOGGER.handlers[:], LOGGER.level, LOGGER.propagate = AS_MADE
