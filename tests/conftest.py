"""Stands here so that `tests/` is on the import path: samples are shared between kinds of tests."""

from broker import kafka, kafka_of_session  # noqa: F401
from postgres import postgres, postgres_url  # noqa: F401
