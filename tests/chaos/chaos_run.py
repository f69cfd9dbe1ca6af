"""One chaos run, from the history to the verdict.

A seeded history goes through the real broker, the real database and two processes of every worker while they are
killed, terminated, put to sleep and robbed of their broker, their database and their store. At the end every event is
counted by id, and the lake is held against the embedded one's.
"""

import pickle
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from contextlib import ExitStack, closing, contextmanager, suppress
from pathlib import Path

from ending import any_query, check_copies, ending_of
from history import READERS, History, Poison, history
from kafka import KafkaProducer
from machines import LINES, PER_LINE, Fleet, names_of
from reference import Reference, embedded_lake
from rich.console import Console
from schedule import Blow, Planned, Storm, planned
from verdict import Log, Verdict, check_audit, check_costs, check_events, check_lake, check_watch, ledger
from watcher import Seen, Watcher

import stagehand
from qdrant_servers import SERVERS
from upwell.audit.drain import Drain
from upwell.config import Settings
from upwell.embed import embedder_of
from upwell.errors import Retryable
from upwell.lake.publish import Publisher
from upwell.lake.registry import SqlRegistry
from upwell.records import ChangeEvent
from upwell.runtime.stream import topics
from upwell.runtime.stream.producer import LogProducer
from upwell.runtime.stream.sink import KafkaSink
from upwell.wiring import distributed, opening

COMMAND = Path(__file__).with_name("run.py")
OUTSTANDING = 120
"""So many events wait at most: the blows shall fall into work, not into an idle lake."""
WATCHERS = 2
END_S = 420.0
QUIET_S = 120.0
"""The run has failed when nothing has ended for so long."""


class Run:
    """One run in a folder of its own."""

    def __init__(self, folder: Path, past: History, plan: list[Planned], console: Console, **fleet) -> None:
        self.past, self.console = past, console
        self.fleet = Fleet(folder, **fleet)
        self.plan = plan
        self.poisoned: list[tuple[str, int, int]] = []
        self.url = self.fleet.settings["registry"]
        self.settings = Settings(**self.fleet.settings)
        self.done = 0
        self.sent = 0
        self._began = self._ended_at = time.monotonic()

    def go(self, seed: int, reference) -> Verdict:
        """Send, strike, watch, wait, and judge. `reference` gives the embedded lake's result when asked."""
        verdict = Verdict()
        with ExitStack() as stack:
            stack.callback(self.fleet.close)
            self._say("start")
            self.fleet.prepare()
            self.fleet.start()
            self._say(f"{len(self.fleet.workers)} workers, {len(self.plan)} blows")
            storm = Storm(self.fleet, self.plan, lambda: self.done / len(self.past.events), self._say)
            watchers = [self._watcher(seed + number, stack) for number in range(WATCHERS)]
            counting = threading.Event()
            counter = threading.Thread(target=self._count, args=(counting,), daemon=True)
            for thread in (counter, storm, *watchers):
                thread.start()
            try:
                self._send(stack)
                self._say("all sent")
                ended = self._wait()
                self._say("all ended" if ended else "given up")
            finally:
                storm.stop()
                for watcher in watchers:
                    watcher.stop()
                counting.set()
                counter.join()
            self.fleet.quiet()
            verdict.expect("not ended in time", [] if ended else [f"{len(self.past.events) - self.done} events"])
            verdict.expect("broken harness", [repr(t.failure) for t in (storm, *watchers) if t.failure])
            self._say("judging")
            self._judge(verdict, storm, watchers, reference())
        verdict.counts["seconds"] = round(time.monotonic() - self._began)
        return verdict

    def _send(self, stack: ExitStack) -> None:
        blobs = opening.open_blobs(self.settings)
        stack.callback(blobs.close)
        producer = LogProducer(self.settings.brokers, blobs=blobs, message_bytes=self.settings.message_bytes)
        stack.callback(producer.close)
        sink = KafkaSink(producer, blobs, pending=lambda: 0, max_pending=10**9, ended=lambda _event: None)
        ids = set()
        for one in self.past.sent:
            while self.sent - self.done > OUTSTANDING and not self._stalled():
                time.sleep(0.02)
            if isinstance(one, Poison):
                self._poison(one)
                continue
            while True:
                with suppress(Retryable):
                    sink.accept([one])
                    break
                time.sleep(0.2)
            ids.add(one.event_id)
            self.sent = len(ids)

    def _poison(self, one: Poison) -> None:
        topic = topics.CONTROL if one.where == "control" else f"upwell.{topics.CHANGES}.{one.where}.v1"
        while True:
            producer = KafkaProducer(bootstrap_servers=self.settings.brokers, acks="all")
            with closing(producer), suppress(Exception):
                sent = producer.send(topic, value=one.value, key=topics.key_of(one.key), headers=one.headers).get(10)
                self.poisoned.append((sent.topic, sent.partition, sent.offset))
                return
            time.sleep(0.5)

    def _count(self, stop: threading.Event) -> None:
        """Keep `done` at how many events have ended, by the ledger."""
        while not stop.wait(0.4):
            with suppress(Exception):  # the database hangs, or the tables are not there yet
                done = sum(outcome is not None for outcome in ledger(self.url).values())
                if done != self.done:
                    self.done, self._ended_at = done, time.monotonic()

    def _stalled(self) -> bool:
        return time.monotonic() - self._ended_at > QUIET_S

    def _wait(self) -> bool:
        deadline = time.monotonic() + END_S
        while self.done < len(self.past.events):
            if time.monotonic() > deadline or self._stalled():
                return False
            time.sleep(0.2)
        return True

    def _watcher(self, seed: int, stack: ExitStack) -> Watcher:
        registry, store, identity = self._lake(stack)
        return Watcher(
            seed,
            registry=registry,
            store=store,
            embedder=embedder_of("hash"),
            pipeline=identity.pipeline,
            said=self.past.said,
        )

    def _lake(self, stack: ExitStack):
        registry = opening.open_registry(self.settings)
        stack.callback(registry.close)
        identity = distributed.identity_of(registry, self.settings)
        store = stagehand.stand_in(self.settings, identity)
        stack.callback(store.close)
        return registry, store, identity

    def _judge(self, verdict: Verdict, storm: Storm, watchers: list[Watcher], reference: Reference) -> None:
        with ExitStack() as stack:
            blobs = opening.open_blobs(self.settings)
            stack.callback(blobs.close)
            registry, store, identity = self._lake(stack)
            log = Log(self.settings.brokers, blobs)
            check_events(verdict, self.past, self.poisoned, log, ledger(self.url))
            first = ending_of(registry, store, identity.pipeline)
            verdict.counts["orphans before the sweep"] = len(first.orphans)
            _publisher(registry, store, identity).sweep(fence=True)
            ending = ending_of(registry, store, identity.pipeline)
            query = any_query(embedder_of("hash"))
            check_copies(ending, registry, store, identity.pipeline, readers=READERS, query=query)
            check_lake(verdict, ending, reference, self.past.said)
            check_costs(verdict, log, reference)
            self._audit(verdict, registry)
        seen = Seen()
        for watcher in watchers:
            seen.add(watcher.seen)
        check_watch(verdict, seen)
        self._machines(verdict, storm)

    def _audit(self, verdict: Verdict, registry: SqlRegistry) -> None:
        """The ledger's worker may have been killed with something owed: the next one would go on here."""
        with closing(opening.open_audit(self.settings)) as audit:
            Drain(lambda: registry.outbox, lambda: audit).once()
        tables = opening.audit_tables(self.settings)
        with closing(tables):
            check_audit(verdict, registry, tables)

    def _machines(self, verdict: Verdict, storm: Storm) -> None:
        for blow in Blow:
            verdict.counts[blow.value] = sum(one.blow is blow for one in storm.struck)
        verdict.expect(
            "blows that did not fall", (f"{one.blow} {one.machine}" for one in self.plan[len(storm.struck) :])
        )
        ends = [status for machine in self.fleet.workers for status in machine.ends]
        verdict.counts["workers started again"] = len(ends)
        verdict.counts["of those by themselves"] = sum(status == 1 for status in ends)
        verdict.expect(
            "workers that refused to work",
            (f"{m.name}: {m.tail(300)}" for m in self.fleet.workers if 2 in m.ends),
        )

    def show_logs(self) -> None:
        """The last lines of every machine."""
        for machine in self.fleet.machines:
            self.console.rule(machine.name)
            self.console.print(machine.tail(), markup=False, highlight=False)

    def _say(self, line: str) -> None:
        self.console.print(f"{time.monotonic() - self._began:5.0f} s  {line}", style="dim", highlight=False)


def _publisher(registry, store, identity) -> Publisher:
    return Publisher(
        registry,
        {identity.pipeline: store},
        active=identity.pipeline,
        model=identity.model,
        vectors=lambda _event: None,
        clock=lambda: 0,
    )


@contextmanager
def beside(events: list[ChangeEvent], folder: Path):
    """Make the reference in a process of its own, beside the run; gives what waits for its result."""
    (folder / "events").write_bytes(pickle.dumps(events))
    process = subprocess.Popen(["nice", "-n", "5", sys.executable, str(COMMAND), "--reference", str(folder)])

    def result() -> Reference:
        assert process.wait(900) == 0, "the reference failed"
        return pickle.loads((folder / "reference").read_bytes())

    try:
        yield result
    finally:
        process.terminate()
        process.wait()


def make_reference(folder: Path) -> None:
    """In the process of its own: the embedded lake's result for the events that lie in the folder."""
    made = embedded_lake(pickle.loads((folder / "events").read_bytes()), folder / "embedded")
    (folder / "reference").write_bytes(pickle.dumps(made))


def chaos(*, seed: int, kills: int, events: int, documents: int, console: Console, keep: bool = False) -> Verdict:
    """One whole run in a temporary folder, which stays with `keep`."""
    past = history(seed, events, documents)
    with ExitStack() as stack:
        folder = Path(tempfile.mkdtemp(prefix="upwell-chaos-"))
        if not keep:
            stack.callback(shutil.rmtree, folder, ignore_errors=True)
        reference = stack.enter_context(beside(past.events, folder))
        plan = planned(seed, kills, names_of(LINES, PER_LINE), store=not SERVERS)
        run = Run(folder, past, plan, console)
        verdict = run.go(seed, reference)
        if not verdict.good:
            run.show_logs()
        return verdict
