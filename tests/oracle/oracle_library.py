"""Histories through the library: the real registry and the real read side over a store in memory, every call of which
may be where the lake crashes, another change comes in, or somebody looks.
"""

import itertools
import random
import tempfile
from pathlib import Path

from faults import Crash
from oracle_duels import Duels
from oracle_histories import DOCS, START, past
from oracle_tally import REST, Tally
from world import PIPELINE, Fault, HandClock, World, run_history

from memory_store import MemoryStore
from upwell.lake.registry import SqlRegistry
from upwell.ports import NoAudit
from upwell.reading import Reader
from upwell.records import ChangeEvent, Membership, Op
from upwell.runtime.reading import GovernedReading
from upwell.sqlite import open_sqlite
from words import WordsTokenizer

BUDGET = 100_000
DUELS = 12
FRESH_REGISTRY = 60
"""After so many histories another file: what is in it slows the next down."""


class LibraryWorld(World):
    """`World`, asked through `ReadApi`."""

    def __init__(self, *given, tally, **more):
        super().__init__(*given, **more)
        self.tally = tally
        self.embedder.tokenizer = WordsTokenizer()
        self._ask = self._searched
        self.reading = GovernedReading(
            registry=self._gated_registry,
            store=lambda: self._gated_store,
            embedder=lambda: self.embedder,
            pipeline=lambda: PIPELINE,
            freshness=lambda: (),
            audit=NoAudit(),
            clock=self.clock,
            acl_max_age_us=self.max_age,
        )

    def shown(self, who):
        reader = Reader(asker=self.asker(who), actor="user:anybody")
        return [(doc_id.partition("!/")[0], text) for doc_id, text in self._ask(reader)]

    def _searched(self, reader):
        return [(hit.doc_id, hit.text) for hit in self.reading.search("any words", reader=reader, k=100).hits]

    def _assembled(self, reader):
        """A budget that holds everything: the context is all that the reader may see."""
        answer = self.reading.context("any words", reader=reader, budget=BUDGET)
        assert answer.whole
        return [(passage.doc_id, word) for passage in answer.passages for word in passage.text.split()]

    def check_context(self, who, docs):
        """A context, held against the oracle as a search is."""
        self._ask = self._assembled
        try:
            self.check_search(who, docs)
        finally:
            self._ask = self._searched
        self.tally.happened["contexts among the searches"] += 1

    def check_search(self, who, docs):
        before = self.moments()
        shown = super().check_search(who, docs)
        self.tally.searches["library"] += 1
        there = sum(len(self.store.present(self.key(doc))) for doc in docs)
        given = sum(map(len, shown.values()))
        self.tally.marks["library", "showed"] += given > 0
        self.tally.marks["library", "held back"] += there > given
        self.tally.happened["searches with a change in their midst"] += before != self.moments()
        return shown

    def moments(self):
        """What changes with each change that is delivered, wherever it stands."""
        return self.clock.now, self.oracle.applied(), self.oracle.binding()


def search_library(seed, part, parts, searches, *, until=lambda _tally: False):
    """Histories `part`, `part + parts`, … of the seed until so many searches have been held against the oracle."""
    tally = Tally()
    numbers, files = itertools.count(part, parts), itertools.count()
    with tempfile.TemporaryDirectory(prefix="upwell-oracle-") as folder:
        while tally.total < searches and not until(tally):
            clock, file = HandClock(START), Path(folder) / f"{next(files)}.sqlite"
            registry = SqlRegistry(open_sqlite(file, synchronous="OFF"), clock)
            try:
                for number in itertools.islice(numbers, FRESH_REGISTRY):
                    play(seed, number, registry, clock, tally)
                    if tally.total >= searches or until(tally):
                        break
            finally:
                registry.close()
    return tally


def play(seed, number, registry, clock, tally):
    """One history: told in two orders, it has to end in the same lake."""
    then = past(random.Random(f"{seed}/{number}"))
    states = []
    for run in range(2):
        clock.now = START
        tenant = f"t{number}-{run}"
        world = LibraryWorld(registry, MemoryStore(), tenant, clock=clock, max_age=then.max_age, tally=tally)
        try:
            run_history(world, then.happens, random.Random(f"{seed}/{number}/{run}"), DOCS, readers=then.readers)
            world.check_rest(DOCS, then.readers)
            states.append(world.state(DOCS))
            grow_old(world, then)
            Duels(world, random.Random(f"{seed}/{number}/{run}/duels"), then.max_age).fight(DUELS, then.readers)
        except Fault as e:
            tally.fault("library", e.kind, f"history {number}, order {run}: {e}")
        except (AssertionError, Crash) as e:
            tally.fault("library", REST, f"history {number}, order {run}: {type(e).__name__} {e}")
    if len(states) == 2 and states[0] != states[1]:
        tally.fault("library", REST, f"history {number}: two orders end in two lakes")
    count(then, tally)


def grow_old(world, then):
    """Once all is quiet: each permission that is unknown holds to the last microsecond of its time, and not one more."""
    since = {world.oracle.unknown_since(doc) for doc in DOCS} - {None}
    for time in sorted(at + then.max_age + late for at in since for late in (0, 1)):
        if time >= world.clock.now:
            world.clock.reach(time)
            for who in then.readers:
                world.check_search(who, DOCS)


def count(then, tally):
    tally.happened["histories"] += 1
    tally.happened["memberships"] += then.count(Membership)
    tally.happened["leaps of the clock"] += then.count(int)
    for one in then.happens:
        if isinstance(one, ChangeEvent):
            missing = one.acl_missing is not None
            tally.happened["permissions unknown" if missing else f"{Op(one.op).value} events"] += 1
