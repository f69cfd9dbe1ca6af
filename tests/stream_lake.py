"""A distributed lake in one process: the commands' side on SQLite, the workers as handlers over a log in memory."""

import time

import words
from handlers import Handlers, drain
from hashed import hash_embedder
from memory_log import MemoryLog
from memory_store import MemoryStore
from upwell.clock import now_us
from upwell.errors import Retryable
from upwell.lake.registry import SqlRegistry
from upwell.messages import Change
from upwell.records import Lane
from upwell.runtime.eventlog import EventLog
from upwell.runtime.lazy import Lazy
from upwell.runtime.stream import codec, topics
from upwell.runtime.stream.lake import DistributedLake
from upwell.runtime.stream.memberships import StreamMemberships
from upwell.runtime.stream.parts import LakeParts
from upwell.runtime.stream.sink import KafkaSink
from upwell.sources.fetch import Fetching

PIPELINE = "pipeline"
READ_BY_LEDGER = (*(topics.laned(topics.CHANGES, lane) for lane in Lane), topics.CONTROL, topics.APPLIED, topics.DEAD)


class MemoryProducer:
    """`LogProducer` into the log in memory; the workers and the ledger go on at once while `working`.

    `fail_with` is raised instead, once.
    """

    def __init__(self, log, work):
        self.log = log
        self.work = work
        self.working = True
        self.fail_with = None

    def send(self, outgoings):
        if self.fail_with is not None:
            error, self.fail_with = self.fail_with, None
            raise error
        for outgoing in outgoings:
            self.log.send(outgoing)
        if self.working:
            self.work()


class MemoryEnds:
    """`waiting.Ends` over the log in memory."""

    def __init__(self, log):
        self.log = log
        self.heard = log.offsets(topics.APPLIED)

    def poll(self, timeout_s):
        now = self.log.offsets(topics.APPLIED)
        ends = self.log.messages(topics.APPLIED, self.heard, now)
        self.heard = now
        if not ends:
            time.sleep(0.01)
        return ends

    def close(self):
        pass


class StreamLake:
    """`lake` is what commands talk to; `work()` is what workers and ledger do."""

    def __init__(self, folder):
        self.folder = folder
        folder.mkdir(exist_ok=True)
        self.log = MemoryLog(clock=now_us)
        self.registry = SqlRegistry.at(folder / "registry.sqlite")
        self.ledger = EventLog.at(folder / "ledger.sqlite")
        self.store = MemoryStore()
        self.parser = words.WordsParser()
        self.lag = {"upwell-ledger": 0}
        embedder = hash_embedder()
        self.handlers = Handlers(
            registry=self.registry,
            store=self.store,
            pipeline=PIPELINE,
            embedder=embedder,
            tokenizer=words.WordsTokenizer(),
            policy=words.POLICY,
            fetcher=Fetching({}, self.log.blobs, limit_bytes=64 * 1024 * 1024),
            parser=self.parser,
            blobs=self.log.blobs,
            clock=now_us,
        )
        self.producer = MemoryProducer(self.log, self.work)
        self.sink = KafkaSink(
            self.producer,
            self.log.blobs,
            pending=lambda: sum(count for count, _ in self.ledger.pending_counts().values()),
            max_pending=1000,
            ended=lambda event: None,
        )
        self.lake = DistributedLake(
            LakeParts(
                name="kafka://memory",
                folder=folder / "here",
                embedder_name="hash",
                pipeline=lambda: PIPELINE,
                registry=self.registry,
                ledger=self.ledger,
                store=Lazy(lambda: self.store),
                embedder=Lazy(lambda: embedder),
                sink=self.sink,
                memberships=StreamMemberships(self.producer, self.registry.directory),
                directory=self.registry.directory,
                blobs=self.log.blobs,
                ends=lambda: MemoryEnds(self.log),
                lag=self._lag,
                clock=now_us,
            )
        )
        self._read = {}

    def work(self):
        drain(self.log, self.handlers)
        for place, records in sorted(self.log.records.items()):
            if place[0] in READ_BY_LEDGER:
                self._note(self._unread(place, records))

    def close(self):
        self.lake.close()
        self.ledger.close()
        self.registry.close()

    def _lag(self):
        """None: the brokers do not answer."""
        if self.lag is None:
            raise Retryable("no broker answers")
        return self.lag

    def _unread(self, place, records):
        start, self._read[place] = self._read.get(place, 0), len(records)
        return [
            codec.decode(value, headers, place[0], key=key, blobs=self.log.blobs)
            for key, value, headers in records[start:]
            if value is not None
        ]

    def _note(self, messages):
        accepted = [message.event for message in messages if isinstance(message, Change)]
        self.ledger.end([message for message in messages if not isinstance(message, Change)], accepted)
