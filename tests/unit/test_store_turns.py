"""Sharing the shard's process among threads: order of arrival, one commit for many."""

import threading

import pytest

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


def test_turns_come_in_order_of_arrival():
    """A thread that comes back at once waits behind those that came before it."""
    turns, order, threads = Turns(), [], []

    def take(name):
        with turns:
            order.append(name)

    with turns:
        for name in range(6):
            threads.append(started(lambda name=name: take(name)))
            until(lambda name=name: len(turns._waiting) == name + 1, "the thread to queue")
    with turns:
        order.append("came back")
    for thread in threads:
        thread.join(WAIT_S)
    assert order == [0, 1, 2, 3, 4, 5, "came back"]


def test_a_turn_ends_with_an_error_too():
    """The next in line gets its turn whatever happened in this one."""
    turns = Turns()
    with pytest.raises(OSError, match="broken"), turns:
        raise OSError("broken")
    with turns:
        pass
