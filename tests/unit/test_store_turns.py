"""Sharing the shard's process among threads: order of arrival, one commit for many."""

import threading

import pytest

from upwell.lake.store.edge import gather_s
from upwell.lake.store.turns import GroupCommit, Turns

WAIT_S = 30


class Slow:
    """A commit that waits until the test lets it end."""

    def __init__(self):
        self.begun = threading.Semaphore(0)
        self.may_end = threading.Semaphore(0)
        self.count = 0

    def __call__(self):
        self.count += 1
        self.begun.release()
        assert self.may_end.acquire(timeout=WAIT_S)


def started(target):
    thread = threading.Thread(target=target)
    thread.start()
    return thread


def until(condition, what):
    """Wait for a condition that another thread brings about."""
    for _ in range(WAIT_S * 1000):
        if condition():
            return
        threading.Event().wait(0.001)
    pytest.fail(f"waited in vain for {what}")


def test_all_that_ask_during_a_commit_share_the_next_one():
    """The running commit may have missed their writes; one more serves them all."""
    slow = Slow()
    commit = GroupCommit(slow)
    first = started(commit)
    assert slow.begun.acquire(timeout=WAIT_S)
    later = [started(commit) for _ in range(8)]
    until(lambda: len(commit._changed._waiters) == 8, "eight threads to wait")
    slow.may_end.release()
    first.join(WAIT_S)
    assert slow.begun.acquire(timeout=WAIT_S)
    assert all(thread.is_alive() for thread in later)
    slow.may_end.release()
    for thread in later:
        thread.join(WAIT_S)
    assert not any(thread.is_alive() for thread in later)
    assert slow.count == 2


def test_calls_one_after_the_other_each_commit():
    """A commit that ended before the call proves nothing about its writes."""
    commits = []
    commit = GroupCommit(lambda: commits.append(1))
    commit()
    commit()
    assert len(commits) == 2


def test_a_commit_that_fails_raises_and_the_waiting_make_another():
    """Nobody is told that a failed commit succeeded."""
    slow = Slow()
    failing = [True]

    def work():
        slow()
        if failing.pop():
            raise OSError("disk full")

    failing[:] = [False, True]
    commit = GroupCommit(work)
    errors = []

    def first_call():
        try:
            commit()
        except OSError as error:
            errors.append(error)

    first = started(first_call)
    assert slow.begun.acquire(timeout=WAIT_S)
    second = started(commit)
    until(lambda: len(commit._changed._waiters) == 1, "the second to wait")
    slow.may_end.release()
    first.join(WAIT_S)
    assert len(errors) == 1
    assert slow.begun.acquire(timeout=WAIT_S)
    slow.may_end.release()
    second.join(WAIT_S)
    assert slow.count == 2


def test_what_gathers_hears_how_long_the_last_commit_took():
    """That is what a commit that serves more saves."""
    heard, now = [], [0.0]

    def work():
        now[0] += 7

    commit = GroupCommit(work, heard.append, clock=lambda: now[0])
    commit()
    commit()
    assert heard == [0.0, 7.0]


@pytest.mark.parametrize(("took_s", "given_s"), [(0.0, 0.03), (0.02, 0.03), (0.06, 0.06), (5.0, 0.1)])
def test_who_waits_may_go_before_a_flush_for_as_long_as_one_takes(took_s, given_s):
    """Never so long that a permission's own flush were late by more than a moment."""
    assert gather_s(took_s) == given_s


def queued(turns, order, *names):
    """Threads that wait for their turns in this order; readers' names begin with r."""
    threads = []

    def take(name):
        with turns.take(reads=name.startswith("r")):
            order.append(name)

    for n, name in enumerate(names, start=1):
        threads.append(started(lambda name=name: take(name)))
        until(lambda n=n: sum(map(len, turns._waiting.values())) == n, "the thread to queue")
    return threads


@pytest.mark.parametrize(
    ("came", "served"),
    [
        ("r1 r2 r3", "r1 r2 r3"),
        ("w1 w2 w3", "w1 w2 w3"),
        ("r1 r2 r3 r4 w1 w2", "r1 w1 r2 w2 r3 r4"),
        ("w1 w2 w3 r1", "r1 w1 w2 w3"),
    ],
)
def test_readers_and_writers_come_in_order_and_take_turns(came, served):
    """Who holds it first writes: a reader is next, if one waits. One that comes back at once waits like the others."""
    turns, order = Turns(), []
    with turns.take(reads=False):
        threads = queued(turns, order, *came.split())
    with turns.take(reads=True):
        order.append("came back")
    for thread in threads:
        thread.join(WAIT_S)
    assert [name for name in order if name != "came back"] == served.split()


def test_a_turn_ends_with_an_error_too():
    """The next in line gets its turn whatever happened in this one."""
    turns = Turns()
    with pytest.raises(OSError, match="broken"), turns.take(reads=True):
        raise OSError("broken")
    with turns.take(reads=False):
        pass


def test_a_flush_gathers_writers_and_waits_for_no_reader():
    """A hundred searches that wait have nothing to flush."""
    turns, order = Turns(), []
    with turns.take(reads=False):
        threads = queued(turns, order, "r1", "r2")
        turns.quiet(at_most_s=WAIT_S)
    for thread in threads:
        thread.join(WAIT_S)
    assert order == ["r1", "r2"]
