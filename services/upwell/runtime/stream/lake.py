"""The distributed lake as commands see it: questions go to the registry and the store, work goes into the log."""

import threading
import time
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from pathlib import Path

from upwell import logs
from upwell.answers import (
    ALL_LETTERS,
    ApproveAnswer,
    DeadAnswer,
    DeadFilter,
    EraseAnswer,
    EraseWish,
    IngestAnswer,
    MemberAnswer,
    Progress,
    Scope,
    SearchAnswer,
    ShowAnswer,
    SourceStatus,
    StatusAnswer,
)
from upwell.errors import Misconfigured, Retryable, UpwellError
from upwell.parse.limits import DEFAULT_LIMITS
from upwell.ports import DeadLetter, SourceCounts
from upwell.runtime import looks, views
from upwell.runtime.approving import Decided, decide
from upwell.runtime.catalog import Catalog
from upwell.runtime.dead_letters import matching
from upwell.runtime.erasing import erase
from upwell.runtime.ingesting import ingested, look_until_rested
from upwell.runtime.memberships import tell
from upwell.runtime.owner.lock import make_folder
from upwell.runtime.reading import GovernedReading, Place, operator_as
from upwell.runtime.replaying import give_back, outcomes_of, reopen, settle, some
from upwell.runtime.scanning import Scanning
from upwell.runtime.stream import topics
from upwell.runtime.stream.erasing import MEMORY, erasing
from upwell.runtime.stream.following import StreamFollowing
from upwell.runtime.stream.intake import Memory, Scanned, StreamIntake, alone
from upwell.runtime.stream.parts import LakeParts
from upwell.runtime.stream.waiting import Waiting
from upwell.sources.folder.content import FileReader
from upwell.sources.folder.source import FolderSource

OWNER = "workers over Kafka"
NOWHERE = "00000000-0000-0000-0000-000000000000"
"""A point that no store has: to ask for it is the least that there is to ask."""


class DistributedLake:
    """`answers.FollowingLake` over the parts of a distributed lake. Holds nothing that others wait for."""

    def __init__(self, parts: LakeParts) -> None:
        self._parts = parts
        self._catalog = Catalog(parts.registry, parts.store, parts.pipeline)
        self._reading = GovernedReading(
            registry=parts.readers or parts.registry,
            store=parts.store,
            embedder=parts.embedder,
            pipeline=parts.pipeline,
            freshness=self._freshness,
            audit=parts.audit,
            clock=parts.clock,
            acl_max_age_us=parts.acl_max_age_us,
            queries=parts.audit_queries,
        )

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
        with self._scanning(folder, owner=owner, source=source, tenant=tenant) as (scanning, waiting):
            looked = look_until_rested(scanning, lambda: waiting.wait(progress), self._parts.clock)
        return ingested(looked, waiting, time.monotonic() - started)

    def follow(
        self,
        folder: Path,
        *,
        owner: str,
        stop: threading.Event,
        source: str | None = None,
        tenant: str = "default",
        progress: Callable[[Progress], None] | None = None,
        on_ready: Callable[[IngestAnswer], None] | None = None,
        on_change: Callable[[str], None] | None = None,
    ) -> None:
        """See `answers.FollowingLake.follow`."""
        with self._scanning(folder, owner=owner, source=source, tenant=tenant) as (scanning, waiting):
            following = StreamFollowing(scanning, waiting, self._parts.rescan_s, self._parts.clock)
            following.run(stop, progress, on_ready or (lambda _answer: None), on_change or (lambda _line: None))

    def listen(self, host: str, port: int) -> str:  # noqa: ARG002 the other lake's
        """A distributed lake has a process of its own for that."""
        raise Misconfigured("--listen: brokers is set, so `upwell gateway` takes events and hooks from the network")

    def search(
        self,
        query: str,
        *,
        principals: frozenset[str],
        k: int = 5,
        tenant: str = "default",
        sources: frozenset[str] = frozenset(),
    ) -> SearchAnswer:
        return self._reading.search(query, reader=operator_as(principals, tenant), k=k, sources=sources)

    def reading(self) -> GovernedReading:
        """What readers ask, for HTTP and MCP."""
        return self._reading

    def answerable(self) -> None:
        """Raises Retryable while the registry or the store does not answer, Misconfigured without a lake in them."""
        self._parts.pipeline()
        self._parts.ledger.read_through()
        self._parts.store().texts([NOWHERE])

    def show(self, doc: str, *, tenant: str = "default", source: str | None = None) -> ShowAnswer:
        return self._catalog.show(doc, tenant=tenant, source=source)

    def status(self) -> StatusAnswer:
        """Everything accepted up to a source's watermark is searchable. With nothing pending that is now, or when the
        ledger last said that it had read all, while it has not or the brokers do not say whether it has.
        """
        parts = self._parts
        lag = self._lag()  # both first: what the ledger reads after this is no reason to doubt the counts below
        through = parts.ledger.read_through()
        counts = {(c.tenant, c.source): c for c in parts.registry.counts(acl_max_age_us=parts.acl_max_age_us)}
        return StatusAnswer(
            lake=parts.name,
            embedder=parts.embedder_name,
            pipeline=parts.pipeline(),
            owner=OWNER,
            sources=self._statuses(lag, through, counts),
            outcomes=parts.ledger.outcomes(),
            lag=lag,
            audit_owed=parts.owed(),
        )

    def _freshness(self, places: Collection[Place]) -> Sequence[SourceStatus]:
        """How fresh these sources are, by the ledger's database alone: no broker is asked, and nothing is counted."""
        through = self._parts.ledger.read_through()  # first, as in `status`
        pending = self._parts.ledger.pending_counts()
        now = self._parts.clock()
        statuses = []
        for place in sorted(places):
            waiting, oldest = pending.get(place, (0, None))
            watermark = _watermark(oldest, through)
            statuses.append(views.source_status(place, None, watermark=watermark, now=now, pending=waiting, dead=0))
        return statuses

    def _statuses(
        self, lag: Mapping[str, int], through: int | None, counts: Mapping[Place, SourceCounts]
    ) -> tuple[SourceStatus, ...]:
        parts = self._parts
        pending, dead = parts.ledger.pending_counts(), parts.ledger.dead_counts()
        seen = self._looks()
        now = parts.clock()
        if lag.get(topics.group_of(topics.Role.LEDGER, topics.Line.LIVE)) == 0:
            through = now
        statuses = []
        for place in sorted(counts.keys() | pending.keys() | dead.keys() | seen.keys()):
            waiting, oldest = pending.get(place, (0, None))
            statuses.append(
                views.source_status(
                    place,
                    counts.get(place),
                    watermark=_watermark(oldest, through),
                    now=now,
                    pending=waiting,
                    dead=dead.get(place, 0),
                    warnings=seen[place].notices if place in seen else (),
                )
            )
        return tuple(statuses)

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
        return self.erase_all(EraseWish(scope=Scope.DOCUMENT, name=doc, tenant=tenant, source=source))

    def erase_all(self, wish: EraseWish) -> EraseAnswer:
        return erase(erasing(self._parts), wish)

    def principals_set(
        self, principal: str, *, member_of: frozenset[str] = frozenset(), gone: bool = False, tenant: str = "default"
    ) -> MemberAnswer:
        parts = self._parts
        return views.member_answer(
            tell(parts.memberships, parts.clock, tenant=tenant, principal=principal, member_of=member_of, gone=gone)
        )

    def principals_list(self, *, tenant: str = "default") -> tuple[MemberAnswer, ...]:
        return tuple(views.member_answer(member) for member in self._parts.directory.members(tenant))

    def approve(self, *, tenant: str = "default", source: str | None = None, discard: bool = False) -> ApproveAnswer:
        """Of the folders that this machine remembers. A `run` that follows one here carries it out within seconds."""
        path = self._parts.folder / MEMORY
        if not path.exists():
            return ApproveAnswer(sources=(), discarded=discard)
        with closing(Memory(path)) as memory, memory.transaction() as connection:
            decided = decide(
                connection, self._parts.audit, self._parts.clock(), tenant=tenant, source=source, discard=discard
            )
        for one in () if discard else decided:
            self._let_pass(one)
        return ApproveAnswer(sources=tuple(one.deletes for one in decided), discarded=discard)

    def close(self) -> None:
        self._parts.close()

    def _letters(self, which: DeadFilter) -> list[DeadLetter]:
        return matching(self._parts.ledger.dead(which.tenant, which.source), which)

    def _lag(self) -> dict[str, int]:
        """Nothing while the brokers are away: what the registry and the ledger know is worth an answer then, too."""
        try:
            return dict(self._parts.lag())
        except Retryable as e:
            logs.warn("lag_unknown", why=str(e))
            return {}

    @contextmanager
    def _scanning(
        self, folder: Path, *, owner: str, source: str | None, tenant: str
    ) -> Iterator[tuple[Scanning, Waiting]]:
        """A scan of the folder, and the ends of what it sends; one process of this machine at a time."""
        parts = self._parts
        parts.pipeline()
        make_folder(parts.folder)
        limit_bytes = DEFAULT_LIMITS.file_bytes  # all of a file is carried: workers elsewhere cannot come for it
        reader = FileReader(folder.resolve(), clock=parts.clock, keep_bytes=limit_bytes, most_bytes=limit_bytes)
        found = FolderSource(
            folder,
            owner=owner,
            tenant=tenant,
            source=source,
            excluded=[parts.folder],
            clock=parts.clock,
            reader=reader,
            shrink_limit=parts.shrink_limit,
        )
        with alone(parts.folder), closing(Memory(parts.folder / MEMORY)) as memory, closing(parts.ends()) as ends:
            waiting = Waiting(ends, lambda ids: outcomes_of(parts.ledger, ids))
            intake = StreamIntake(memory, parts.ledger, parts.sink, parts.blobs, waiting)
            scanning = Scanning(found, intake, parts.clock)
            scanning.open()
            yield scanning, waiting

    def _let_pass(self, decided: Decided) -> None:
        deletes = decided.deletes
        try:
            with self._scanning(decided.folder, owner=decided.owner, source=deletes.source, tenant=deletes.tenant) as (
                scanning,
                waiting,
            ):
                scanning.let_pass()
                waiting.wait()
        except Scanned as e:
            logs.warn("deletes_left_to_the_scan", source=deletes.source, why=str(e))

    def _looks(self) -> Mapping[tuple[str, str], looks.Look]:
        """What this machine's folders had to say; other machines' are not known here."""
        path = self._parts.folder / MEMORY
        if not path.exists():
            return {}
        with closing(Memory(path)) as memory, memory.transaction(read_only=True) as connection:
            return looks.load(connection)


def _watermark(oldest: int | None, through: int | None) -> int | None:
    """Up to when all is searchable, by the oldest event that pends and how far the ledger has read; None: unknown."""
    return min((at for at in (oldest, through) if at is not None), default=None)
