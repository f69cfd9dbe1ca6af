"""What waits is taken in the order that keeps promises: live first, backfill never starved, one document at a time."""

from upwell.records import Lane, Op
from upwell.runtime.backlog import BACKFILL_SHARE, Backlog, Ticket


def ticket(seq: int, document: str | None = None, lane: Lane = Lane.LIVE) -> Ticket:
    return Ticket(seq=seq, document=document or f"doc{seq}", op=Op.UPSERT, lane=lane)


def drain(backlog: Backlog) -> list[int]:
    taken = []
    while (found := backlog.take(timeout_s=0)) is not None:
        taken.append(found.seq)
        backlog.done(found)
    return taken


def test_live_overtakes_backfill():
    backlog = Backlog()
    backlog.put([ticket(1, lane=Lane.BACKFILL), ticket(2, lane=Lane.BACKFILL), ticket(3)])
    assert drain(backlog) == [3, 1, 2]


def test_backfill_keeps_a_floor_share_while_live_never_ends():
    backlog = Backlog()
    backlog.put([ticket(1000 + i, lane=Lane.BACKFILL) for i in range(100)])
    backlog.put([ticket(i) for i in range(100)])
    first = drain(backlog)[:80]
    assert sum(seq >= 1000 for seq in first) == 80 // BACKFILL_SHARE


def test_a_document_has_one_ticket_out_at_a_time_and_keeps_its_order():
    backlog = Backlog()
    backlog.put([ticket(1, "a"), ticket(2, "a"), ticket(3, "b"), ticket(4, "a")])
    first = backlog.take(timeout_s=0)
    other = backlog.take(timeout_s=0)
    assert (first.seq, other.seq) == (1, 3)
    assert backlog.take(timeout_s=0) is None
    backlog.done(first)
    second = backlog.take(timeout_s=0)
    assert second.seq == 2
    backlog.done(second)
    assert backlog.take(timeout_s=0).seq == 4


def test_a_retried_ticket_stays_ahead_of_its_document():
    backlog = Backlog()
    backlog.put([ticket(1, "a"), ticket(2, "a"), ticket(3, "b")])
    backlog.again(backlog.take(timeout_s=0), pause_s=0.02)
    assert backlog.take(timeout_s=0).seq == 3
    retried = backlog.take(timeout_s=5)
    assert (retried.seq, retried.attempts) == (1, 1)
    backlog.done(retried)
    assert backlog.take(timeout_s=0).seq == 2


def test_closing_wakes_those_who_wait():
    backlog = Backlog()
    backlog.put([ticket(1)])
    backlog.close()
    assert backlog.take() is None


def test_who_takes_live_only_leaves_backfill_alone():
    backlog = Backlog()
    backlog.put([ticket(1, lane=Lane.BACKFILL), ticket(2)])
    assert backlog.take(timeout_s=0, live_only=True).seq == 2
    assert backlog.take(timeout_s=0, live_only=True) is None
    assert backlog.take(timeout_s=0).seq == 1
