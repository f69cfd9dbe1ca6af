"""The ledger on a real Kafka and a real PostgreSQL: whatever goes away meanwhile, it counts every event once."""

import gc
import random
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from pathlib import Path

import httpx
import msgspec
import pytest
from kafka import KafkaAdminClient, KafkaProducer
from kafka.admin import NewTopic

from broker import free_ports, started, wait_for
from memory_log import MemoryBlobs
from upwell import metrics as m
from upwell.errors import Misconfigured, Reason
from upwell.messages import Change, Dead, Ended
from upwell.metrics import Metrics
from upwell.ports import Fate
from upwell.records import ChangeEvent, Inline, Op, Outcome
from upwell.runtime.eventlog import EventLog
from upwell.runtime.stream import codec, topics
from upwell.runtime.stream.ledger import Ledger
from upwell.runtime.stream.ledger_worker import _decoder
from upwell.runtime.stream.progress import Progress

pytestmark = [
    pytest.mark.integration,
    pytest.mark.timeout(300),
    pytest.mark.filterwarnings("ignore:unclosed <socket:ResourceWarning"),  # kafka-python's, of a refused connection
]
APPLIED, CORRUPT = Fate(outcome=Outcome.APPLIED), Fate(outcome=Outcome.DEAD, reason=Reason.CORRUPT, stage="parse")
PROGRAM = Path(__file__).parent.parent / "ledger_process.py"
PARTITIONS = 3


def event(number):
    return ChangeEvent(
        event_id=f"e{number}", tenant="t", source="s", doc_id=f"d{number % 50}", op=Op.UPSERT, version=number,
        received_at=1_700_000_000_000_000 + number, content=Inline(data=b"words"),
    )  # fmt: skip


def story(number):
    """All that the log hears of one event: accepted twice, ended; every tenth is dead, every eleventh goes on."""
    whole = event(number)
    bare = msgspec.structs.replace(whole, content=None)
    yield topics.laned(topics.CHANGES, whole.lane), Change(event=whole)
    yield topics.CONTROL, Change(event=bare)
    if number % 11 == 0:
        return
    fate = CORRUPT if number % 10 == 0 else APPLIED
    yield topics.APPLIED, Ended(event=bare, fate=fate, at=5)
    if fate is CORRUPT:
        yield topics.DEAD, Dead(event=whole, fate=fate, at=5)


def expected(count):
    numbers = range(count)
    pending = sum(n % 11 == 0 for n in numbers)
    dead = sum(n % 10 == 0 and n % 11 != 0 for n in numbers)
    return {"applied": count - pending - dead, "dead": dead, "pending": pending}


def put(broker, numbers, seed=0):
    """The stories of these events, mixed; and what nobody can read, and tombstones."""
    records = [record for number in numbers for record in story(number)]
    random.Random(seed).shuffle(records)
    with closing(KafkaProducer(bootstrap_servers=broker.address, linger_ms=5)) as producer:
        for place, (topic, message) in enumerate(records):
            value, headers = codec.encode(message, limit_bytes=1_000_000, blobs=MemoryBlobs())
            key = topics.key_of(message.event.key)
            producer.send(topic, key=key, value=value, headers=headers)
            if place % 500 == 0:
                producer.send(topic, key=key, value=b"\xc1 no message")
                producer.send(topic, key=key, value=None)
        producer.flush()
    return len(records)


@pytest.fixture(autouse=True)
def no_socket_left():
    """What kafka-python left to the collector is collected here, not in somebody else's test."""
    yield
    gc.collect()


@pytest.fixture
def log(kafka):
    """A broker with our topics, empty."""
    make_topics(kafka)
    return kafka


def make_topics(broker):
    with closing(KafkaAdminClient(bootstrap_servers=broker.address)) as admin:
        admin.create_topics([NewTopic(t, num_partitions=PARTITIONS, replication_factor=1) for t in topics.ALL])


@pytest.fixture
def storage(postgres_url):
    opened = EventLog.at(postgres_url)
    yield opened
    opened.close()


class Running:
    """A ledger in a thread."""

    def __init__(self, broker, storage):
        self.metrics = Metrics()
        self.progress = Progress(self.metrics, "ledger", "live")
        self.ledger = Ledger(
            broker.address, storage, _decoder(MemoryBlobs()), progress=self.progress, metrics=self.metrics,
            session_timeout_s=3, retry_limit_s=0.5,
        )  # fmt: skip
        self.stop = threading.Event()
        self._pool = ThreadPoolExecutor(1)

    def messages(self, outcome):
        return self.metrics.registry.get_sample_value(
            m.WORKER_MESSAGES.name, {"stage": "ledger", "line": "live", "outcome": outcome}
        )

    def __enter__(self):
        self.run = self._pool.submit(self.ledger.run, self.stop)
        return self

    def __exit__(self, *_):
        self.stop.set()
        self.run.result(20)
        self._pool.shutdown()


def all_there(storage, count, timeout_s=60):
    wait_for(lambda: storage.outcomes() == expected(count), timeout_s, f"{expected(count)} in the ledger")


def test_every_event_is_counted_once_and_what_cannot_be_read_is_passed_over(log, storage):
    """Mixed, with bad records and tombstones between; a second ledger reads on where the first has committed."""
    sent = put(log, range(3000))
    begun = time.monotonic()
    with Running(log, storage) as first:
        all_there(storage, 3000)
        took = time.monotonic() - begun
        bad = sent // 500 + 1
        wait_for(lambda: first.messages("done") == sent, 20, "all is done")
        assert (first.messages("skipped"), first.messages("dead")) == (bad, bad), "tombstones, and what nobody can read"
        assert first.ledger.partitions == PARTITIONS * 5
    print(f"\n{sent} messages of 3000 events in {took:.1f} s: {sent / took:.0f} messages/s")
    put(log, range(3000, 3100))
    with Running(log, storage) as second:
        all_there(storage, 3100)
        assert second.messages("done") < 1000
    assert [letter.reason for letter in storage.dead()] != []


def test_two_ledgers_share_the_partitions_and_one_may_go(log, storage):
    """Rebalanced in the middle of work, twice."""
    put(log, range(2000))
    with Running(log, storage) as first:
        wait_for(lambda: first.ledger.partitions, 20, "partitions")
        with Running(log, storage) as second:
            put(log, range(2000, 3000))
            wait_for(lambda: second.ledger.partitions, 20, "the second has some")
            put(log, range(3000, 3500))
        wait_for(lambda: first.ledger.partitions == PARTITIONS * 5, 20, "the first has all again")
        put(log, range(3500, 4000))
        all_there(storage, 4000)
        assert not first.run.done()


def test_the_database_goes_away_and_comes_back(log, postgres):
    """Killed, and stopped in order: the batch is kept, the group stays as it is, and readiness says so."""
    with closing(EventLog.at(postgres.url())) as storage, Running(log, storage) as running:
        put(log, range(500))
        all_there(storage, 500)
        for number, end in enumerate((postgres.kill, postgres.stop)):
            end()
            put(log, range(500 * (number + 1), 500 * (number + 2)))
            wait_for(lambda: running.progress.failing_since is not None, 20, "it notices")
            time.sleep(4)  # longer than the session's timeout: a member that does not poll would be gone
            assert running.ledger.partitions == PARTITIONS * 5
            postgres.start()
            all_there(storage, 500 * (number + 2))
            assert running.progress.failing_since is None
        assert not running.run.done()


def test_a_paused_database_is_waited_for(log, postgres):
    """It hangs for longer than the group's session and goes on: nothing is lost or counted twice."""
    with closing(EventLog.at(postgres.url())) as storage, Running(log, storage) as running:
        put(log, range(500))
        all_there(storage, 500)
        postgres.pause()
        try:
            put(log, range(500, 1000))
            time.sleep(5)
        finally:
            postgres.resume()
        all_there(storage, 1000)
        assert not running.run.done()


def test_the_broker_restarts(tmp_path, storage):
    """Killed and stopped under a ledger: it waits for it and goes on by itself."""
    with started(tmp_path / "kafka") as broker:
        make_topics(broker)
        with Running(broker, storage) as running:
            for number, kill in enumerate((True, False)):
                put(broker, range(300 * number, 300 * (number + 1)))
                broker.restart(kill=kill)
            put(broker, range(600, 700))
            all_there(storage, 700)
            assert not running.run.done()


def test_a_wrong_password_ends_it_with_one_line(postgres):
    """And the line does not hold the password."""
    with pytest.raises(Misconfigured, match="password authentication failed") as caught:
        EventLog.at(postgres.url(password="wrong-horse"))
    assert "wrong-horse" not in str(caught.value)


def test_the_process_is_killed_again_and_again(log, postgres, tmp_path):
    """Its health tells the truth, SIGTERM ends it in order, and kill -9 loses nothing."""
    url, (port,) = postgres.url(), free_ports(1)
    chance = random.Random(7)
    with (tmp_path / "log").open("w") as out, closing(EventLog.at(url)) as storage:

        @contextmanager
        def process():
            found = subprocess.Popen([sys.executable, PROGRAM, log.address, url, str(port)], stdout=out, stderr=out)
            try:
                yield found
            finally:
                found.kill()
                found.wait()

        for number in range(4):
            put(log, range(500 * number, 500 * (number + 1)), seed=number)
            with process() as running:
                wait_for(lambda: ready(port) == 200 or running.poll() is not None, 30, "ready")
                time.sleep(chance.uniform(0, 0.5))  # the hazard is random on purpose
                running.kill()
        with process() as running:
            all_there(storage, 2000)
            wait_for(lambda: ready(port) == 200, 30, "ready")
            postgres.kill()
            put(log, range(2000, 2010))
            wait_for(lambda: ready(port) == 503, 30, "it says that it fails")
            postgres.start()
            wait_for(lambda: ready(port) == 200, 30, "it says that it works")
            all_there(storage, 2010)
            running.send_signal(signal.SIGTERM)
            assert running.wait(20) == 0, (tmp_path / "log").read_text()[-3000:]


def ready(port):
    try:
        return httpx.get(f"http://127.0.0.1:{port}/readyz", timeout=2).status_code
    except httpx.TransportError:
        return 0
