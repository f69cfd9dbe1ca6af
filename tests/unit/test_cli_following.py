"""Following on a thread: ready, stopped, failed."""

from pathlib import Path

import pytest

from upwell.answers import IngestAnswer
from upwell.cli.following import Following
from upwell.errors import Misconfigured, Retryable


class Brook:
    """A lake whose following is ready at once and waits for its stop; `error` is raised instead, before or after."""

    def __init__(self, before=None, after=None):
        self.before, self.after = before, after
        self.stopped = False

    def follow(self, folder, *, owner, stop, source, tenant, progress, on_ready, on_change):
        if self.before:
            raise self.before
        on_ready(IngestAnswer(seconds=1.0))
        if self.after:
            raise self.after
        stop.wait()
        self.stopped = True


def following(lake):
    return Following(lake, Path("docs"), owner="user:me")


def test_leaving_stops_the_following_and_waits_for_its_end():
    lake = Brook()
    with following(lake) as it:
        assert it.ready() == IngestAnswer(seconds=1.0)
        assert not lake.stopped
    assert lake.stopped


def test_what_the_first_pass_raises_reaches_the_one_who_waits():
    with pytest.raises(Misconfigured, match="held"), following(Brook(before=Misconfigured("held"))) as it:
        it.ready()


def test_what_following_raises_later_ends_the_wait():
    with pytest.raises(Retryable, match="gone"), following(Brook(after=Retryable("gone"))) as it:
        it.ended()


def test_an_error_nobody_waited_for_is_not_lost():
    with pytest.raises(Retryable, match="gone"), following(Brook(after=Retryable("gone"))):
        pass
