"""A lake of handlers under test: takes messages in any order that a log allows, twice, cut short and interleaved."""

import msgspec
from faults import Crash, Gated, crash
from strategies import READERS, Content
from world import PIPELINE, World, content_effects, control_effects, tick

import words
from handlers import Handlers, accepted, drain
from memory_log import MemoryBlobs, MemoryLog
from upwell.messages import Ended
from upwell.parse.prepare import prepare_parsed
from upwell.records import ParsedDocument, ParseStatus
from upwell.runtime.stream import topics
from upwell.runtime.stream.codec import Lost

TOKENIZER = words.WordsTokenizer()


def parsed(data):
    """The content of `strategies` as blocks, parts inside it included."""
    content = msgspec.json.decode(data, type=Content)
    if content.status not in {ParseStatus.OK, ParseStatus.EMPTY}:
        return ParsedDocument(status=content.status, reason=str(content.status), media_type="text/plain")
    inside = tuple(words.document_of(theirs, name=name) for name, theirs in content.inside)
    return msgspec.structs.replace(words.document_of(content.words, children=inside), status=content.status)


def prepared_whole(event):
    """What the embedded lake makes of it: the same stages in one go."""
    return prepare_parsed(parsed(event.content.data), TOKENIZER, "words", words.POLICY)


class StreamWorld(World):
    """`World` through the six handlers and a log. A crash takes every process's memory with it."""

    def __init__(self, registry, store, tenant, **log):
        super().__init__(registry, store, tenant, prepare=prepared_whole)
        self.blobs = MemoryBlobs()
        self.log = MemoryLog(blobs=self.blobs, clock=tick, **log)
        self.restart()

    def restart(self):
        """New processes."""
        self.handlers = Handlers(
            registry=Gated(self.registry, self.gate),
            store=Gated(self.store, self.gate),
            pipeline=PIPELINE,
            embedder=self.embedder,
            tokenizer=TOKENIZER,
            policy=words.POLICY,
            fetcher=words.InlineFetcher(),
            parser=words.WordsParser(parsed),
            blobs=self.blobs,
            clock=tick,
            batch_chunks=2,
        )

    def accept(self, event):
        for outgoing in accepted(self.ours(event)):
            self.log.send(outgoing)

    def waiting(self):
        return self.log.waiting(self.handlers.by_topic)

    def take(self, place, crash_between=lambda: None):
        """Take one record through its stage: outputs, then the commit, with a look for a crash between any two."""
        taken = self.log.take(place)
        for outgoing in [] if taken.value is None else self._led_to(taken):
            crash_between()
            self.log.send(outgoing)
        crash_between()
        self.log.commit(taken)

    def settle(self):
        """Take what waits until nothing does."""
        drain(self.log, self.handlers)

    def through(self, *events):
        """Accept each event and take it to its end; the last one's end."""
        for event in events:
            self.accept(event)
            while waiting := self.waiting():
                self.take(waiting[0])
        return self.ends()[events[-1].event_id][-1]

    def ends(self):
        """event_id -> the ends that were sent for it, in order."""
        found = {}
        for ended in self.log.messages(topics.APPLIED):
            found.setdefault(ended.event.event_id, []).append(ended)
        return found

    def _led_to(self, taken):
        try:
            message = self.log.wire.decode(taken)
        except Lost as e:
            at_end = taken.topic.split(".")[1] == topics.EMBEDDED
            effects = control_effects(e.message.event) if at_end else []  # a failure still says who may read
            self._begin(effects)
            outputs = self.handlers.reject(taken.topic, e.message, e)
            self._acknowledge(effects, ended=True)
            return outputs
        return self._handled(taken.topic, message)

    def _handled(self, topic, message):
        effects = self._effects(topic, message.event)
        self._begin(effects)
        outputs = self.handlers.handle(topic, message)
        ended = any(isinstance(outgoing.message, Ended) for outgoing in outputs)
        went_back = topic.split(".")[1] == topics.EMBEDDED and not ended
        self._acknowledge(effects[: len(effects) - went_back], ended=ended)
        return outputs

    def _effects(self, topic, event):
        """What a message does to the lake: nothing before upsert but what is control's, of unseen documents too."""
        if topic == topics.CONTROL:
            return control_effects(event)
        if topic.split(".")[1] == topics.EMBEDDED:
            return control_effects(event) + ([] if event.content is None else content_effects(event))
        return []


def run_stream(world, events, rng, docs, *, faults=True):
    """Accept every event at least once and take all to their ends, in an order, with duplicates, lost commits, crashes
    and rivals that `rng` chooses."""
    unsent = [*events, *rng.sample(events, len(events) // 3)]
    rng.shuffle(unsent)

    def look():
        world.check_search(rng.choice(READERS), docs)

    def crash_between():
        if faults and rng.random() < 0.05:
            raise Crash

    def step(depth):
        if unsent and rng.random() < 0.3:
            world.accept(unsent.pop())
            return
        waiting = world.waiting()
        if not waiting:
            return
        if faults and rng.random() < 0.15:
            world.gate.plan(rng.randint(1, 20), crash)
        if faults and depth < 3 and rng.random() < 0.4:
            world.gate.plan(rng.randint(1, 12), lambda: step(depth + 1))
        if rng.random() < 0.2:
            world.gate.plan(rng.randint(1, 20), look)
        place = rng.choice(waiting)
        if faults and rng.random() < 0.05:
            world.log.rewind(place, rng.randint(1, 3))
        world.take(place, crash_between)

    while unsent or world.waiting():
        try:
            step(0)
            if rng.random() < 0.2:
                look()
        except Crash:
            world.restart()
    world.gate.clear()
