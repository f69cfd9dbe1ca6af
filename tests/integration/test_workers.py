"""Workers on a real Kafka: killed, terminated, paused and rebalanced, they lose nothing and keep each document's order."""

import random
import signal
import time

import pytest

import toys
from broker import started, wait_for
from toys import COPIED, DEAD, FAILED, Toys, answer, ready, unready

pytestmark = [pytest.mark.integration, pytest.mark.timeout(180)]
QUICK = {"session_timeout_s": 3, "drain_s": 5}
BIG = 1_100_000


@pytest.fixture
def log(kafka):
    """A broker with our topics, empty."""
    toys.make_topics(kafka)
    return kafka


def test_kills_lose_nothing(log, tmp_path):
    """Two processes, twelve random kills and terminations in the midst of work, one poisoned event in a hundred: all
    are copied or dead, and each document's versions come in order."""
    ids = toys.put(log, 1500, title=lambda n: "poison" if n % 101 == 50 else None)
    poisoned = {ids[n] for n in range(len(ids)) if n % 101 == 50}
    chance = random.Random(4)
    with Toys(log, tmp_path, pause_s=0.01, **QUICK) as workers:
        pair = [workers.start(), workers.start()]
        for _ in range(12):
            at_work = toys.sent(log) + 30
            wait_for(lambda goal=at_work: toys.sent(log) >= goal, 30, "work goes on")
            time.sleep(chance.uniform(0, 0.5))  # the moment of the kill is random on purpose
            victim = pair.pop(chance.randrange(2))
            workers.end(victim, signal.SIGKILL if chance.random() < 0.67 else signal.SIGTERM)
            pair.append(workers.start())
        toys.caught_up(log)
    copied = toys.got(log, COPIED)
    toys.assert_none_lost(set(ids) - poisoned, copied)
    toys.assert_none_lost(poisoned, toys.got(log, FAILED))
    toys.assert_in_order(copied)
    assert not toys.got(log, DEAD)


def test_a_paused_worker_wakes_after_its_partitions_moved(log, tmp_path):
    """It is a zombie then: what it still sends is a duplicate, what it acknowledges does not count; it finds back into
    the group, and nothing is lost."""
    ids = toys.put(log, 400)
    with Toys(log, tmp_path, pause_s=0.01, **QUICK) as workers:
        first, second = workers.start(), workers.start()
        ready(first, second)
        first.send_signal(signal.SIGSTOP)
        toys.caught_up(log)
        first.send_signal(signal.SIGCONT)
        ids += toys.put(log, 200, first=len(ids))
        toys.caught_up(log)
        ready(first, second)
        assert [workers.end(first), workers.end(second)] == [0, 0]
    toys.assert_none_lost(ids, toys.got(log, COPIED))


def test_the_first_messages_survive_the_start_of_a_group(log, tmp_path):
    """Nothing is committed when its members come one after the other: what a rebalance drops comes from the beginning."""
    with Toys(log, tmp_path, **QUICK) as workers:
        members = [workers.start()]
        ready(*members)
        members += [workers.start() for _ in range(3)]
        ids = []
        until = time.monotonic() + 8
        while time.monotonic() < until:
            ids += toys.put(log, 1, first=len(ids))
        toys.caught_up(log)
        assert [workers.end(member) for member in members] == [0] * 4
    toys.assert_none_lost(ids, toys.got(log, COPIED))


def test_what_a_partition_once_held_is_no_lag_when_nothing_is_left_of_it(log, tmp_path):
    """KEDA compares the end with what is committed, and takes none for 0: the workers would never be let go."""
    toys.put(log, 20)
    toys.empty(log)
    with Toys(log, tmp_path, **QUICK) as workers:
        ready(workers.start(), workers.start())
        wait_for(lambda: toys.committed(log) == toys.ends(log), 60, "every offset is committed")
        ids = toys.put(log, 20)
        toys.caught_up(log)
    toys.assert_none_lost(ids, toys.got(log, COPIED))


def test_the_broker_restarts(tmp_path):
    """Killed and stopped under two workers: they say that it is away, wait for it, and go on by themselves."""
    with started(tmp_path / "kafka") as broker, Toys(broker, tmp_path, pause_s=0.01, **QUICK) as workers:
        toys.make_topics(broker)
        ids = toys.put(broker, 500)
        first, second = workers.start(), workers.start()
        ready(first, second)
        for kill in (True, False):
            broker.stop(kill=kill)
            unready(first, "the broker does not answer")
            assert answer(first, "/healthz") == (200, "alive")
            broker.start()
            ids += toys.put(broker, 200, first=len(ids))
            toys.caught_up(broker)
            ready(first, second)
        assert [workers.end(first), workers.end(second)] == [0, 0]
        copied = toys.got(broker, COPIED)
        toys.assert_none_lost(ids, copied)
        toys.assert_in_order(copied)


def test_termination_finishes_what_is_in_hand(log, tmp_path):
    """The message in hand is done, sent and acknowledged; the rest waits for the next worker."""
    toys.put(log, 20, title=lambda n: "slow")
    with Toys(log, tmp_path, **QUICK) as workers:
        worker = workers.start()
        wait_for(lambda: toys.sent(log) > 0, 30, "the first is copied")
        asked = time.monotonic()
        assert workers.end(worker) == 0
        assert time.monotonic() - asked < 4
        assert 0 < toys.sent(log) < 20
        assert toys.behind(log) == 20 - toys.sent(log)


def test_termination_does_not_wait_for_what_fails(log, tmp_path):
    """A message that is tried again is let go unacknowledged; so is one whose stage does not end by the deadline."""
    toys.put(log, 1, title=lambda n: "away")
    with Toys(log, tmp_path, **QUICK) as workers:
        worker = workers.start()
        unready(worker, "the message in hand fails, and is tried again")
        assert answer(worker, "/healthz") == (200, "alive")
        assert workers.end(worker) == 0
        assert toys.behind(log) == 1


def test_termination_has_a_deadline(log, tmp_path):
    """A stage that does not end is left where it is, and its message unacknowledged: status 1 after `drain_s`."""
    toys.put(log, 1, title=lambda n: "stuck")
    with Toys(log, tmp_path, **{**QUICK, "drain_s": 1}) as workers:
        worker = workers.start(stuck_s=3600)
        ready(worker)
        wait_for(lambda: 'in_hand{line="live",stage="parse"} 1.0' in answer(worker, "/metrics")[1], 20, "it is in hand")
        assert workers.end(worker) == 1
        assert "stopped_at_deadline" in workers.lines()
        assert toys.behind(log) == 1


def test_a_stage_that_does_not_end_holds_up_no_other_worker(log, tmp_path):
    """A rebalance waits `drain_s` for what is in hand; then it is let go, and the others have their partitions."""
    toys.put(log, 40, documents=40, title=lambda n: "stuck" if n == 0 else None)
    with Toys(log, tmp_path, **{**QUICK, "drain_s": 1}) as workers:
        first = workers.start(stuck_s=3600)
        ready(first)
        wait_for(lambda: 'in_hand{line="live",stage="parse"} 1.0' in answer(first, "/metrics")[1], 20, "it is in hand")
        second = workers.start()
        ready(second)
        wait_for(lambda: toys.sent(log) > 0, 30, "the second works")
        assert first.poll() is None


def test_a_wrong_setting_stops_the_worker(log, tmp_path):
    """Status 2, one line, nothing acknowledged."""
    toys.put(log, 5, title=lambda n: "setting")
    with Toys(log, tmp_path, **QUICK) as workers:
        worker = workers.start()
        assert worker.wait(40) == 2
        workers.ended(worker)
        assert workers.lines().splitlines()[-1] == "toy: setting toy: wrong"
        assert "Traceback" not in workers.lines()
        assert toys.behind(log) == 5


def test_missing_topics_are_said(kafka, tmp_path):
    """A worker makes no topics; it names the command that does."""
    with Toys(kafka, tmp_path, **QUICK) as workers:
        worker = workers.start()
        assert worker.wait(40) == 2
        workers.ended(worker)
        assert "upwell topics create" in workers.lines()


def test_a_worker_waits_for_a_broker_that_is_away(tmp_path):
    """One line a try, no traceback, not ready but alive; then it works."""
    with started(tmp_path / "kafka") as broker, Toys(broker, tmp_path, **QUICK) as workers:
        toys.make_topics(broker)
        toys.put(broker, 10)
        broker.pause()
        worker = workers.start()
        unready(worker, "starting")
        wait_for(lambda: "Kafka does not answer" in workers.lines(), 20, "it says why it waits")
        broker.resume()
        toys.caught_up(broker)
        assert workers.end(worker) == 0
        assert "Traceback" not in workers.lines()


def test_memory_is_bounded(tmp_path):
    """Behind by 200 messages of 1 MB, a worker holds a few of them: what is in hand, buffered, and fetched ahead."""
    with (
        started(tmp_path / "kafka", message_bytes=BIG) as broker,
        Toys(broker, tmp_path, message_bytes=BIG, pause_s=0.02, **QUICK) as workers,
    ):
        toys.make_topics(broker, **{"max.message.bytes": str(BIG)})
        worker = workers.start()
        ready(worker)
        before = toys.rss_mb(worker)
        toys.put(broker, 200, data=b"x" * 1_000_000)
        highest = 0.0

        def done():
            nonlocal highest
            highest = max(highest, toys.rss_mb(worker))
            return toys.behind(broker) == 0

        wait_for(done, 120, "everything is committed")
        assert highest - before < 60
        assert workers.end(worker) == 0
