"""A distributed lake to be measured: its machines, events into its log, and how and when each ended."""

import os
import shutil
import sys
import time
from contextlib import contextmanager
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "chaos"))

from machines import Fleet

import stagehand
from upwell import config
from upwell.clock import now_us
from upwell.lake import decide
from upwell.lake.blobs import FsspecBlobs
from upwell.records import Acl, ChangeEvent, Inline, Lane, Op
from upwell.runtime.stream.applied import AppliedEnds
from upwell.runtime.stream.producer import LogProducer
from upwell.runtime.stream.sink import KafkaSink
from upwell.runtime.stream.topics import Line, Role
from upwell.wiring import opening

STAGES = (Role.PARSE, Role.CHUNK, Role.PREFIX, Role.EMBED, Role.UPSERT)
ALL_MAY = Acl(levels=(frozenset({"everyone"}),))
AT_ONCE = 50


def lines(*wanted: Line, upserts: int = 1) -> list[tuple[Role, Line]]:
    """One process a stage in these lanes, the one for control, and the ledger; `upserts` processes of that stage, which
    waits for its database and its store most of the time."""
    return [
        *((role, line) for line in wanted for role in STAGES),
        *((Role.UPSERT, line) for line in wanted for _ in range(upserts - 1)),
        (Role.UPSERT, Line.CONTROL),
        (Role.LEDGER, Line.LIVE),
    ]


class MeasuredFleet:
    """A running fleet: `send` events, `wait` for their ends."""

    def __init__(self, fleet: Fleet) -> None:
        self.fleet = fleet
        settings = {name: value for name, value in fleet.env.items() if name.startswith("UPWELL_")}
        os.environ.update(settings)
        try:
            self.settings = config.load()
        finally:
            for name in settings:
                os.environ.pop(name)
        self.blobs = FsspecBlobs(str(self.settings.lake / "blobs"))
        self.producer = LogProducer(self.settings.brokers, blobs=self.blobs, message_bytes=self.settings.message_bytes)
        self.registry = opening.open_registry(self.settings)
        self.sink = KafkaSink(
            self.producer,
            self.blobs,
            pending=lambda: 0,
            max_pending=10**9,
            ended=lambda _event: None,
            binds=lambda event: decide.binds_before_content(self.registry.row(event.key), event),
        )
        self.ends = AppliedEnds(self.settings.brokers, self.blobs)
        self.ended = {}

    def send(self, events: list[ChangeEvent]) -> None:
        """Accepted when it returns."""
        for start in range(0, len(events), AT_ONCE):
            self.sink.accept(events[start : start + AT_ONCE])

    def wait(self, event_ids: set[str], timeout_s: float) -> dict:
        """event_id -> its Ended message, of all of them."""
        deadline = time.monotonic() + timeout_s
        while not event_ids <= self.ended.keys():
            assert time.monotonic() < deadline, f"{len(event_ids - self.ended.keys())} events have not ended"
            self.hear(0.2)
        return {event_id: self.ended[event_id] for event_id in event_ids}

    def hear(self, timeout_s: float) -> None:
        for ended in self.ends.poll(timeout_s):
            self.ended.setdefault(ended.event.event_id, ended)

    def close(self) -> None:
        self.ends.close()
        self.producer.close()
        self.registry.close()


@contextmanager
def measured_fleet(folder: Path, wanted: list[tuple[Role, Line]], *, nice: bool = True, **settings: str):
    """Machines in `folder`, up and warm: one document has gone through every lane."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    fleet = Fleet(folder, per_line=1, lines=wanted, settings=settings)
    measured = None
    opening.open_store = stagehand.stand_in
    try:
        fleet.prepare()
        fleet.start()
        measured = MeasuredFleet(fleet)
        lanes = {str(line) for _, line in wanted} & set(Lane)
        first = [upsert(f"warm-{line}", 1, b"# Warm\n\nUp.\n", lane=line) for line in lanes]
        measured.send(first)
        measured.wait({event.event_id for event in first}, 120)
        yield measured
    finally:
        if measured is not None:
            measured.close()
        fleet.close()
        opening.open_store = stagehand.OPEN_STORE


def upsert(doc_id: str, version: int, data: bytes, *, lane: str = "live", acl: Acl = ALL_MAY) -> ChangeEvent:
    """A document's new version, accepted now."""
    return ChangeEvent(
        event_id=f"{doc_id}-{version}",
        tenant="default",
        source="bench",
        doc_id=doc_id,
        op=Op.UPSERT,
        version=version,
        acl_version=1,
        received_at=now_us(),
        lane=Lane(lane),
        content=Inline(data=data),
        media_type="text/markdown",
        acl=acl,
    )


def narrowing(doc_id: str, acl_version: int, acl: Acl) -> ChangeEvent:
    """A permission, accepted now."""
    return ChangeEvent(
        event_id=f"{doc_id}-acl-{acl_version}",
        tenant="default",
        source="bench",
        doc_id=doc_id,
        op=Op.ACL,
        version=1,
        acl_version=acl_version,
        received_at=now_us(),
        acl=acl,
    )
