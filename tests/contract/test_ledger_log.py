"""The event log as a ledger, on both databases: what was accepted and how it ended, in whatever order that is heard."""

import itertools
import random
import threading

import msgspec
import pytest

from upwell.errors import Reason, Retryable
from upwell.messages import Dead, Ended, Origin
from upwell.ports import ChildFault, Fate
from upwell.records import ENCODER, ChangeEvent, Inline, Op, Outcome
from upwell.runtime.replaying import reopen, settle

APPLIED, SUPERSEDED = Fate(outcome=Outcome.APPLIED), Fate(outcome=Outcome.SUPERSEDED)
CORRUPT = Fate(outcome=Outcome.DEAD, reason=Reason.CORRUPT, detail="not a PDF", stage="parse")
ENCRYPTED = Fate(outcome=Outcome.DEAD, reason=Reason.ENCRYPTED, stage="parse")


def event(number, doc_id="a", op=Op.UPSERT, **fields):
    fields = {"content": Inline(data=b"words") if op is Op.UPSERT else None, "version": number} | fields
    return ChangeEvent(
        event_id=f"{doc_id}{number}", tenant="t", source="s", doc_id=doc_id, op=op, received_at=number, **fields
    )


def ended(of, fate=APPLIED, at=50, **fields):
    return Ended(event=msgspec.structs.replace(of, content=None), fate=fate, at=at, **fields)


def dead(of, fate=CORRUPT, at=50):
    return Dead(event=of, fate=fate, at=at)


def fault(doc_id):
    fate = Fate(outcome=Outcome.DEAD, reason=Reason.UNSUPPORTED, stage="parse")
    return ChildFault(key=msgspec.structs.replace(event(1).key, doc_id=doc_id), fate=fate)


def letters(log):
    return sorted((letter.doc_id, letter.reason) for letter in log.dead())


def test_what_is_noted_is_pending_once_until_it_has_ended(log):
    """A known event is ignored, an ended one stays ended; an upsert is heard of twice (changes and control)."""
    log.note([event(1), event(1), event(2, "b")])
    log.note([event(1)])
    assert log.pending_counts() == {("t", "s"): (2, 1)}
    log.end([ended(event(1)), ended(event(2, "b"), SUPERSEDED)])
    log.note([event(1), event(2, "b")])
    assert log.outcomes() == {"applied": 1, "superseded": 1}
    assert log.pending_counts() == {}


def test_an_end_may_come_before_its_acceptance(log):
    """The topics are read in no common order."""
    log.end([ended(event(1)), dead(event(2, "b"))], accepted=[event(3)])
    log.note([event(1), event(2, "b")])
    assert log.outcomes() == {"applied": 1, "dead": 1, "pending": 1}
    assert letters(log) == [("b", "corrupt")]


def test_a_dead_end_counts_when_its_letter_comes(log):
    """The end on the applied topic has no content, so a replay could not use it."""
    log.end([ended(event(1), CORRUPT)], accepted=[event(1)])
    assert log.outcomes() == {"pending": 1}
    log.end([dead(event(1))])
    assert log.outcomes() == {"dead": 1}
    (letter,) = log.dead()
    assert (letter.stage, letter.detail, letter.attempts, letter.at, letter.replayable) == (
        "parse", "not a PDF", 1, 50, True,
    )  # fmt: skip
    (reopened,) = next(reopen(log, [letter.id]))
    assert reopened.event == event(1), "whole, with its content"


@pytest.mark.parametrize("fate", [APPLIED, SUPERSEDED])
@pytest.mark.parametrize("late", [True, False])
def test_an_event_that_came_through_is_not_dead(log, fate, late):
    """Whichever is heard first, its letter does not stay."""
    ends = [dead(event(1)), ended(event(1), fate)]
    for end in ends if late else reversed(ends):
        log.end([end])
    assert log.outcomes() == {str(fate.outcome): 1}
    assert letters(log) == []


HISTORIES = {
    "mended": ([dead(event(1)), ended(event(2))], []),
    "broken": ([ended(event(1)), dead(event(2))], [("a", "corrupt")]),
    "parts": ([ended(event(1), faults=(fault("a!/x"), fault("a!/y"))), ended(event(2), faults=(fault("a!/y"),))],
              [("a!/y", "unsupported")]),
    "still": ([ended(event(1), faults=(fault("a!/x"),)), dead(event(2))], [("a", "corrupt"), ("a!/x", "unsupported")]),
    "permission": ([dead(event(1)), ended(event(2, op=Op.ACL))], [("a", "corrupt")]),
    "locked": ([ended(event(1), faults=(fault("a!/x"),)), dead(event(2), ENCRYPTED)], [("a", "encrypted")]),
    "deleted": ([ended(event(1), faults=(fault("a!/x"),)), dead(event(2)), ended(event(3, op=Op.DELETE))], []),
    "tie": ([ended(event(1), faults=(fault("a!/x"),)), ended(event(2, version=1, op=Op.DELETE))], []),
    "moved": ([ended(event(1), faults=(fault("a!/x"),)),
               ended(event(2, "b", previous_doc_id="a"), faults=(fault("b!/x"),))], [("b!/x", "unsupported")]),
    "neighbours": ([dead(event(1, "a!")), dead(event(2, "a0")), dead(event(3, "a!/")), ended(event(4))],
                   [("a!", "corrupt"), ("a!/", "corrupt"), ("a0", "corrupt")]),
}  # fmt: skip


@pytest.mark.parametrize("name", sorted(HISTORIES))
def test_the_letters_are_the_same_in_any_order_however_often_and_in_any_batches(log, name):
    """What is newer is a matter of content, not of arrival."""
    ends, expected = HISTORIES[name]
    rng = random.Random(name)
    for number, order in enumerate(itertools.permutations(ends)):
        theirs = [_in(end, f"tenant{number}") for end in order]
        again = [*theirs, *rng.sample(theirs, len(theirs) // 2)]
        cut = rng.randrange(len(again) + 1)
        for batch in (again[:cut], again[cut:]):
            log.end(batch, accepted=[end.event for end in batch])
        found = log.dead(f"tenant{number}")
        assert sorted((letter.doc_id, letter.reason) for letter in found) == expected, order
    assert "pending" not in log.outcomes()


def _in(end, tenant):
    """The same end in another tenant."""
    moved = msgspec.structs.replace(end.event, tenant=tenant, event_id=f"{tenant}/{end.event.event_id}")
    changed = msgspec.structs.replace(end, event=moved)
    if isinstance(end, Dead):
        return changed
    faults = tuple(
        msgspec.structs.replace(fault, key=msgspec.structs.replace(fault.key, tenant=tenant)) for fault in end.faults
    )
    return msgspec.structs.replace(changed, faults=faults)


def test_what_nobody_could_read_keeps_its_bytes_and_its_place(log):
    """Each is a letter of its own, delivered twice or not; none can be replayed."""
    fate = Fate(outcome=Outcome.DEAD, reason=Reason.UNKNOWN_SCHEMA, detail="schema parsed/9", stage="chunk")
    places = [Origin(topic="upwell.parsed.live.v1", partition=3, offset=offset) for offset in (7, 8)]
    unread = [Dead(fate=fate, at=5, raw=bytes([offset]), origin=place) for offset, place in enumerate(places)]
    log.end(unread)
    log.end(unread[:1])
    found = log.dead()
    assert [(letter.tenant, letter.doc_id, letter.reason, letter.replayable) for letter in found] == [
        ("", "", "unknown_schema", False)
    ] * 2
    assert [log.raw(letter.id) for letter in found] == [b"\0", b"\1"]
    assert list(reopen(log, [letter.id for letter in found])) == [[]]
    assert log.discard([letter.id for letter in found]) == 2
    assert log.dead() == []


def test_a_replayed_letter_goes_when_its_event_comes_through_and_stays_when_it_fails_again(log):
    """Its attempts count on; a redelivery of the first failure loses nothing either."""
    log.end([dead(event(1)), dead(event(2, "b"))])
    ids = [letter.id for letter in log.dead()]
    (reopened,) = reopen(log, ids)
    assert log.outcomes() == {"pending": 2}
    log.end([ended(event(1)), dead(event(2, "b"), at=60)])
    settle(log, reopened)
    (letter,) = log.dead()
    assert (letter.doc_id, letter.attempts, letter.at) == ("b", 2, 60)
    assert log.outcomes() == {"applied": 1, "dead": 1}


def test_overdue_counts_what_has_waited_too_long(log):
    """Received before a time, and not ended."""
    log.note([event(5), event(7, "b"), event(9, "c")])
    log.end([ended(event(5))])
    assert log.overdue(9) == {("t", "s"): 1}
    assert log.overdue(5) == {}


def test_erasing_forgets_ended_events_and_letters_of_the_document_alone(log):
    """Pending ones stay: they have still to end."""
    log.end([dead(event(2, "b")), ended(event(3), faults=(fault("a!/x"),)), dead(event(4))])
    log.note([event(9)])
    assert log.erase(event(1).key) == 4
    assert letters(log) == [("b", "corrupt")]
    assert log.outcomes() == {"dead": 1, "pending": 1}


def test_times_and_versions_of_today_fit(log):
    """Microseconds since 1970 and versions up to 2^53 are more than 32 bits."""
    now, most = 1_800_000_000_000_000, 2**53 - 1
    log.end([dead(event(1, version=most, op=Op.ERASE), at=now)])
    log.note([msgspec.structs.replace(event(2), received_at=now)])
    assert log.dead()[0].at == now
    assert log.pending_counts() == {("t", "s"): (1, now)}


def test_ledgers_that_race_end_in_the_same_counts(log):
    """Four threads deliver everything, each in an order of its own."""
    events = [event(number, f"d{number % 7}") for number in range(200)]
    ends = [dead(one) if number % 5 == 0 else ended(one) for number, one in enumerate(events)]
    failed = []

    def deliver(seed):
        rng = random.Random(seed)
        mine = rng.sample(ends, len(ends))
        try:
            for start in range(0, len(mine), 40):
                _patiently(lambda start=start: log.end(mine[start : start + 40], events[start : start + 40]))
        except BaseException as e:
            failed.append(e)
            raise

    threads = [threading.Thread(target=deliver, args=(seed,)) for seed in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failed == []
    assert log.outcomes() == {"applied": 160, "dead": 40}


def _patiently(attempt):
    for _ in range(100):
        try:
            return attempt()
        except Retryable:
            continue
    raise AssertionError("never")


def test_the_body_of_a_letter_is_the_event(log):
    """As msgpack, the form in which the log has it."""
    log.end([dead(event(1))])
    with log.transaction(read_only=True) as connection:
        assert connection.exec_driver_sql("SELECT body FROM dead_letters").scalar_one() == ENCODER.encode(event(1))
