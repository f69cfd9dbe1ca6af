"""A backfill's worker waits for live work, and never more than its share."""

import asyncio
import threading
from types import SimpleNamespace

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from upwell.errors import Retryable
from upwell.messages import Change, without_words
from upwell.records import ENCODER, ChangeEvent, Lane, Op
from upwell.runtime.stream.floorshare import SAVED_S, WAIT_PER_WORK, FloorShare
from upwell.runtime.stream.live import UNDER_WAY_S, LiveTraffic


class Time:
    """A clock that only sleeping and working move."""

    def __init__(self):
        self.now = 100.0

    def __call__(self):
        return self.now

    async def sleep(self, seconds):
        self.now += seconds


def turn(share):
    return asyncio.run(share.turn())


def test_nothing_live_nothing_waited():
    time = Time()
    assert turn(FloorShare(lambda: time.now - 1, clock=time, sleep=time.sleep)) == 0


def test_a_message_waits_until_the_live_work_is_over():
    time = Time()
    share = FloorShare(lambda: 100.2, clock=time, sleep=time.sleep)
    assert turn(share) == pytest.approx(0.2)
    assert turn(share) == 0


def test_what_becomes_live_while_it_waits_is_waited_for_too():
    time = Time()
    ends = [100.2, 100.3, 100.3]
    assert turn(FloorShare(lambda: ends.pop(0) if ends else 100.3, clock=time, sleep=time.sleep)) == pytest.approx(0.3)


@given(st.lists(st.floats(0.001, 1.0), min_size=50, max_size=200))
def test_under_live_work_without_end_an_eighth_is_the_backfills(works):
    time = Time()
    share = FloorShare(lambda: time.now + 1, clock=time, sleep=time.sleep)
    waited = 0.0
    for work in works:
        pause = turn(share)
        assert pause <= SAVED_S + 1e-9
        waited += pause
        time.now += work
    assert waited <= SAVED_S + WAIT_PER_WORK * sum(works) + 1e-6
    assert waited >= min(WAIT_PER_WORK * work for work in works)


def record(event):
    return SimpleNamespace(value=ENCODER.encode(Change(event=without_words(event))))


def event(lane, op=Op.ACL):
    return ChangeEvent(
        event_id="e", tenant="t", source="s", doc_id="d", op=op, version=1, acl_version=1, received_at=1, lane=lane
    )


@pytest.mark.parametrize(
    ("heard", "live"),
    [
        ([], False),
        ([record(event(Lane.LIVE))], True),
        ([record(event(Lane.LIVE, Op.UPSERT))], True),
        ([record(event(Lane.BACKFILL))], False),
        ([record(event(Lane.BACKFILL)), record(event(Lane.LIVE))], True),
        ([SimpleNamespace(value=None)], False),
        ([SimpleNamespace(value=msgspec.msgpack.encode({"uri": "in a blob"}))], True),
        ([SimpleNamespace(value=b"\xc1")], True),
    ],
)
def test_live_work_is_told_by_the_lane_of_a_change(heard, live):
    time = Time()
    traffic = LiveTraffic(lambda: pytest.fail("not started"), clock=time)
    traffic.hear(heard)
    assert traffic.quiet_at() == pytest.approx(time.now + UNDER_WAY_S if live else time.now)


def test_listening_goes_on_after_brokers_were_away(monkeypatch):
    monkeypatch.setattr("upwell.runtime.stream.live.PAUSE_S", 0.01)
    heard = threading.Event()
    closed = []

    class Source:
        def __init__(self, answers):
            self.answers = answers

        def poll(self, timeout_s):
            if not self.answers:
                heard.set()
                raise Retryable("away")
            return self.answers.pop(0)

        def close(self):
            closed.append(self)

    opened = [Retryable("no broker"), Source([]), Source([[record(event(Lane.LIVE))]])]

    def open_source():
        following = opened.pop(0) if opened else Source([])
        if isinstance(following, Retryable):
            raise following
        return following

    traffic = LiveTraffic(open_source)
    before = traffic.quiet_at()
    traffic.start()
    deadline = threading.Event()
    while traffic.quiet_at() == before and not deadline.wait(0.01):
        pass
    traffic.close()
    assert heard.is_set()
    assert len(closed) >= 1
