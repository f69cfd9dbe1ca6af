"""The embedded lake: everything a command can ask, on the real parts, in the process that owns the lake."""

import threading
import time
from collections.abc import Callable, Collection, Mapping, Sequence
from pathlib import Path

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
from upwell.errors import Misconfigured
from upwell.ports import DeadLetter, SourceCounts
from upwell.records import ChangeEvent
from upwell.runtime import looks, views
from upwell.runtime.approving import Decided, decide
from upwell.runtime.catalog import Catalog
from upwell.runtime.dead_letters import matching
from upwell.runtime.erasing_here import erase_here
from upwell.runtime.ingesting import ingested, look_until_rested
from upwell.runtime.intake import EngineIntake
from upwell.runtime.memberships import DirectMemberships, tell
from upwell.runtime.meter import Meter
from upwell.runtime.parts import Parts
from upwell.runtime.reading import GovernedReading, Place, operator_as
from upwell.runtime.replaying import some
from upwell.runtime.scanning import Scanning
from upwell.runtime.tally import Tally
from upwell.sources.folder.source import FolderSource


class LocalLake:
    """`answers.LakeApi` over the parts of one lake. Thread-safe; `close` lets what is in hand end."""

    def __init__(self, parts: Parts) -> None:
        self._parts = parts
        self._totals = Tally()
        self._scannings: dict[tuple[str, str], Scanning] = {}
        self._lock = threading.Lock()
        self._meter = Meter(parts.metrics, parts.clock)
        self._catalog = Catalog(parts.registry, parts.store, self._pipeline)
        self._reading = GovernedReading(
            registry=parts.registry,
            store=parts.store,
            embedder=parts.embedder,
            pipeline=self._pipeline,
            freshness=self._freshness,
            audit=parts.audit,
            clock=parts.clock,
            acl_max_age_us=parts.acl_max_age_us,
            queries=parts.audit_queries,
            before_read=self._before_read,
            searching=self._meter.searching,
        )
        parts.engine.watch(self._totals)
        parts.engine.watch(self._meter)

    def ingest(
        self,
        folder: Path,
        *,
        owner: str,
        source: str | None = None,
        tenant: str = "default",
        progress: Callable[[Progress], None] | None = None,
    ) -> IngestAnswer:
        started = time.monotonic()
        scanning = self.scanning(folder, owner=owner, source=source, tenant=tenant)
        tally = Tally(place=(tenant, scanning.source.source))
        with self._parts.engine.watching(tally):
            looked = look_until_rested(scanning, lambda: tally.wait(progress), self._parts.clock)
        return ingested(looked, tally, time.monotonic() - started)

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

    def show(self, doc: str, *, tenant: str = "default", source: str | None = None) -> ShowAnswer:
        return self._catalog.show(doc, tenant=tenant, source=source)

    def status(self) -> StatusAnswer:
        parts = self._parts
        counts = {(c.tenant, c.source): c for c in parts.registry.counts(acl_max_age_us=parts.acl_max_age_us)}
        return StatusAnswer(
            lake=str(parts.folder),
            embedder=parts.embedder_name,
            sources=self._statuses(counts),
            pipeline=known.pipeline if (known := parts.known()) else "",
            owner=parts.owner,
            totals=self._totals.chunks,
            tokens_embedded=self._totals.tokens_embedded,
            audit_owed=parts.registry.outbox.length(),
        )

    def dead_list(self, which: DeadFilter = ALL_LETTERS) -> tuple[DeadAnswer, ...]:
        return tuple(views.dead_answer(letter) for letter in self._letters(which))

    def dead_show(self, dead_id: int) -> DeadAnswer:
        return views.dead_answer(self._letters(DeadFilter(ids=(dead_id,)))[0])

    def dead_replay(self, which: DeadFilter) -> int:
        ids = [letter.id for letter in self._letters(which) if letter.replayable]
        tally = Tally()
        with self._parts.engine.watching(tally):
            replayed = sum(self._parts.engine.replay(portion) for portion in some(ids))
            tally.wait()
        return replayed

    def dead_discard(self, which: DeadFilter) -> int:
        ids = [letter.id for letter in self._letters(which)]
        return sum(self._parts.log.discard(portion) for portion in some(ids))

    def erase(self, doc: str, *, tenant: str = "default", source: str | None = None) -> EraseAnswer:
        return self.erase_all(EraseWish(scope=Scope.DOCUMENT, name=doc, tenant=tenant, source=source))

    def erase_all(self, wish: EraseWish) -> EraseAnswer:
        answer = erase_here(self._parts, wish)
        if wish.scope in (Scope.SOURCE, Scope.TENANT) and not wish.dry_run:
            with self._lock:  # what these folders remembered is forgotten
                for place in [place for place in self._scannings if _within(place, wish)]:
                    del self._scannings[place]
        return answer

    def principals_set(
        self, principal: str, *, member_of: frozenset[str] = frozenset(), gone: bool = False, tenant: str = "default"
    ) -> MemberAnswer:
        parts = self._parts
        sink = DirectMemberships(parts.registry.directory)
        return views.member_answer(
            tell(sink, parts.clock, tenant=tenant, principal=principal, member_of=member_of, gone=gone)
        )

    def principals_list(self, *, tenant: str = "default") -> tuple[MemberAnswer, ...]:
        return tuple(views.member_answer(member) for member in self._parts.registry.directory.members(tenant))

    def approve(self, *, tenant: str = "default", source: str | None = None, discard: bool = False) -> ApproveAnswer:
        with self._parts.log.transaction() as connection:
            decided = decide(
                connection, self._parts.audit, self._parts.clock(), tenant=tenant, source=source, discard=discard
            )
        tally = Tally()
        with self._parts.engine.watching(tally):
            for one in () if discard else decided:
                self._known_scanning(one).let_pass()
            tally.wait()
        return ApproveAnswer(sources=tuple(one.deletes for one in decided), discarded=discard)

    def exposition(self) -> bytes:
        """The metrics page: the gauges as of now, in Prometheus' text format."""
        return self._meter.exposition(self.status())

    def close(self) -> None:
        self._parts.close()

    def scanning(self, folder: Path, *, owner: str, source: str | None, tenant: str) -> Scanning:
        """The one scanner of a folder in this process. Raises Misconfigured for a folder that cannot be a source."""
        parts = self._parts
        found = FolderSource(
            folder,
            owner=owner,
            tenant=tenant,
            source=source,
            excluded=[parts.folder],
            clock=parts.clock,
            shrink_limit=parts.shrink_limit,
        )
        parts.identity()  # a new lake's embedder that cannot be had stops the command, not each document
        with self._lock:
            place = tenant, found.source
            known = self._scannings.get(place)
            if known is not None and (known.source.root, known.source.owner) == (found.root, owner):
                return known
            if known is not None and place in parts.followed:
                raise Misconfigured(
                    f"the source {found.source!r} is being followed ({known.source.root}, owner {known.source.owner}); "
                    "stop that run first, or name another --source"
                )
            scanning = Scanning(found, EngineIntake(parts.log, parts.engine), parts.clock)
            scanning.open()
            self._scannings[place] = scanning
            return scanning

    def _known_scanning(self, decided: Decided) -> Scanning:
        tenant, source = decided.deletes.tenant, decided.deletes.source
        with self._lock:
            known = self._scannings.get((tenant, source))
        return known or self.scanning(decided.folder, owner=decided.owner, source=source, tenant=tenant)

    def look_again(self, event: ChangeEvent) -> None:
        """The file is not the one that was observed: forget the observation, so that the next look finds it anew."""
        with self._lock:
            scanning = self._scannings.get((event.tenant, event.source))
        if scanning is not None:
            scanning.forget(event.doc_id)

    def _letters(self, which: DeadFilter) -> list[DeadLetter]:
        return matching(self._parts.log.dead(which.tenant, which.source), which)

    def _before_read(self) -> None:
        """A read sees what was accepted before it, also what an owner before this one has left."""
        self._parts.store.warm()
        self._parts.engine.apply_control()

    def _freshness(self, places: Collection[Place]) -> Sequence[SourceStatus]:
        """How fresh these sources are; their documents are not counted, which takes a look at every one of them."""
        return self._statuses({}, places)

    def _statuses(
        self, counts: Mapping[Place, SourceCounts], only: Collection[Place] | None = None
    ) -> tuple[SourceStatus, ...]:
        parts = self._parts
        pending = parts.log.pending_counts()
        in_hand = parts.engine.in_hand()
        with parts.log.transaction(read_only=True) as connection:
            seen = looks.load(connection)
        dead = parts.log.dead_counts()
        now = parts.clock()
        places = counts.keys() | pending.keys() | seen.keys() | dead.keys() if only is None else only
        statuses = []
        for place in sorted(places):
            look = seen.get(place)
            waiting, oldest = pending.get(place, (0, None))
            statuses.append(
                views.source_status(
                    place,
                    counts.get(place),
                    watermark=oldest if oldest is not None else self._looked_at(place, look, now),
                    now=now,
                    pending=max(waiting, in_hand[place]),  # nothing is done before the totals of status count it
                    dead=dead.get(place, 0),
                    warnings=look.notices if look else (),
                )
            )
        return tuple(statuses)

    def _pipeline(self) -> str:
        known = self._parts.known()
        if known is None:
            raise Misconfigured(f"{self._parts.folder} holds no documents yet: upwell ingest DIR --lake … fills it")
        return known.pipeline

    def _looked_at(self, place: tuple[str, str], look: looks.Look | None, now: int) -> int | None:
        """While a folder is followed everything up to now is searchable when nothing is pending."""
        if place in self._parts.followed:
            return now
        return look.looked_at if look else None


def _within(place: tuple[str, str], wish: EraseWish) -> bool:
    tenant, source = place
    return tenant == wish.tenant and (wish.scope is Scope.TENANT or source == wish.name)
