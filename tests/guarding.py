"""A guard with a stage that does what it is told, an in-memory log that fails when it is told, and a clock of its own."""

import asyncio

from stream_samples import event, memory_blobs
from upwell.errors import Misconfigured, Reason, Rejected, Retryable
from upwell.messages import Change, Embedded, Parsed
from upwell.metrics import Metrics
from upwell.records import ParsedDocument, ParseStatus, PreparedDocument
from upwell.runtime.stream import codec, topics
from upwell.runtime.stream.breaker import Breaker
from upwell.runtime.stream.contract import Outgoing
from upwell.runtime.stream.envelope import Taken, Wire
from upwell.runtime.stream.guard import Guard
from upwell.runtime.stream.hand import Hand
from upwell.runtime.stream.progress import Progress

TAKEN = topics.laned("changes", "live")
COPIED = topics.laned("parsed", "live")
FAILED = topics.laned("embedded", "live")

ERRORS = {
    "retry": lambda: Retryable("away"),
    "reject": lambda: Rejected(Reason.CORRUPT, "broken"),
    "misconfigured": lambda: Misconfigured("setting x: wrong"),
    "defect": lambda: ZeroDivisionError("secret words"),
    "exit": lambda: SystemExit(3),
}


class Told:
    """Raises the next of what it is told, by name, each time it is asked; None is success, as is the end of the list."""

    def __init__(self, *names):
        self.names = list(names)
        self.calls = 0

    def next(self):
        self.calls += 1
        name = self.names.pop(0) if self.names else None
        if name is not None:
            error = ERRORS[name]()
            raise error


class Stage:
    def __init__(self, handle, reject):
        self.told_handle, self.told_reject = handle, reject

    def handle(self, message):
        self.told_handle.next()
        document = ParsedDocument(status=ParseStatus.OK)
        return [Outgoing(topic=COPIED, key=message.event.key, message=Parsed(event=message.event, document=document))]

    def reject(self, message, fate):
        self.told_reject.next()
        failed = Embedded(event=message.event, document=PreparedDocument(status=ParseStatus.CORRUPT), fate=fate)
        return [Outgoing(topic=FAILED, key=message.event.key, message=failed)]

    def close(self):
        pass


class World:
    """The guard and everything around it, on the running loop. `slept` are the pauses it made; no time passes."""

    def __init__(self, *, handle=(), reject=(), send=(), share=1.0, messages=200, stage=None):
        self.handle, self.reject, self.send = Told(*handle), Told(*reject), Told(*send)
        self.sent, self.slept, self.ended = [], [], []
        self.metrics = Metrics()
        self.progress = Progress(self.metrics, "parse", "live")
        self.hand = Hand("toy")
        self.blobs = memory_blobs()
        wire = Wire(self.blobs, 1_000_000, lambda: 5)
        self.guard = Guard(
            stage or Stage(self.handle, self.reject),
            name="parse",
            hand=self.hand,
            decode=wire.decode,
            encode=wire.encode,
            bury=wire.bury,
            spend=wire.spend,
            send=self._send,
            progress=self.progress,
            breaker=Breaker(share, messages, minimum=1),
            end=self.ended.append,
            retry_limit_s=30.0,
            sleep=self._sleep,
        )

    async def _send(self, sending):
        await asyncio.sleep(0)
        self.send.next()
        self.sent.append(sending)

    async def _sleep(self, seconds):
        self.slept.append(seconds)
        await asyncio.sleep(0)

    def messages(self, topic):
        """What has been acknowledged in a topic."""
        return [codec.decode(s.value, s.headers, topic, key=s.key, blobs=None) for s in self.sent if s.topic == topic]


def taken(offset=0, *, doc="a.md", session=1, value=b"", **headers):
    """A record of `changes`; `value` b"" is a sound one."""
    of = event(doc, version=offset + 1)
    data, pairs = codec.encode(Change(event=of), limit_bytes=1_000_000, blobs=memory_blobs())
    return Taken(
        topic=TAKEN,
        partition=0,
        offset=offset,
        key=topics.key_of(of.key),
        value=data if value == b"" else value,
        headers=(*pairs, *headers.items()),
        session=session,
    )


def lost():
    """A record of `changes` whose message is in a blob that is gone."""
    value, headers = codec.encode(Change(event=event()), limit_bytes=1, blobs=memory_blobs())
    return taken(value=value, **dict(headers))


def guarded(record=None, **told):
    """Run one record through a fresh world: (what the guard said, the world)."""

    async def run():
        world = World(**told)
        try:
            return await asyncio.wait_for(world.guard(taken() if record is None else record), 10), world
        finally:
            world.hand.close()

    return asyncio.run(run())
