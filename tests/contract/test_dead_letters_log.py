"""Dead letters in both logs, the embedded one and a ledger: replayed, given back, discarded, and never two of one."""

import msgspec
import pytest

from stream_samples import event
from upwell.messages import Dead, Ended
from upwell.ports import Fate
from upwell.records import Outcome
from upwell.runtime.replaying import give_back, outcomes_of, pending_of, reopen, settle

CORRUPT = Fate(outcome=Outcome.DEAD, reason="corrupt", detail="not a PDF", stage="parse", attempts=2)
A, B = event("a.md"), event("b.md")


def without_content(one):
    return msgspec.structs.replace(one, content=None)


def die(log, one, fate=CORRUPT):
    """As a ledger hears it: accepted without its content, dead with it."""
    log.end([Dead(event=one, fate=fate, at=5)], [without_content(one)])


def end(log, one):
    log.end([Ended(event=without_content(one), fate=Fate(outcome=Outcome.APPLIED), at=6)])


def letters(log):
    return {letter.doc_id: letter.attempts for letter in log.dead()}


def test_a_letter_stays_until_its_event_is_in_the_log_again(log):
    die(log, A)
    die(log, B)
    ((letter,),) = reopen(log, [log.dead()[0].id])
    assert letter.event == A
    assert letters(log) == {"a.md": 2, "b.md": 2}
    assert log.outcomes() == {"dead": 1, "pending": 1}
    assert (pending_of(log, A.key), pending_of(log, B.key)) == (1, 0)
    settle(log, [letter])
    assert letters(log) == {"b.md": 2}
    end(log, A)
    assert outcomes_of(log, [A.event_id, B.event_id, "unknown"]) == {
        A.event_id: Outcome.APPLIED,
        B.event_id: Outcome.DEAD,
    }


@pytest.mark.parametrize("soon", [True, False])
def test_an_event_that_fails_again_is_one_letter_with_its_tries_counted_up(log, soon):
    """Whether it fails before its old letter has gone, or after."""
    die(log, A)
    for tries in (4, 6):
        ((letter,),) = reopen(log, [log.dead()[0].id])
        if soon:
            die(log, A)
        settle(log, [letter])
        if not soon:
            die(log, A)
        assert letters(log) == {"a.md": tries}
        assert log.outcomes() == {"dead": 1}


def test_an_event_that_fails_for_another_reason_leaves_no_old_letter(log):
    die(log, A)
    ((letter,),) = reopen(log, [log.dead()[0].id])
    die(log, A, Fate(outcome=Outcome.DEAD, reason="timed_out", stage="parse"))
    settle(log, [letter])
    assert [(left.reason, left.attempts) for left in log.dead()] == [("timed_out", 3)]


def test_an_event_that_ends_well_before_its_letter_is_settled_leaves_none(log):
    die(log, A)
    ((letter,),) = reopen(log, [log.dead()[0].id])
    end(log, A)
    settle(log, [letter])
    assert letters(log) == {}
    assert log.outcomes() == {"applied": 1}


def test_what_could_not_be_produced_is_dead_again_unless_it_has_ended(log):
    die(log, A)
    die(log, B)
    (found,) = reopen(log, [letter.id for letter in log.dead()])
    end(log, A)
    give_back(log, found, 9)
    assert log.outcomes() == {"applied": 1, "dead": 1}
    assert letters(log) == {"b.md": 2}
    ((again,),) = reopen(log, [log.dead()[0].id])
    assert again.event == B


def test_a_message_that_nobody_could_read_is_not_replayed_but_discarded(log):
    log.end([Dead(raw=b"\xff", fate=Fate(outcome=Outcome.DEAD, reason="unknown_schema", stage="chunk"), at=5)])
    (letter,) = log.dead()
    assert not letter.replayable
    assert list(reopen(log, [letter.id])) == [[]]
    assert log.discard([letter.id]) == 1
    assert log.dead() == []


def test_a_discarded_letter_is_gone_and_its_event_stays_ended(log):
    die(log, A)
    die(log, B)
    first, second = log.dead()
    assert log.discard([first.id]) == 1
    assert log.dead() == [second]
    assert log.outcomes() == {"dead": 2}
    assert list(reopen(log, [first.id])) == [[]]


def test_many_letters_are_reopened_some_at_a_time(log):
    events = [event(f"{n}.md") for n in range(230)]
    log.end([Dead(event=one, fate=CORRUPT, at=5) for one in events])
    portions = list(reopen(log, [letter.id for letter in log.dead()]))
    assert [len(portion) for portion in portions] == [100, 100, 30]
    assert {letter.event.doc_id for portion in portions for letter in portion} == {one.doc_id for one in events}
    assert log.outcomes() == {"pending": 230}
