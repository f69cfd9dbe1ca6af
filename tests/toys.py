"""Toy workers on a real broker: started, killed and watched; what went into their topic and what came out."""

import signal
import subprocess
import sys
import time
from collections import defaultdict
from contextlib import closing
from pathlib import Path

import httpx
from kafka import KafkaAdminClient, KafkaConsumer, KafkaProducer, TopicPartition
from kafka.admin import NewTopic

from broker import free_ports, wait_for
from stream_samples import event
from upwell.messages import Change, Dead, Embedded, Parsed
from upwell.records import ENCODER
from upwell.runtime.stream import codec, topics

TAKEN, COPIED, FAILED, DEAD = (
    topics.laned("changes", "live"),
    topics.laned("parsed", "live"),
    topics.laned("embedded", "live"),
    topics.DEAD,
)
GROUP = "upwell-parse-live"
PROGRAM = Path(__file__).parent / "toy_worker.py"
PARTITIONS = 4


class Toys:
    """Workers of one line. `options` are the settings of each, and `pause_s`, how long its stage takes."""

    def __init__(self, broker, home, **options):
        self.broker = broker
        self.home = home
        self.options = options
        self.running = []
        self.statuses = []

    def start(self, **options):
        """One more worker; its log is a file of its own."""
        log = self.home / f"worker-{len(self.statuses) + len(self.running)}-{time.monotonic_ns()}.log"
        (port,) = free_ports(1)
        words = [f"{name}={value}" for name, value in {"port": port, **self.options, **options}.items()]
        with log.open("w") as out:
            process = subprocess.Popen([sys.executable, PROGRAM, self.broker.address, *words], stdout=out, stderr=out)
        process.log, process.port = log, port
        self.running.append(process)
        return process

    def end(self, process, number=signal.SIGTERM, timeout=40):
        """Send a signal and return the exit status."""
        process.send_signal(number)
        status = process.wait(timeout)
        self.ended(process)
        return status

    def ended(self, process):
        self.running.remove(process)
        self.statuses.append(process.returncode)

    def close(self):
        for process in self.running:
            process.kill()
            process.wait()

    def lines(self):
        """Everything that all of them have logged."""
        return "".join(path.read_text() for path in sorted(self.home.glob("worker-*.log")))

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()


def answer(process, route):
    """(status, text) of a worker's health server; (0, "") while it does not answer. The worker must live."""
    assert process.poll() is None, f"the worker ended with {process.returncode}:\n{process.log.read_text()[-2000:]}"
    try:
        found = httpx.get(f"http://127.0.0.1:{process.port}{route}", timeout=3)
    except httpx.TransportError:
        return 0, ""
    return found.status_code, found.text.strip()


def ready(*processes):
    for process in processes:
        wait_for(lambda p=process: answer(p, "/readyz")[0] == 200, 40, "the worker is ready")


def unready(process, why):
    wait_for(lambda: answer(process, "/readyz") == (503, why), 60, f"the worker says: {why}")


def rss_mb(process):
    """Resident memory."""
    text = Path(f"/proc/{process.pid}/status").read_text()
    return int(text.split("VmRSS:")[1].split()[0]) / 1024


def make_topics(broker, **configs):
    with closing(KafkaAdminClient(bootstrap_servers=broker.address)) as admin:
        admin.create_topics(
            [NewTopic(t, num_partitions=PARTITIONS, replication_factor=1, topic_configs=configs) for t in topics.ALL]
        )


def put(broker, count, *, documents=100, first=0, data=b"tea", title=lambda n: None):
    """Write changes `first` .. of `documents` documents in turn; the version is the number. Returns their ids."""
    with closing(KafkaProducer(bootstrap_servers=broker.address, linger_ms=5, max_request_size=4_000_000)) as producer:
        ids = []
        for n in range(first, first + count):
            made = event(f"d{n % documents}", version=n + 1, event_id=f"e{n}", title=title(n), data=data)
            producer.send(TAKEN, key=topics.key_of(made.key), value=ENCODER.encode(Change(event=made)))
            ids.append(made.event_id)
        producer.flush()
    return ids


def got(broker, topic):
    """All messages of a topic, each partition in order."""
    kind = {COPIED: Parsed, FAILED: Embedded, DEAD: Dead}[topic]
    found = []
    with closing(
        KafkaConsumer(
            bootstrap_servers=broker.address, group_id=None, enable_auto_commit=False, auto_offset_reset="earliest"
        )
    ) as consumer:
        parts = [TopicPartition(topic, n) for n in range(PARTITIONS)]
        consumer.assign(parts)
        ends = consumer.end_offsets(parts)
        while any(consumer.position(part) < ends[part] for part in parts):
            for records in consumer.poll(500).values():
                found += [codec.decode(r.value, r.headers, topic, key=r.key, blobs=None) for r in records]
    assert all(isinstance(message, kind) for message in found)
    return found


def behind(broker, group=GROUP, topic=TAKEN):
    """How many records of the topic the group has not committed."""
    with closing(KafkaConsumer(bootstrap_servers=broker.address, group_id=group, enable_auto_commit=False)) as consumer:
        parts = [TopicPartition(topic, n) for n in range(PARTITIONS)]
        ends = consumer.end_offsets(parts)
        return sum(ends[part] - (consumer.committed(part) or 0) for part in parts)


def empty(broker, topic=TAKEN):
    """Delete every message, as retention does."""
    with closing(KafkaAdminClient(bootstrap_servers=broker.address)) as admin:
        admin.delete_records({TopicPartition(topic, n): -1 for n in range(PARTITIONS)})


def committed(broker, group=GROUP, topic=TAKEN):
    """What the group has committed of each partition that it has committed anything of."""
    with closing(KafkaAdminClient(bootstrap_servers=broker.address)) as admin:
        found = admin.list_group_offsets([group])[group]
    return {one.partition: at.offset for one, at in found.items() if one.topic == topic and at.offset >= 0}


def ends(broker, topic=TAKEN):
    """Where each partition ends."""
    with closing(KafkaConsumer(bootstrap_servers=broker.address)) as consumer:
        found = consumer.end_offsets([TopicPartition(topic, n) for n in range(PARTITIONS)])
    return {one.partition: end for one, end in found.items()}


def sent(broker, topic=COPIED):
    """How many records stand in a topic."""
    with closing(KafkaConsumer(bootstrap_servers=broker.address, group_id=None, enable_auto_commit=False)) as consumer:
        return sum(consumer.end_offsets([TopicPartition(topic, n) for n in range(PARTITIONS)]).values())


def caught_up(broker, timeout_s=60):
    wait_for(lambda: behind(broker) == 0, timeout_s, "everything is committed")


def assert_none_lost(ids, found):
    """Every event is in an output at least once; returns how many were there more than once."""
    seen = [message.event.event_id for message in found]
    lost = set(ids) - set(seen)
    assert not lost, f"{len(lost)} lost: {sorted(lost)[:10]}"
    return len(seen) - len(set(seen))


def assert_in_order(found):
    """First comes first, and what came last is the newest: redeliveries may only repeat a piece of the past."""
    versions = defaultdict(list)
    for message in found:
        versions[message.event.doc_id].append(message.event.version)
    for doc, of in versions.items():
        firsts = list(dict.fromkeys(of))
        assert firsts == sorted(firsts), doc
        assert of[-1] == max(of), doc
