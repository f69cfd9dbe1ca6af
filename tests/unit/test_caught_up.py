"""The ledger's mark: up to when all that was accepted has been read, true at every moment."""

import threading

from broker import wait_for
from upwell.errors import Retryable
from upwell.runtime.stream.caught_up import CaughtUp


class Brokers:
    """A log with an end, and a group that has read so far; `away` is raised instead of answering."""

    def __init__(self):
        self.end = self.read = self.time = 0
        self.away = None
        self.told = []

    def clock(self):
        self.time += 1
        return self.time

    def noted(self):
        if self.away is not None:
            raise self.away
        end = self.end
        return lambda: self.read >= end

    def mark(self):
        return CaughtUp(self.noted, self.told.append, self.clock, pause_s=0.01)


def test_the_mark_is_the_time_before_the_ends_were_taken():
    """What comes while it waits does not count, nor does it hold the mark up."""
    brokers = Brokers()
    brokers.end = 5
    mark = brokers.mark()
    waiting = threading.Thread(target=mark.once)
    waiting.start()
    wait_for(lambda: brokers.time == 1, 10, "the ends are taken")
    brokers.time, brokers.end = 100, 9
    assert brokers.told == []
    brokers.read = 5
    waiting.join(10)
    assert brokers.told == [1]


def test_nothing_is_told_while_the_ledger_is_behind_and_it_ends_when_it_is_closed():
    brokers = Brokers()
    brokers.end = 1
    mark = brokers.mark()
    mark.start()
    wait_for(lambda: brokers.time == 1, 10, "it waits")
    mark.close()
    assert brokers.told == []


def test_it_outlasts_brokers_that_do_not_answer():
    brokers = Brokers()
    brokers.away = Retryable("no broker answers")
    mark = brokers.mark()
    mark.start()
    wait_for(lambda: brokers.time > 1, 10, "it tries again")
    brokers.away = None
    wait_for(lambda: brokers.told, 10, "it goes on")
    mark.close()
