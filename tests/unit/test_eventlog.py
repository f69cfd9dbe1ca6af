"""The log keeps every accepted event until it has ended, and says how it ended."""

import time
from concurrent.futures import ThreadPoolExecutor

import msgspec
import pytest
import sqlalchemy as sa

from upwell.errors import Reason
from upwell.ports import ChildFault, Fate
from upwell.records import ChangeEvent, Inline, Lane, Op, Outcome
from upwell.runtime.eventlog import EventLog
from upwell.runtime.eventlog_tables import DEAD, EVENTS
from upwell.sqlite import WRITERS

APPLIED = Fate(outcome=Outcome.APPLIED)
CORRUPT = Fate(outcome=Outcome.DEAD, reason=Reason.CORRUPT, detail="not a PDF", stage="parse")


def event(n: int, doc_id: str = "a.md", op: Op = Op.UPSERT, **fields) -> ChangeEvent:
    return ChangeEvent(
        event_id=f"e{n}", tenant="t", source="s", doc_id=doc_id, op=op, version=n, received_at=n,
        content=Inline(data=b"words") if op is Op.UPSERT else None, **fields,
    )  # fmt: skip


@pytest.fixture
def log(tmp_path):
    opened = EventLog.at(tmp_path / "events.sqlite", clock=lambda: 99)
    yield opened
    opened.close()


def test_an_accepted_event_is_there_after_reopening_in_log_order(tmp_path):
    first = EventLog.at(tmp_path / "e.sqlite")
    first.append([event(1), event(2, "b.md", lane=Lane.BACKFILL)])
    second = EventLog.at(tmp_path / "e.sqlite")
    tickets = second.unended()
    assert [second.event(t.seq) for t in tickets] == [event(1), event(2, "b.md", lane=Lane.BACKFILL)]
    assert [t.lane for t in tickets] == [Lane.LIVE, Lane.BACKFILL]
    first.close()
    second.close()


def test_a_known_event_id_is_accepted_and_ignored(log):
    assert len(log.append([event(1)])) == 1
    assert log.append([event(1)]) == []
    log.finish(event(1), APPLIED)
    assert log.append([event(1)]) == []
    assert log.unended() == []


def test_ends_that_wait_for_the_disk_wait_together(log):
    """Of four threads whose events have ended, the first commits alone and the others in one transaction."""
    log.append([event(n, f"{n}.md") for n in range(4)])
    commits = []
    sa.event.listen(log._engine, "commit", commits.append)
    with ThreadPoolExecutor(4) as pool, log._engine.get_execution_options()[WRITERS]:
        for n in range(4):
            pool.submit(log.finish, event(n, f"{n}.md"), APPLIED)
            until(lambda n=n: log._grouped._turn.locked() and len(log._grouped._waiting) == n)
    assert len(commits) == 2
    assert log.outcomes() == {"applied": 4}


def until(condition):
    for _ in range(30_000):
        if condition():
            return
        time.sleep(0.001)
    pytest.fail("waited in vain")


def test_an_ended_event_leaves_no_content_and_ends_once(log):
    (ticket,) = log.append([event(1)])
    log.finish(event(1), APPLIED)
    log.finish(event(1), CORRUPT)
    assert log.event(ticket.seq) is None
    assert log.outcomes() == {"applied": 1}
    assert log.dead() == []
    with log.transaction(read_only=True) as connection:
        assert connection.execute(sa.select(EVENTS.c.body)).scalar_one() is None


def test_a_refused_event_is_a_dead_letter_and_can_be_replayed(log):
    log.append([event(1)])
    log.finish(event(1), CORRUPT)
    (letter,) = log.dead()
    assert (letter.doc_id, letter.reason, letter.detail, letter.at) == ("a.md", "corrupt", "not a PDF", 99)
    (ticket,) = log.replay([letter.id])
    assert log.event(ticket.seq) == event(1)
    assert log.dead() == []


def test_a_replayed_letter_that_fails_again_is_one_letter_with_its_tries_counted_up(log):
    log.append([event(1)])
    log.finish(event(1), CORRUPT)
    for tries in (2, 3):
        log.replay([log.dead()[0].id])
        log.finish(event(1), CORRUPT)
        assert [letter.attempts for letter in log.dead()] == [tries]


def test_a_discarded_letter_is_gone_and_its_event_stays_ended(log):
    log.append([event(1), event(2, "b.md")])
    log.finish(event(1), CORRUPT)
    log.finish(event(2, "b.md"), CORRUPT)
    first, second = log.dead()
    assert log.discard([first.id]) == 1
    assert log.dead() == [second]
    assert log.discard([first.id]) == 0
    assert log.outcomes() == {"dead": 2}
    assert log.replay([first.id]) == []


def test_a_letter_without_an_event_says_that_it_cannot_be_replayed(log):
    collision = Fate(outcome=Outcome.DEAD, reason=Reason.NAME_COLLISION, stage="scan")
    log.append([event(1)], lambda c: log.bury(c, event(2, "b.md").key, collision))
    log.finish(event(1), CORRUPT)
    assert {letter.doc_id: letter.replayable for letter in log.dead()} == {"a.md": True, "b.md": False}


def test_a_later_good_version_takes_the_dead_letter_away_but_a_permission_does_not(log):
    log.append([event(1), event(2, op=Op.ACL), event(3)])
    log.finish(event(1), CORRUPT)
    log.finish(event(2, op=Op.ACL), APPLIED)
    assert len(log.dead()) == 1
    log.finish(event(3), APPLIED)
    assert log.dead() == []
    assert log.outcomes() == {"applied": 2, "dead": 1}


def test_what_else_is_written_with_events_is_written_with_them_or_not_at_all(log):
    def fail(connection: sa.Connection) -> None:
        log.bury(connection, event(1).key, CORRUPT)
        raise KeyError("later")

    with pytest.raises(KeyError):
        log.append([event(1)], fail)
    assert log.unended() == []
    assert log.dead() == []


def test_eventless_dead_letters_go_when_their_cause_has_gone(log):
    collision = Fate(outcome=Outcome.DEAD, reason=Reason.NAME_COLLISION, detail="two names", stage="scan")
    for name in ("a", "b"):
        log.append([], lambda c, name=name: log.bury(c, msgspec.structs.replace(event(1), doc_id=name).key, collision))
    log.append([], lambda c: log.unbury(c, event(1, "a").key, "scan", Reason.NAME_COLLISION))
    assert [letter.doc_id for letter in log.dead()] == ["b"]
    assert log.dead_counts() == {("t", "s"): 1}


def test_a_cause_that_has_gone_takes_away_its_own_dead_letter_alone(log):
    key = event(1).key
    for reason in (Reason.UNREADABLE, Reason.TOO_LARGE):
        fate = Fate(outcome=Outcome.DEAD, reason=reason, detail="why", stage="scan")
        log.append([], lambda c, fate=fate: log.bury(c, key, fate))
    log.append([], lambda c: log.unbury(c, key, "scan", Reason.UNREADABLE))
    assert [letter.reason for letter in log.dead()] == ["too_large"]


def fault(doc_id: str, reason: Reason = Reason.UNSUPPORTED) -> ChildFault:
    fate = Fate(outcome=Outcome.DEAD, reason=reason, stage="parse")
    return ChildFault(key=msgspec.structs.replace(event(1).key, doc_id=doc_id), fate=fate)


def names(log):
    return [letter.doc_id for letter in log.dead()]


def test_a_part_that_will_not_parse_has_a_dead_letter_until_its_document_has_it_no_more(log):
    log.append([event(1), event(2, op=Op.ACL), event(3), event(4), event(5, "a.md!x"), event(6, "a.md0")])
    log.finish(event(1), APPLIED, [fault("a.md!/x.bin"), fault("a.md!/y.bin!/z")])
    log.finish(event(5, "a.md!x"), CORRUPT)
    log.finish(event(6, "a.md0"), CORRUPT)
    log.finish(event(2, op=Op.ACL), APPLIED)
    log.finish(event(3), CORRUPT)
    neighbours = ["a.md!x", "a.md0"]
    assert names(log) == ["a.md!/x.bin", "a.md!/y.bin!/z", *neighbours, "a.md"], "the last good version still has them"
    assert log.replay([log.dead()[0].id]) == []
    log.finish(event(4), APPLIED, [fault("a.md!/x.bin")])
    assert sorted(names(log)) == ["a.md!/x.bin", *neighbours]


@pytest.mark.parametrize("end", ["delete", "encrypted", "rename", "erase"])
def test_dead_letters_of_parts_go_with_their_document(log, end):
    log.append([event(1)])
    log.finish(event(1), APPLIED, [fault("a.md!/x.bin")])
    if end == "delete":
        log.append([event(2, op=Op.DELETE)])
        log.finish(event(2, op=Op.DELETE), APPLIED)
    elif end == "encrypted":
        log.append([event(2)])
        log.finish(event(2), Fate(outcome=Outcome.DEAD, reason=Reason.ENCRYPTED, stage="parse"))
    elif end == "rename":
        log.append([event(2, "b.md", previous_doc_id="a.md")])
        log.finish(event(2, "b.md", previous_doc_id="a.md"), APPLIED, [fault("b.md!/x.bin")])
    else:
        assert log.erase(event(1).key) == 2
    assert [name for name in names(log) if name.startswith("a.md!/")] == []
    assert ("b.md!/x.bin" in names(log)) == (end == "rename")


def test_a_delete_that_overtakes_leaves_no_dead_letter_of_a_part_behind(log):
    """The control lane ends a delete while the version before it is still being published."""
    log.append([event(1), event(2, op=Op.DELETE)])
    log.finish(event(2, op=Op.DELETE), APPLIED)
    log.finish(event(1), APPLIED, [fault("a.md!/x.bin")])
    assert names(log) == []


def test_pending_is_counted_by_source_with_its_oldest(log):
    log.append([event(5), event(7, "b.md")])
    assert log.pending_counts() == {("t", "s"): (2, 5)}
    log.finish(event(5), APPLIED)
    assert log.pending_counts() == {("t", "s"): (1, 7)}


def test_erasing_forgets_ended_events_and_dead_letters_of_the_document_alone(log):
    log.append([event(1), event(2, "b.md")])
    log.finish(event(1), CORRUPT)
    log.finish(event(2, "b.md"), CORRUPT)
    assert log.erase(event(1).key) == 2
    with log.transaction(read_only=True) as connection:
        assert connection.execute(sa.select(DEAD.c.doc_id)).scalars().all() == ["b.md"]
