"""A real Kafka for tests: one KRaft node from the jars of `make kafka`, on free ports and a folder of its own.

The fixture `kafka` (named in conftest.py) is one broker for the session, for each test without topics and groups. A test
that kills or pauses a broker takes one of its own: `with started(folder) as broker`.
"""

import os
import shutil
import signal
import socket
import subprocess
import time
from contextlib import closing, contextmanager, suppress
from pathlib import Path

import pytest

from needs import missing

LIBS = Path(__file__).parent.parent / ".kafka" / "libs"
READY = "Kafka Server started"
LOG_SETTINGS = """\
status = error
appender.out.type = Console
appender.out.name = out
appender.out.layout.type = PatternLayout
appender.out.layout.pattern = %d{HH:mm:ss.SSS} %p %c{1} %m%n
rootLogger.level = warn
rootLogger.appenderRef.out.ref = out
logger.ready.name = kafka.server.KafkaRaftServer
logger.ready.level = info
"""


class Broker:
    """One broker in `folder`. `address` is host:port for `brokers`; it stays the same over restarts."""

    def __init__(self, folder: Path, *, message_bytes: int = 1_000_000, heap: str = "512m") -> None:
        self._folder = folder
        self._heap = heap
        self._process: subprocess.Popen | None = None
        self._log = folder / "broker.log"
        ports = free_ports(2)
        self.address = f"127.0.0.1:{ports[0]}"
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "log4j2.properties").write_text(LOG_SETTINGS)
        (folder / "server.properties").write_text(_properties(folder, ports, message_bytes))

    @property
    def pid(self) -> int:
        assert self._process is not None, "not started"
        return self._process.pid

    @property
    def log(self) -> str:
        """What the broker has printed so far."""
        return self._log.read_text(errors="replace") if self._log.exists() else ""

    def start(self, timeout_s: float = 180) -> None:
        """Run it, and wait until it says that it is ready."""
        data = self._folder / "data"
        if not data.exists():
            self._format()
        begun = len(self.log)
        with self._log.open("a") as out:
            self._process = subprocess.Popen(
                [
                    *("java", f"-Xmx{self._heap}", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1"),
                    f"-Dlog4j2.configurationFile={self._folder / 'log4j2.properties'}",
                    *("-cp", f"{LIBS}/*", "kafka.Kafka", str(self._folder / "server.properties")),
                ],
                stdout=out,
                stderr=out,
                stdin=subprocess.DEVNULL,
                process_group=0,  # ctrl-C is for the tests; they stop the broker themselves
            )
        wait_for(lambda: READY in self.log[begun:] or self._process.poll() is not None, timeout_s, "broker starts")
        assert self._process.poll() is None, f"the broker ended:\n{self.log[begun:][-3000:]}"

    def stop(self, *, kill: bool = False, timeout_s: float = 30) -> None:
        """End it: orderly, or with `kill` at once. A paused one ends too."""
        process, self._process = self._process, None
        if process is None:
            return
        with suppress(ProcessLookupError):
            os.kill(process.pid, signal.SIGCONT)
            os.kill(process.pid, signal.SIGKILL if kill else signal.SIGTERM)
        try:
            process.wait(timeout_s)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()

    def restart(self, *, kill: bool = False) -> None:
        """Stop and start again on the same folder and ports."""
        self.stop(kill=kill)
        self.start()

    def pause(self) -> None:
        """Let it hang, as a machine without CPU does."""
        os.kill(self.pid, signal.SIGSTOP)

    def resume(self) -> None:
        os.kill(self.pid, signal.SIGCONT)

    def clear(self) -> None:
        """Delete every topic and consumer group, and wait until they are gone."""
        from kafka import KafkaAdminClient  # late: conftest.py imports this file for every test
        from kafka.errors import KafkaError

        with closing(KafkaAdminClient(bootstrap_servers=self.address, request_timeout_ms=20_000)) as admin:
            groups = [group["group_id"] for group in admin.list_groups()]
            if groups:
                with suppress(KafkaError):  # one that still has members ends with its topics
                    admin.delete_groups(groups)
            names = _own_topics(admin)
            if names:
                admin.delete_topics(names)
            wait_for(lambda: not _own_topics(admin), 20, "topics are deleted")

    def _format(self) -> None:
        tool = ["java", "-cp", f"{LIBS}/*", "kafka.tools.StorageTool"]
        cluster = subprocess.run([*tool, "random-uuid"], capture_output=True, text=True, check=True, timeout=60)
        settings = str(self._folder / "server.properties")
        subprocess.run(
            [*tool, "format", "--standalone", "-t", cluster.stdout.strip().splitlines()[-1], "-c", settings],
            capture_output=True,
            check=True,
            timeout=60,
        )


@contextmanager
def started(folder: Path, **how):
    """A broker of one's own; stopped at the end. Skips (in CI: fails) where Java or the jars are missing."""
    if shutil.which("java") is None:
        missing("Java 17 for Kafka is not here")
    if not LIBS.is_dir():
        missing("Kafka's jars are not here; run make kafka")
    broker = Broker(folder, **how)
    try:
        broker.start()
        yield broker
    finally:
        broker.stop(kill=True)
        shutil.rmtree(folder / "data", ignore_errors=True)


@pytest.fixture(scope="session")
def kafka_of_session(tmp_path_factory):
    with started(tmp_path_factory.mktemp("kafka")) as broker:
        yield broker


@pytest.fixture
def kafka(kafka_of_session):
    """The session's broker without any topic or group. Tests that stop it use `started`."""
    kafka_of_session.clear()
    return kafka_of_session


def settings_of(broker: Broker, **rest):
    """Settings of a small lake on this broker."""
    from upwell.config import Settings

    return Settings(**{"brokers": broker.address, "partitions": 4, "replication": 1, **rest})


def create_topics(broker: Broker, **rest) -> None:
    """All topics of the lake, as `upwell topics create` makes them."""
    from upwell.runtime.stream.admin import TopicAdmin

    with closing(TopicAdmin(settings_of(broker, **rest))) as admin:
        admin.create()


def records(broker: Broker, *names: str) -> list:
    """Everything that these topics hold now, in the order of partitions and offsets; tombstones too."""
    from kafka import KafkaConsumer, TopicPartition

    with closing(KafkaConsumer(bootstrap_servers=broker.address, consumer_timeout_ms=10_000)) as consumer:
        here = [TopicPartition(name, n) for name in names for n in sorted(consumer.partitions_for_topic(name) or ())]
        consumer.assign(here)
        consumer.seek_to_beginning(*here)
        ends = consumer.end_offsets(here)
        found: list = []
        while any(consumer.position(one) < ends[one] for one in here):
            for batch in consumer.poll(timeout_ms=200).values():
                found.extend(batch)
    return sorted(found, key=lambda one: (one.topic, one.partition, one.offset))


def free_ports(count: int) -> list[int]:
    """Different ports that nobody listens on now."""
    with_sockets = [socket.socket() for _ in range(count)]
    for one in with_sockets:
        one.bind(("127.0.0.1", 0))
    ports = [one.getsockname()[1] for one in with_sockets]
    for one in with_sockets:
        one.close()
    return ports


def wait_for(condition, timeout_s: float, what: str) -> None:
    """Look until the condition holds; fails after `timeout_s`, saying what was awaited."""
    deadline = time.monotonic() + timeout_s
    while not condition():
        assert time.monotonic() < deadline, f"not within {timeout_s} s: {what}"
        time.sleep(0.05)


def _own_topics(admin) -> list[str]:
    return [name for name in admin.list_topics() if not name.startswith("__")]


def _properties(folder: Path, ports: list[int], message_bytes: int) -> str:
    client, controller = ports
    lines = {
        "process.roles": "broker,controller",
        "node.id": 1,
        "controller.quorum.bootstrap.servers": f"127.0.0.1:{controller}",
        "listeners": f"PLAINTEXT://127.0.0.1:{client},CONTROLLER://127.0.0.1:{controller}",
        "advertised.listeners": f"PLAINTEXT://127.0.0.1:{client}",
        "controller.listener.names": "CONTROLLER",
        "inter.broker.listener.name": "PLAINTEXT",
        "listener.security.protocol.map": "CONTROLLER:PLAINTEXT,PLAINTEXT:PLAINTEXT",
        "log.dirs": folder / "data",
        "auto.create.topics.enable": "false",
        "message.max.bytes": message_bytes,
        "offsets.topic.num.partitions": 4,
        "offsets.topic.replication.factor": 1,
        "transaction.state.log.replication.factor": 1,
        "transaction.state.log.min.isr": 1,
        "share.coordinator.state.topic.replication.factor": 1,
        "share.coordinator.state.topic.min.isr": 1,
        "group.initial.rebalance.delay.ms": 0,
        "log.cleaner.backoff.ms": 500,  # how often it looks whether something must be compacted
        "group.min.session.timeout.ms": 1000,
        "broker.session.timeout.ms": 2000,  # a killed one may register again only after it
        "broker.heartbeat.interval.ms": 500,
    }
    return "".join(f"{name}={value}\n" for name, value in lines.items())
