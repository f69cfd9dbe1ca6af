"""The gate: one at a time, live before backfill."""

from threading import Thread

import pytest

from upwell.embed.gate import PriorityGate


def wait_until(condition):
    """Busy-wait on a condition; the test's own timeout bounds it."""
    while not condition():
        pass


def test_urgent_overtakes_those_who_wait():
    """With the gate held, an urgent caller that comes last goes first."""
    gate, order, threads = PriorityGate(), [], []

    def enter(name, urgent):
        with gate.turn(urgent=urgent):
            order.append(name)

    with gate.turn(urgent=False):
        for name, urgent in (("backfill 1", False), ("backfill 2", False), ("live", True)):
            threads.append(Thread(target=enter, args=(name, urgent)))
            threads[-1].start()
            wait_until(lambda: len(gate._changed._waiters) == len(threads))
    for thread in threads:
        thread.join()
    assert order[0] == "live"
    assert sorted(order) == ["backfill 1", "backfill 2", "live"]


def test_only_one_is_inside():
    """Eight threads never overlap, and all get their turns."""
    gate, inside, overlaps, turns = PriorityGate(), [], [], []

    def work(urgent):
        for _ in range(50):
            with gate.turn(urgent=urgent):
                inside.append(1)
                if len(inside) > 1:
                    overlaps.append(1)
                turns.append(urgent)
                inside.pop()

    threads = [Thread(target=work, args=(n % 2 == 0,)) for n in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not overlaps
    assert len(turns) == 400


def test_gate_opens_again_after_an_error():
    """A batch that failed does not lock the model up."""
    gate = PriorityGate()
    with pytest.raises(ZeroDivisionError), gate.turn(urgent=True):
        1 / 0  # noqa: B018
    with gate.turn(urgent=False):
        assert gate._busy
    assert not gate._busy
