"""Stands here so that `tests/` is on the import path: samples are shared between kinds of tests."""
