"""A lake under test: delivers events in any order, twice, cut short and interleaved, and checks every search."""

import hashlib
import itertools
import math
from functools import lru_cache

import msgspec
import numpy as np
from faults import Crash, Gate, Gated
from people import Said, Who
from strategies import READERS, Content, prepared

from oracle import Oracle
from upwell.access import Asker
from upwell.lake.publish import Publisher
from upwell.lake.vectors import lake_vectors
from upwell.ports import QueryVectors
from upwell.records import Acl, ChangeEvent, DocKey, Membership, Op, ParseStatus, Vectors, stable_hash
from upwell.search.govern import MOST_HITS, Reading, governed_search

PIPELINE = "words"
DIM = 4


_TICKS = itertools.count(1)


def tick():
    """One clock for all parts of a lake: a microsecond later at each look."""
    return next(_TICKS)


class HandClock:
    """A clock that stands until it is told to go on."""

    def __init__(self, now):
        self.now = now

    def __call__(self):
        return self.now

    def reach(self, time):
        """Go on to this time; never back."""
        self.now = max(self.now, time)


class Fault(AssertionError):
    """An answer that the oracle refuses; `kind` is what it is counted as: leak, part (a lost right) or rest."""

    def __init__(self, kind, said):
        super().__init__(f"{kind}: {said}")
        self.kind = kind


@lru_cache(maxsize=4096)
def vectors_of(text):
    """Deterministic small vectors of a text."""
    numbers = np.frombuffer(hashlib.sha256(text.encode()).digest()[:DIM], np.uint8).astype(np.float16) + 1
    packed = (numbers / 256).astype(np.float16).tobytes()
    return Vectors(dense=packed, late=packed, late_count=1, sparse_indices=(1,), sparse_values=(1.0,))


QUERY = QueryVectors(
    dense=np.ones(DIM, np.float32).tobytes(),
    late=np.ones(DIM, np.float32).tobytes(),
    late_count=1,
    sparse_indices=(1,),
    sparse_values=(1.0,),
)


class WordsEmbedder:
    """An embedder that remembers every text it was asked for."""

    name = fingerprint = "words"
    dim = DIM

    def __init__(self):
        self.asked = []

    def embed(self, texts, *, urgent=False):
        self.asked.extend(texts)
        return [vectors_of(text) for text in texts]

    def embed_query(self, _text):
        return QUERY


class World:
    """One lake, one tenant. `gate` is passed before every call that the lake makes to its parts.

    With a `max_age` (us) a permission that its source could not confirm for longer hides its document.
    """

    def __init__(self, registry, store, tenant, *, prepare=prepared, clock=tick, max_age=None):
        self.registry, self.store, self.tenant = registry, store, tenant
        self.prepare, self.clock, self.max_age = prepare, clock, max_age
        self.gate = Gate()
        self.oracle = Oracle(max_age)
        self.embedder = WordsEmbedder()
        self.outcomes = {}
        self.searches = 0
        self._gated_registry, self._gated_store = Gated(registry, self.gate), Gated(store, self.gate)
        self._gated_directory = Gated(registry.directory, self.gate)
        self.publisher = Publisher(
            self._gated_registry,
            {PIPELINE: self._gated_store},
            active=PIPELINE,
            model=self.embedder.fingerprint,
            vectors=lake_vectors(self._gated_registry, self._gated_store, PIPELINE, lambda: self.embedder),
            clock=clock,
            batch_chunks=2,
        )

    def key(self, doc):
        return DocKey(tenant=self.tenant, source="s", doc_id=doc)

    def bind(self, event):
        """Make the control half of an event effective in the registry alone; True if that has changed anything."""
        event = self.ours(event)
        effects = control_effects(event)
        self._begin(effects)
        bound = self.publisher.bind(event)
        if bound:
            self._acknowledge(effects, ended=False)
        return bound

    def control(self, event, *, bound=False):
        """Deliver the control half of an event (the rest of it after `bind`); True if its content has still to come."""
        event = self.ours(event)
        effects = control_effects(event)
        self._begin(effects)
        result = self.publisher.control(event, bound=bound)
        self._acknowledge(effects, ended=result is not None)
        if result is not None:
            self._end(event, result)
        return result is None

    def process(self, event):
        """Deliver the content half (with the control half in it, for those that skip it)."""
        event = self.ours(event)
        effects = control_effects(event) + content_effects(event)
        self._begin(effects)
        result = self.publisher.publish(event, self.prepare(event))
        self._acknowledge(effects, ended=True)
        self._end(event, result)
        return result

    def tell(self, member):
        """Deliver a membership: effective when the directory has returned."""
        member = self.ours(member)
        said = Said(member.principal, member.version, frozenset(() if member.gone else member.member_of), member.gone)
        self.oracle.people.begin(said)
        self._gated_directory.put(member)
        self.oracle.people.acknowledge(said)

    def deliver(self, event):
        """Both halves, one after the other; the result that ended the event."""
        return self.process(event) if self.control(event) else self.outcomes[event.event_id]

    def ours(self, event):
        return msgspec.structs.replace(event, tenant=self.tenant)

    def asker(self, who):
        """The product's asker for a reader: a set of certain principals, or a `people.Who`."""
        who = who if isinstance(who, Who) else Who(who)
        return Asker(tenant=self.tenant, principals=who.certain, claimed=who.claimed)

    def search(self, who):
        """The hits of the governed search with its re-check."""
        reading = Reading(asker=self.asker(who), acl_max_age_us=self.max_age)
        found = governed_search(
            QUERY, reading, MOST_HITS, registry=self._gated_registry, store=self._gated_store, pipeline=PIPELINE
        )
        return [admitted.hit for admitted in found.admitted]

    def shown(self, who):
        """(document, text) of each hit."""
        return [(hit.key.doc_id, hit.text) for hit in self.search(who)]

    def check_search(self, who, docs):
        """One search, held against the oracle: nothing forbidden, whole documents, nothing lost."""
        since, began = self.oracle.applied(), self.clock.now if isinstance(self.clock, HandClock) else 0
        shown = {doc: [] for doc in docs}
        for doc, text in self.shown(who):
            if doc not in shown:
                raise Fault("leak", f"{text} of {doc}, which is no document of {self.tenant}")
            shown[doc].append(text)
        self.searches += 1
        between = (began, self.clock.now if began else 0)
        asker = who if isinstance(who, Who) else Who(who)
        wrong = self.oracle.faults(shown, asker, since, between=between)
        for kind, found in wrong.items():
            raise Fault(kind, f"{found} to {asker}")
        return shown

    def check_rest(self, docs, readers=READERS):
        """Once every event has ended: the lake is what the events say, to the last point."""
        for doc in docs:
            content, (levels, deny) = self.oracle.final(doc)
            row, key = self.registry.row(self.key(doc)), self.key(doc)
            manifest = self.registry.manifest(key, PIPELINE)
            texts = self.store.texts([e.point_id for e in manifest.entries])
            expected = () if content is None else content[2]
            assert tuple(texts[e.point_id] for e in manifest.entries) == expected
            assert set(self.store.present(key)) == set(texts), "points that no manifest lists"
            if row is None:
                continue
            assert (row.version, row.rank, row.moved_to or "") == (
                (-1, 0, "") if content is None else content[1][:2] + content[1][3:]
            )
            assert row.deleted == (row.rank > 0)
            assert not row.hold
            assert row.acl == Acl(levels=levels, deny=deny)
            assert row.acl_missing_since == self.oracle.unknown_since(doc)
        for who in readers:
            self.check_search(who, docs)

    def state(self, docs):
        """Everything of the lake that may not depend on the order of events (times, point ids and revisions may)."""
        blank = {"rev": 0, "received_at": None, "searchable_at": None, "stale_since": None}
        found = {}
        for doc in docs:
            row = self.registry.row(self.key(doc))
            entries = self.registry.manifest(self.key(doc), PIPELINE).entries
            places = [(e.chunk_key, e.child, e.ordinal, e.page, e.heading_path, e.spans, e.text_hash) for e in entries]
            key = DocKey(tenant="any", source="s", doc_id=doc)
            found[doc] = (None if row is None else msgspec.structs.replace(row, key=key, **blank), places)
        return found

    def _begin(self, effects):
        for doc, effect in effects:
            self.oracle.begin(doc, effect)

    def _acknowledge(self, effects, *, ended):
        for doc, effect in effects:
            self.oracle.acknowledge(doc, effect, ended=ended)

    def _end(self, event, result):
        self.outcomes.setdefault(event.event_id, result)


def control_effects(event):
    """What an event does before its content is looked at."""
    effects = []
    if event.acl_missing is not None:
        effects.append((event.doc_id, ("missing", event.acl_version, event.received_at, event.version)))
    elif event.acl is not None or event.op is Op.ACL:
        acl = event.acl or Acl()
        rank = (event.acl_version, stable_hash(acl))
        effects.append((event.doc_id, ("acl", rank, event.version, (acl.levels, acl.deny))))
    if event.op in {Op.DELETE, Op.ERASE}:
        rank = 1 if event.op is Op.DELETE else 2
        effects.append((event.doc_id, ("content", (event.version, rank, "", ""), (), event.acl_version)))
    if event.previous_doc_id is not None:
        effects.append(
            (event.previous_doc_id, ("content", (event.version, 1, "", event.doc_id), (), event.acl_version))
        )
    return effects


def content_effects(event):
    content = msgspec.json.decode(event.content.data, type=Content)
    if content.status is ParseStatus.CORRUPT:
        return []
    order = (event.version, 0, hashlib.sha256(event.content.data).hexdigest(), "")
    return [(event.doc_id, ("content", order, content.texts))]


def run_history(world, events, rng, docs, *, faults=True, searches=True, readers=READERS):
    """Deliver every event at least once, in an order, with duplicates, crashes and rivals that `rng` chooses.

    Among the events may be memberships, and times that the clock reaches.
    """
    waiting = [(event, "control") for event in events] + [(e, "control") for e in rng.sample(events, len(events) // 3)]
    rng.shuffle(waiting)

    def look():
        world.check_search(rng.choice(readers), docs)

    def step(depth):
        if not waiting:
            return
        event, half = waiting.pop(rng.randrange(len(waiting)))
        if isinstance(event, int):  # of the times that are left the first, for the clock never goes back
            waiting.append((event, half))
            event, half = waiting.pop(min(range(len(waiting)), key=lambda n: _time_of(waiting[n][0])))
        if half == "control" and isinstance(event, ChangeEvent) and event.op is Op.UPSERT and rng.random() < 0.2:
            half = "process"
        if half == "control" and isinstance(event, ChangeEvent) and rng.random() < 0.5:
            half = "bind"
        if faults and rng.random() < 0.3:
            world.gate.plan(rng.randint(1, 20), _crash)
        if faults and depth < 3 and rng.random() < 0.5:
            world.gate.plan(rng.randint(1, 20), lambda: step(depth + 1))
        if searches and rng.random() < 0.6:
            world.gate.plan(rng.randint(1, 20), look)
        try:
            if half == "bind":
                waiting.append((event, "follow" if world.bind(event) else "control"))
            elif deliver(world, event, half):
                waiting.append((event, "process"))
        except Crash:
            waiting.append((event, "control"))

    while waiting:
        step(0)
        if searches:
            if rng.random() < 0.5:
                world.gate.plan(rng.randint(1, 3), lambda: step(1))
            try:
                look()
            except Crash:
                continue
    world.gate.clear()


def _time_of(event):
    return event if isinstance(event, int) else math.inf


def deliver(world, event, half):
    """One step of an event, a membership or a time; True if its content has still to come."""
    if isinstance(event, int):
        world.clock.reach(event)
    elif isinstance(event, Membership):
        world.tell(event)
    elif half == "process":
        world.process(event)
    else:
        return world.control(event, bound=half == "follow")
    return False


def _crash():
    raise Crash
