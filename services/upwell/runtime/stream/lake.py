"""The distributed lake as commands see it: questions go to the registry and the store, work goes into the log."""

import time
from collections.abc import Callable, Mapping
from pathlib import Path

from upwell.answers import (
    ALL_LETTERS,
    DeadAnswer,
    DeadFilter,
    EraseAnswer,
    IngestAnswer,
    Progress,
    SearchAnswer,
    ShowAnswer,
    StatusAnswer,
)
from upwell.errors import UpwellError
from upwell.parse.limits import DEFAULT_LIMITS
from upwell.ports import DeadLetter
from upwell.runtime import looks, views
from upwell.runtime.catalog import Catalog
from upwell.runtime.finding import find_whole
from upwell.runtime.ingesting import ingested, look_until_rested
from upwell.runtime.letters import matching
from upwell.runtime.owner import make_folder
from upwell.runtime.replaying import give_back, outcomes_of, reopen, settle, some
from upwell.runtime.scanning import Scanning
from upwell.runtime.stream import topics
from upwell.runtime.stream.erasing import erase
from upwell.runtime.stream.intake import Memory, StreamIntake, alone
from upwell.runtime.stream.parts import LakeParts
from upwell.runtime.stream.waiting import Waiting
from upwell.sources.folder.content import FileReader
from upwell.sources.folder.source import FolderSource

MEMORY = "folders.sqlite"
OWNER = "workers over Kafka"


class DistributedLake:
    """`answers.LakeApi` over the parts of a distributed lake. Holds nothing that others wait for."""

    def __init__(self, parts: LakeParts) -> None:
        self._parts = parts
        self._catalog = Catalog(parts.registry, parts.store, parts.embedder, parts.pipeline)

    def ingest(
        self,
        folder: Path,
        *,
        owner: str,
        source: str | None = None,
        tenant: str = "default",
        progress: Callable[[Progress], None] | None = None,
    ) -> IngestAnswer:
        """Reads the folder here and leaves the work to the workers; returns when all of it has ended."""
        started = time.monotonic()
        parts = self._parts
        parts.pipeline()
        make_folder(parts.folder)
        reader = FileReader(
            folder.resolve(),
            clock=parts.clock,
            keep_bytes=DEFAULT_LIMITS.file_bytes,  # workers elsewhere cannot come for what is not carried
            most_bytes=DEFAULT_LIMITS.file_bytes,
        )
        found = FolderSource(
            folder,
            owner=owner,
            tenant=tenant,
            source=source,
            excluded=[parts.folder],
            clock=parts.clock,
            reader=reader,
        )
        with alone(parts.folder):
            memory, ends = Memory(parts.folder / MEMORY), parts.ends()
            try:
                waiting = Waiting(ends, lambda ids: outcomes_of(parts.ledger, ids))
                intake = StreamIntake(memory, parts.ledger, parts.sink, parts.blobs, waiting)
                scanning = Scanning(found, intake, parts.clock)
                scanning.open()
                looked = look_until_rested(scanning, lambda: waiting.wait(progress), parts.clock)
            finally:
                ends.close()
                memory.close()
        return ingested(looked, waiting, time.monotonic() - started)

    def search(
        self,
        query: str,
        *,
        principals: frozenset[str],
        k: int = 5,
        tenant: str = "default",
        sources: frozenset[str] = frozenset(),
    ) -> SearchAnswer:
        return self._catalog.search(query, principals=principals, k=k, tenant=tenant, sources=sources)

    def show(self, doc: str, *, tenant: str = "default", source: str | None = None) -> ShowAnswer:
        return self._catalog.show(doc, tenant=tenant, source=source)

    def status(self) -> StatusAnswer:
        """Everything accepted up to a source's watermark is searchable. With nothing pending that is now, or unknown
        while the ledger has not read all that was accepted.
        """
        parts = self._parts
        lag = dict(parts.lag())  # first: what the ledger reads after this is no reason to doubt the counts below
        counts = {(c.tenant, c.source): c for c in parts.registry.counts()}
        pending, dead = parts.ledger.pending_counts(), parts.ledger.dead_counts()
        seen = self._looks()
        now = parts.clock()
        behind = bool(lag.get(topics.group_of(topics.Role.LEDGER, topics.Line.LIVE)))
        sources = []
        for place in sorted(counts.keys() | pending.keys() | dead.keys() | seen.keys()):
            waiting, oldest = pending.get(place, (0, None))
            sources.append(
                views.source_status(
                    place,
                    counts.get(place),
                    watermark=oldest if oldest is not None else (None if behind else now),
                    now=now,
                    pending=waiting,
                    dead=dead.get(place, 0),
                    warnings=seen[place].notices if place in seen else (),
                )
            )
        return StatusAnswer(
            lake=parts.name,
            embedder=parts.embedder_name,
            pipeline=parts.pipeline(),
            owner=OWNER,
            sources=tuple(sources),
            outcomes=parts.ledger.outcomes(),
            lag=lag,
        )

    def dead_list(self, which: DeadFilter = ALL_LETTERS) -> tuple[DeadAnswer, ...]:
        return tuple(views.dead_answer(letter) for letter in self._letters(which))

    def dead_show(self, dead_id: int) -> DeadAnswer:
        return views.dead_answer(self._letters(DeadFilter(ids=(dead_id,)))[0])

    def dead_replay(self, which: DeadFilter) -> int:
        """Returns once they are in the log again; how they end is for `status` and `dead list` to say."""
        ids = [letter.id for letter in self._letters(which) if letter.replayable]
        replayed = 0
        for letters in reopen(self._parts.ledger, ids):
            try:
                self._parts.sink.accept([letter.event for letter in letters])
            except UpwellError:
                give_back(self._parts.ledger, letters, self._parts.clock())
                raise
            settle(self._parts.ledger, letters)
            replayed += len(letters)
        return replayed

    def dead_discard(self, which: DeadFilter) -> int:
        ids = [letter.id for letter in self._letters(which)]
        return sum(self._parts.ledger.discard(portion) for portion in some(ids))

    def erase(self, doc: str, *, tenant: str = "default", source: str | None = None) -> EraseAnswer:
        return erase(self._parts, find_whole(self._parts.registry, doc, tenant, source).key)

    def close(self) -> None:
        self._parts.close()

    def _letters(self, which: DeadFilter) -> list[DeadLetter]:
        return matching(self._parts.ledger.dead(which.tenant, which.source), which)

    def _looks(self) -> Mapping[tuple[str, str], looks.Look]:
        """What this machine's folders had to say; other machines' are not known here."""
        path = self._parts.folder / MEMORY
        if not path.exists():
            return {}
        memory = Memory(path)
        try:
            with memory.transaction(read_only=True) as connection:
                return looks.load(connection)
        finally:
            memory.close()
