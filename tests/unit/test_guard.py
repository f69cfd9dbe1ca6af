"""The guard: retried in place, rejected through the stage, buried raw, let go; and never anything else."""

import asyncio
import logging
import threading

import pytest
from prometheus_client import generate_latest

import guarding
from guarding import COPIED, FAILED, TAKEN, World, guarded, lost, taken
from stream_samples import event
from upwell.errors import Misconfigured
from upwell.messages import Origin
from upwell.runtime.stream import topics
from upwell.runtime.stream.guard import Tripped


@pytest.fixture(autouse=True)
def _quiet(caplog):
    caplog.set_level(logging.CRITICAL, logger="upwell")


def test_a_message_is_done_once_its_outputs_are_acknowledged():
    done, world = guarded()
    assert done
    assert [s.topic for s in world.sent] == [COPIED]
    assert not world.slept


def test_a_tombstone_is_skipped():
    """There is no message in it; it is acknowledged and the stage hears nothing."""
    done, world = guarded(taken(value=None))
    assert done
    assert world.handle.calls == 0
    assert not world.sent


def test_transient_errors_are_tried_again_in_place():
    """However often; the pauses grow, are jittered, and stay under the limit."""
    done, world = guarded(handle=["retry"] * 12)
    assert done
    assert world.handle.calls == 13
    assert [s.topic for s in world.sent] == [COPIED]
    assert all(0.05 * 2**n <= pause <= 0.1 * 2**n for n, pause in enumerate(world.slept[:8]))
    assert all(15 <= pause <= 30 for pause in world.slept[9:])
    assert len(set(world.slept)) == 12


def test_a_rejected_message_goes_through_the_stage_and_is_acknowledged():
    """The stage says what to send; its fate has reason, stage and tries."""
    done, world = guarded(handle=["retry", "reject"])
    assert done
    (failed,) = world.messages(FAILED)
    assert (failed.fate.reason, failed.fate.stage, failed.fate.attempts) == ("corrupt", "parse", 2)
    assert not world.messages(topics.DEAD)


@pytest.mark.parametrize("defect", ["defect", "exit"])
def test_a_defect_is_tried_three_times(defect):
    """Twice it may be luck; the third time the message is given up, and the detail quotes nothing."""
    done, world = guarded(handle=[defect] * 2)
    assert done
    assert [s.topic for s in world.sent] == [COPIED]
    done, world = guarded(handle=[defect] * 3)
    assert done
    (failed,) = world.messages(FAILED)
    assert (failed.fate.reason, failed.fate.attempts) == ("attempts_exhausted", 3)
    assert "secret" not in failed.fate.detail


def test_what_cannot_be_read_is_buried_raw():
    """As it was, with where it stood; the stage hears nothing of it."""
    done, world = guarded(taken(7, value=b"\xff not msgpack"))
    assert done
    (letter,) = world.messages(topics.DEAD)
    assert letter.raw == b"\xff not msgpack"
    assert letter.origin == Origin(topic=TAKEN, partition=0, offset=7)
    assert (letter.fate.reason, letter.fate.stage) == ("invalid_event", "parse")
    assert world.handle.calls == 0


def test_a_message_whose_blob_is_gone_goes_through_the_stage():
    """Its event has still to end: the stage says how, with the reason."""
    done, world = guarded(lost())
    assert done
    assert world.handle.calls == 0
    (failed,) = world.messages(FAILED)
    assert (failed.event.event_id, failed.fate.reason) == (event().event_id, "blob_missing")
    assert not world.messages(topics.DEAD)


def test_an_unknown_version_is_buried_with_that_reason():
    done, world = guarded(taken(**{"upwell-schema": b"change/9"}))
    assert done
    assert [letter.fate.reason for letter in world.messages(topics.DEAD)] == ["unknown_schema"]


def test_a_message_that_even_reject_refuses_is_buried_with_its_first_fate():
    done, world = guarded(handle=["reject"], reject=["defect"] * 3)
    assert done
    (letter,) = world.messages(topics.DEAD)
    assert letter.fate.reason == "corrupt"
    assert letter.raw == taken().value


def test_sending_is_tried_until_it_is_acknowledged():
    done, world = guarded(send=["retry", "defect"] * 20)
    assert done
    assert world.handle.calls == 1  # the stage does not run again for the log's sake
    assert [s.topic for s in world.sent] == [COPIED]


def test_the_last_resort_is_tried_without_limit():
    """What even the dead letters refuse stays in hand until they take it."""
    done, world = guarded(taken(value=b"\xff"), send=["reject"] * 20)
    assert done
    assert len(world.messages(topics.DEAD)) == 1


@pytest.mark.parametrize("where", ["handle", "reject", "send"])
def test_a_wrong_setting_ends_the_worker_without_acknowledging(where):
    told = {"handle": ["reject"], where: ["misconfigured"]}
    done, world = guarded(**told)
    assert not done
    assert [type(error) for error in world.ended] == [Misconfigured]
    assert not world.sent


def test_after_the_end_nothing_is_taken():
    """Faust may hand on what it had buffered: acknowledged, it would pass over what was let go before it."""

    async def run():
        world = World(handle=["misconfigured"])
        assert not await world.guard(taken(0))
        assert not await world.guard(taken(1))
        return world

    assert asyncio.run(run()).handle.calls == 1


def test_closing_lets_go_what_fails_and_finishes_what_works():
    """A message that waits for another try is let go at once; one that is being worked on is finished."""

    async def failing():
        world = World(handle=["retry"] * 3)
        pausing = asyncio.Event()

        async def long(_seconds):
            pausing.set()
            await asyncio.sleep(60)

        world.guard._sleep = long
        task = asyncio.ensure_future(world.guard(taken()))
        await pausing.wait()
        world.guard.close()
        assert not await asyncio.wait_for(task, 5)
        assert not world.sent

    async def working():
        stage = _Slow()
        world = World(stage=stage)
        task = asyncio.ensure_future(world.guard(taken()))
        await asyncio.to_thread(stage.entered.wait, 5)
        world.guard.close()
        stage.go.set()
        assert await asyncio.wait_for(task, 5)
        assert [s.topic for s in world.sent] == [COPIED]

    asyncio.run(failing())
    asyncio.run(working())


def test_a_revoked_session_is_refused_and_the_next_one_taken():
    """What was taken under the old assignment is not acknowledged any more; the same offset comes again."""

    async def run():
        world = World()
        world.guard.let_go(1)
        assert not await world.guard(taken(session=1))
        assert await world.guard(taken(session=2))
        assert len(world.sent) == 1

    asyncio.run(run())


def test_a_stage_that_runs_too_long_is_abandoned_and_its_result_dropped():
    """The group does not wait for it; the next message waits for the thread."""

    async def run():
        stage = _Slow()
        world = World(stage=stage)
        task = asyncio.ensure_future(world.guard(taken(0, session=1)))
        await asyncio.to_thread(stage.entered.wait, 5)
        world.guard.let_go(1)
        await asyncio.sleep(0.01)
        assert not task.done()
        world.guard.abandon(1)
        assert not await asyncio.wait_for(task, 5)
        after = asyncio.ensure_future(world.guard(taken(0, session=2)))
        stage.go.set()
        assert await asyncio.wait_for(after, 5)
        assert len(world.sent) == 1
        assert stage.most_at_once == 1

    asyncio.run(run())


def test_the_breaker_ends_the_worker_after_the_message_is_dead():
    """The message that trips it is acknowledged, for its dead letter is; the next is not taken."""

    async def run():
        world = World(handle=["reject"] * 10, share=0.5, messages=4)
        said = [await world.guard(taken(n)) for n in range(3)]
        assert said == [True, False, False]
        assert [type(error) for error in world.ended] == [Tripped]
        assert (
            'upwell_worker_breaker_open{line="live",stage="parse"} 1.0'
            in generate_latest(world.metrics.registry).decode()
        )

    asyncio.run(run())


def test_cancelled_it_is_not_done():
    """However Faust ends its agent, the guard does not say that the message is done."""

    async def run():
        world = World(stage=(stage := _Slow()))
        task = asyncio.ensure_future(world.guard(taken()))
        await asyncio.to_thread(stage.entered.wait, 5)
        task.cancel()
        stage.go.set()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert not world.sent

    asyncio.run(run())


def test_logs_hold_no_words_of_documents(caplog):
    """A defect's text may be a document's; only its kind and place are logged."""
    caplog.set_level(logging.DEBUG, logger="upwell")
    guarded(handle=["defect"] * 3)
    assert "ZeroDivisionError" in str([vars(record) for record in caplog.records])
    assert "secret" not in str([(r.getMessage(), getattr(r, "values", "")) for r in caplog.records])


def test_the_facts_tell_what_is_in_hand():
    """In hand while it is; how long it runs and fails; the next offset once it is done; counted by outcome."""

    async def run():
        world = World(stage=(stage := _Slow()))
        task = asyncio.ensure_future(world.guard(taken(4)))
        await asyncio.to_thread(stage.entered.wait, 5)
        assert world.progress.in_hand.offset == 4
        assert world.progress.age(world.progress.running_since) >= 0
        assert "upwell_worker_in_hand{" in (scrape := generate_latest(world.metrics.registry).decode())
        assert 'upwell_worker_in_hand{line="live",stage="parse"} 1.0' in scrape
        stage.go.set()
        await task
        assert world.progress.in_hand is None
        assert world.progress.running_since is None
        assert world.progress.done == {(TAKEN, 0): 5}
        assert 'outcome="done",stage="parse"} 1.0' in generate_latest(world.metrics.registry).decode()

    asyncio.run(run())


class _Slow(guarding.Stage):
    """Says that it is at work, and works until told to go on."""

    def __init__(self):
        super().__init__(guarding.Told(), guarding.Told())
        self.entered, self.go = threading.Event(), threading.Event()
        self.at_once = self.most_at_once = 0

    def handle(self, message):
        self.at_once += 1
        self.most_at_once = max(self.most_at_once, self.at_once)
        self.entered.set()
        assert self.go.wait(5)
        self.at_once -= 1
        return super().handle(message)
