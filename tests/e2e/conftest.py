"""The installed command, driven as a person would."""

import pytest
from command import Running, Upwell


@pytest.fixture
def upwell(tmp_path):
    return Upwell(tmp_path)


@pytest.fixture
def run(upwell):
    """Start `upwell run`; whatever still runs at the test's end is killed."""
    started = []

    def start(*words):
        started.append(Running(upwell, *words))
        return started[-1]

    yield start
    for running in started:
        running.close()
