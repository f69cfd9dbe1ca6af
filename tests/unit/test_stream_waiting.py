"""Waiting for events to end: told twice counts once, another's not at all, and silence has a limit."""

import pytest

from stream_samples import event
from upwell.answers import ChunkCounts
from upwell.errors import Retryable
from upwell.messages import Ended
from upwell.ports import Fate
from upwell.records import Outcome
from upwell.runtime.stream.waiting import Waiting


class Told:
    """`waiting.Ends` that says what the test gives it, a list a poll; a poll takes a second of the test's clock."""

    def __init__(self, *polls):
        self.polls = list(polls)
        self.now = 0.0

    def poll(self, timeout_s):
        self.now += 1.0
        return self.polls.pop(0) if self.polls else []

    def close(self):
        pass


def ended(doc, outcome=Outcome.APPLIED, **counts):
    return Ended(event=event(doc), fate=Fate(outcome=outcome), at=1, **counts)


def waiting(told, ledger=lambda _ids: {}, **limits):
    return Waiting(told, ledger, now_s=lambda: told.now, **limits)


def test_each_end_counts_once_and_only_those_waited_for():
    told = Told(
        [ended("a", embedded=2, tokens_embedded=7), ended("other", embedded=9)],
        [ended("a", embedded=2), ended("b", Outcome.DEAD), ended("c", Outcome.SUPERSEDED, kept=1)],
    )
    counted = waiting(told)
    counted.expect([event("a"), event("b")])
    counted.expect([event("c")])
    progress = []
    counted.wait(progress.append)
    assert (counted.chunks, counted.tokens_embedded, counted.dead) == (ChunkCounts(kept=1, embedded=2), 7, 1)
    assert [(p.done, p.total) for p in progress] == [(1, 3), (3, 3)]


def test_nothing_to_wait_for_is_over_at_once():
    told = Told()
    waiting(told).wait()
    assert told.now == 0.0


def test_an_end_that_was_not_heard_is_known_to_the_ledger():
    asked = []

    def ledger(ids):
        asked.append(ids)
        return dict.fromkeys(ids, Outcome.DEAD) if len(asked) == 2 else {}

    counted = waiting(Told(), ledger, ask_s=3)
    counted.expect([event("a"), event("b")])
    counted.wait()
    assert counted.dead == 2
    assert len(asked) == 2


def test_long_silence_is_told_and_every_end_renews_the_patience():
    told = Told([], [], [ended("a")])
    counted = waiting(told, patience_s=4)
    counted.expect([event("a"), event("b")])
    with pytest.raises(Retryable, match="1 events wait and none has ended for 4 s"):
        counted.wait()
    assert told.now == 7.0
