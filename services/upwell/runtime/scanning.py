"""Looking at a folder: each batch of a scan is accepted and remembered in one transaction."""

import threading
from collections.abc import Callable

import sqlalchemy as sa
from msgspec.structs import replace

from upwell import logs
from upwell.answers import DocumentCounts
from upwell.clock import Clock
from upwell.lake.publish import Publisher
from upwell.ports import Fate
from upwell.records import DocKey, Lane, Outcome, Record
from upwell.runtime import looks
from upwell.runtime.intake import Intake, Refusals
from upwell.sources.folder.records import Diff, Fault, Notice
from upwell.sources.folder.shrink import CODES
from upwell.sources.folder.source import FolderSource

STAGE = "scan"


class Looked(Record, frozen=True, kw_only=True):
    """What one scan came to. `recheck_at` (us): look again then, for something had yet to rest.

    `held` is how many deletes wait for a person now, `alarm` what to tell one when there have come to be more.
    """

    counts: DocumentCounts
    notices: tuple[str, ...] = ()
    recheck_at: int | None = None
    held: int = 0
    alarm: str | None = None


class Scanning:
    """Scans one folder for one lake, one scan at a time."""

    def __init__(self, source: FolderSource, intake: Intake, clock: Clock) -> None:
        self.source = source
        self._intake = intake
        self._clock = clock
        self._lock = threading.Lock()

    def open(self) -> None:
        """Bind the source's name to its folder. Raises Misconfigured when it is bound to another."""
        with self._lock, self._intake.transaction() as connection:
            self.source.open(connection)

    def look(self, lane: Lane, evidence: frozenset[str] = frozenset(), also: tuple[Notice, ...] = ()) -> Looked:
        """Compare the folder with what is remembered, and accept what follows; say `also` beside what the scan says.

        Raises Retryable (disk full).
        """
        with self._lock:
            started, before = self._clock(), len(self.source.state.waiting)
            passed = self._let_pass()
            for diff in self.source.scan(lane=lane, evidence=evidence):
                self._intake.take(diff.events, self._saving(diff, started, also), self._refusals(diff))
                last = diff
            alarm = self._alarm(last) if last.held > before else None
            return Looked(
                counts=replace(last.counts, deleted=last.counts.deleted + passed),
                notices=_lines((*last.notices, *also)),
                recheck_at=last.recheck_at,
                held=last.held,
                alarm=alarm,
            )

    @property
    def held(self) -> bool:
        """Whether deletes wait for a person, or for what one has said of them."""
        return bool(self.source.state.held)

    def let_pass(self) -> int:
        """Accept the deletes that somebody has approved; how many. Raises Retryable."""
        with self._lock:
            return self._let_pass()

    def forget(self, doc_id: str) -> None:
        """Take nothing for known of this document's file, so that the next look reads it and accepts what it finds."""
        with self._lock, self._intake.transaction() as connection:
            self.source.forget(connection, doc_id)

    def mend(self, publisher: Publisher, go_on: Callable[[], bool] = lambda: True) -> int:
        """Sweep the lake; documents of this source that have lost a point are read and published again. How many."""
        source = self.source
        swept = publisher.sweep(go_on=go_on)
        lost = [key.doc_id for key in swept.missing if (key.tenant, key.source) == (source.tenant, source.source)]
        for doc_id in lost:
            self.forget(doc_id)
        if lost:
            self.look(Lane.LIVE)
        return len(lost)

    def _let_pass(self) -> int:
        if not self.held:  # only a scan lets them wait, so nobody can have said anything
            return 0
        source = self.source
        with self._intake.transaction() as connection:
            source.refresh(connection)
        passed = 0
        for diff in source.let_pass():

            def save(connection: sa.Connection, diff: Diff = diff) -> None:
                source.save(connection, diff)
                looks.quiet(connection, source.tenant, source.source, CODES)

            self._intake.take(diff.events, save, Refusals())
            passed += len(diff.events)
        return passed

    def _alarm(self, last: Diff) -> str | None:
        logs.warn("deletes_held", source=self.source.source, documents=last.held)
        return next((notice.detail for notice in last.notices if notice.code in CODES), None)

    def _saving(self, diff: Diff, started: int, also: tuple[Notice, ...]) -> Callable[[sa.Connection], None]:
        source = self.source

        def save(connection: sa.Connection) -> None:
            source.save(connection, diff)
            if diff.last:
                looks.save(connection, source.tenant, source.source, started, _lines((*diff.notices, *also)))

        return save

    def _refusals(self, diff: Diff) -> Refusals:
        return Refusals(
            healed=tuple((self._key(fault), STAGE, fault.reason) for fault in diff.healed),
            found=tuple(
                (
                    self._key(fault),
                    Fate(outcome=Outcome.DEAD, reason=fault.reason, detail=fault.detail, stage=STAGE),
                )
                for fault in diff.faults
            ),
        )

    def _key(self, fault: Fault) -> DocKey:
        return DocKey(tenant=self.source.tenant, source=self.source.source, doc_id=fault.doc_id)


def _lines(notices: tuple[Notice, ...]) -> tuple[str, ...]:
    return tuple(f"{notice.code}: {notice.path or '.'}: {notice.detail}" for notice in notices)
