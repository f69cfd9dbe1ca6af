"""The engine takes every accepted event to its end, whatever the stages do, and goes on where it was stopped."""

import threading
import time

import msgspec
import pytest

from upwell.errors import Misconfigured, Reason, Rejected, Retryable
from upwell.ports import Fate
from upwell.records import ChangeEvent, Lane, Op, Outcome
from upwell.runtime.engine import Engine, Work
from upwell.runtime.eventlog import EventLog
from upwell.runtime.tally import Tally

APPLIED = Work(fate=Fate(outcome=Outcome.APPLIED))


def event(n: int, doc_id: str = "", op: Op = Op.UPSERT, lane: Lane = Lane.LIVE) -> ChangeEvent:
    return ChangeEvent(
        event_id=f"e{n}", tenant="t", source="s", doc_id=doc_id or f"{n}.md", op=op, version=n, received_at=n, lane=lane
    )


class ScriptedStages:
    """Does what the test says for each event, and notes what was asked of it."""

    def __init__(self, script=None):
        self.script = script or (lambda event, tries: APPLIED)
        self.tries: dict[str, int] = {}
        self.calls: list[str] = []
        self.rejected: list[str] = []
        self.lock = threading.Lock()

    def warm(self):
        self.calls.append("warm")

    def bind(self, events):
        return [False] * len(events)

    def control(self, event, *, bound=False):
        with self.lock:
            self.calls.append(f"control {event.event_id}")
        return None if event.op is Op.UPSERT else APPLIED

    def process(self, event):
        with self.lock:
            self.tries[event.event_id] = tries = self.tries.get(event.event_id, 0) + 1
            self.calls.append(f"process {event.event_id}")
        return self.script(event, tries)

    def reject(self, event, fate):
        self.rejected.append(event.event_id)


@pytest.fixture
def log(tmp_path):
    opened = EventLog.at(tmp_path / "events.sqlite")
    yield opened
    opened.close()


def run(log, stages, events, until=lambda log: not log.unended(), workers=3):
    engine = Engine(log, stages, workers=workers, pause_limit_s=0.01)
    try:
        engine.submit(events)
        deadline = time.monotonic() + 20
        while not until(log):
            assert time.monotonic() < deadline, log.outcomes()
            time.sleep(0.005)
    finally:
        engine.close()


def test_every_event_ends_applied(log):
    run(log, ScriptedStages(), [event(n) for n in range(50)])
    assert log.outcomes() == {"applied": 50}


def test_what_may_succeed_later_is_tried_until_it_does(log):
    def flaky(event, tries):
        if tries < 4:
            raise Retryable("the disk is full")
        return APPLIED

    stages = ScriptedStages(flaky)
    run(log, stages, [event(1), event(2)])
    assert log.outcomes() == {"applied": 2}
    assert stages.tries == {"e1": 4, "e2": 4}


def test_a_setting_that_is_wrong_costs_no_document_and_is_told_in_its_own_words(log):
    told = []

    class Listening(Tally):
        def trouble(self, ticket, error):
            told.append(str(error))

    def script(event, tries):
        if tries < 6:
            raise Misconfigured("embedder bge: its weights are gone")
        return APPLIED

    engine = Engine(log, ScriptedStages(script), workers=1, pause_limit_s=0.01)
    watcher = Listening()
    engine.watch(watcher)
    engine.submit([event(1)])
    assert watcher.wait()
    engine.close()
    assert log.outcomes() == {"applied": 1}
    assert told == ["embedder bge: its weights are gone"] * 5


@pytest.mark.parametrize("patience_tries", [3, None])
def test_a_command_gives_up_on_lasting_trouble_and_a_run_does_not(log, patience_tries):
    def script(event, tries):
        if tries <= 5:
            raise Retryable("the disk is full")
        return APPLIED

    engine = Engine(log, ScriptedStages(script), workers=1, pause_limit_s=0.01)
    tally = Tally(patience_tries)
    engine.watch(tally)
    engine.submit([event(1)])
    if patience_tries is None:
        assert tally.wait()
    else:
        with pytest.raises(Retryable, match="the disk is full; nothing is lost"):
            tally.wait()
    engine.close()


def test_an_ingest_counts_only_what_its_own_source_cost(log):
    def script(event, tries):
        return Work(fate=Fate(outcome=Outcome.APPLIED), embedded=3)

    engine = Engine(log, ScriptedStages(script), workers=2, pause_limit_s=0.01)
    mine, others, all_of_it = Tally(place=("t", "s")), Tally(place=("t", "other")), Tally()
    for tally in (mine, others, all_of_it):
        engine.watch(tally)
    engine.submit([event(1), event(2), msgspec.structs.replace(event(3), source="other")])
    assert all(tally.wait() for tally in (mine, others, all_of_it))
    engine.close()
    assert [tally.chunks.embedded for tally in (mine, others, all_of_it)] == [6, 3, 9]


def test_what_never_will_is_a_dead_letter_and_the_rest_goes_on(log):
    def picky(event, tries):
        if event.event_id == "e1":
            raise Rejected(Reason.CORRUPT, "not a PDF")
        return APPLIED

    stages = ScriptedStages(picky)
    run(log, stages, [event(n) for n in range(4)])
    assert log.outcomes() == {"applied": 3, "dead": 1}
    assert [(letter.doc_id, letter.reason) for letter in log.dead()] == [("1.md", "corrupt")]
    assert stages.rejected == ["e1"]


def test_an_error_that_nobody_foresaw_ends_as_a_dead_letter_after_some_tries(log):
    def broken(event, tries):
        raise ZeroDivisionError("in a stage")

    stages = ScriptedStages(broken)
    run(log, stages, [event(1)])
    assert stages.tries == {"e1": 3}
    (letter,) = log.dead()
    assert (letter.reason, letter.attempts) == ("attempts_exhausted", 3)
    assert "ZeroDivisionError" in letter.detail


def test_permissions_and_deletes_never_wait_behind_content(log):
    gate = threading.Event()
    stages = ScriptedStages(lambda event, tries: gate.wait(20) and APPLIED)
    engine = Engine(log, stages, workers=2, pause_limit_s=0.01)
    engine.submit([event(n, lane=Lane.BACKFILL) for n in range(10)])
    engine.submit([event(100, "0.md", op=Op.ACL), event(101, "1.md", op=Op.DELETE)])
    deadline = time.monotonic() + 20
    while log.outcomes() != {"applied": 2, "pending": 10} and time.monotonic() < deadline:
        time.sleep(0.005)
    while_blocked = log.outcomes()
    gate.set()
    engine.close()
    assert while_blocked == {"applied": 2, "pending": 10}


def test_a_documents_events_are_processed_in_their_order(log):
    stages = ScriptedStages(lambda event, tries: time.sleep(0.001) or APPLIED)
    run(log, stages, [event(n, doc_id=f"{n % 3}.md") for n in range(60)])
    for document in range(3):
        mine = [
            call for call in stages.calls if call.startswith("process") and int(call.split("e")[-1]) % 3 == document
        ]
        assert mine == [f"process e{n}" for n in range(60) if n % 3 == document]


def test_a_new_engine_goes_on_where_the_last_one_stopped(log):
    log.append([event(n) for n in range(5)])
    run(log, ScriptedStages(), [])
    assert log.outcomes() == {"applied": 5}


def test_a_watcher_hears_of_each_end(log):
    class Tally:
        def __init__(self):
            self.open, self.work = set(), []

        def expect(self, tickets):
            self.open |= {t.seq for t in tickets}

        def ended(self, ticket, event, work):
            self.open.discard(ticket.seq)
            self.work.append(event.event_id)

        def trouble(self, ticket, error):
            pass

    engine = Engine(log, ScriptedStages(), workers=2, pause_limit_s=0.01)
    tally = Tally()
    engine.watch(tally)
    engine.submit([event(n) for n in range(20)])
    deadline = time.monotonic() + 20
    while tally.open and time.monotonic() < deadline:
        time.sleep(0.005)
    engine.close()
    assert sorted(tally.work) == sorted(f"e{n}" for n in range(20))


def test_a_revocation_is_bound_while_every_control_thread_waits_for_the_store(log):
    """Hundreds of permissions are effective as soon as the registry has them, whatever converges meanwhile."""
    store_is_back = threading.Event()
    stages = BindingStages(store_is_back)
    engine = Engine(log, stages, workers=1, pause_limit_s=0.01)
    engine.submit([event(n, op=Op.ACL) for n in range(300)])
    deadline = time.monotonic() + 20
    while len(stages.bound) < 300 and time.monotonic() < deadline:
        time.sleep(0.005)
    bound, ended = list(stages.bound), log.outcomes()
    store_is_back.set()
    while log.outcomes() != {"applied": 300} and time.monotonic() < deadline:
        time.sleep(0.005)
    engine.close()
    assert bound == [f"e{n}" for n in range(300)]
    assert ended == {"pending": 300}
    assert log.outcomes() == {"applied": 300}
    assert stages.followed == set(bound)


def test_what_cannot_be_bound_goes_its_way_unbound(log):
    """Backfilled content has nothing to bind, and a registry that fails leaves all of it to the next step."""
    stages = BindingStages(None)
    run(log, stages, [event(0, lane=Lane.BACKFILL), *(event(n, op=Op.ACL) for n in range(1, 4))])
    assert stages.bound == []
    assert stages.followed == set()
    assert log.outcomes() == {"applied": 4}


class BindingStages(ScriptedStages):
    """Notes what was bound, and whose control came after it; control waits for the store. None: nothing can be bound."""

    def __init__(self, store_is_back):
        super().__init__()
        self.store_is_back = store_is_back
        self.bound: list[str] = []
        self.followed: set[str] = set()

    def bind(self, events):
        if self.store_is_back is None:
            assert all(event.op is Op.ACL for event in events)
            raise Retryable("the registry is away")
        self.bound.extend(event.event_id for event in events)
        return [True] * len(events)

    def control(self, event, *, bound=False):
        if bound:
            self.followed.add(event.event_id)
        assert self.store_is_back is None or self.store_is_back.wait(20)
        return super().control(event)
