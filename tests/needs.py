"""What a test needs of the machine: where it is missing the test skips, saying what; in CI that is a failure."""

import os
from typing import NoReturn

import pytest


def missing(what: str) -> NoReturn:
    """End the test: `what` names the missing part and how to get it. A failure when the environment has CI=true."""
    if os.environ.get("CI", "").lower() == "true":
        pytest.fail(f"missing in CI: {what}", pytrace=False)
    pytest.skip(what)
