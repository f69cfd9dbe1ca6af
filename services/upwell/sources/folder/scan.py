"""One scan of a folder: permissions first, then what is gone, then what moved, changed or is new, in batches.

What is gone is deleted if it is little; a listing that has lost much deletes nothing (see `shrink`).
"""

from collections import Counter
from collections.abc import Iterator, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field

from msgspec.structs import replace

from upwell.access import both
from upwell.answers import DocumentCounts
from upwell.errors import Reason
from upwell.records import ChangeEvent, Inline
from upwell.sources.folder import diff, shrink
from upwell.sources.folder.access import Rules
from upwell.sources.folder.content import Read, Reading, Unread, Why
from upwell.sources.folder.permissions import observe_access
from upwell.sources.folder.records import (
    Changes,
    Diff,
    Entry,
    Fault,
    Held,
    Listing,
    Notice,
    Observed,
    State,
    Verdict,
)
from upwell.sources.folder.settle import rests_at

BATCH_EVENTS = 256
BATCH_BYTES = 16 * 1024 * 1024
RESTLESS_US = 500_000
Trails = Mapping[str, tuple[Rules, ...]]
FAULTS = {Why.UNREADABLE: Reason.UNREADABLE, Why.TOO_LARGE: Reason.TOO_LARGE}


@dataclass
class _Batch:
    """Steps gathered until there are enough to be saved together."""

    changes: Changes
    events: list[ChangeEvent] = field(default_factory=list)
    documents: list[Observed] = field(default_factory=list)
    size_bytes: int = 0

    def add(self, step: diff.Step) -> None:
        self.documents += step.documents
        if step.event is not None:
            self.events.append(step.event)
            if isinstance(step.event.content, Inline):
                self.size_bytes += len(step.event.content.data)

    @property
    def full(self) -> bool:
        return len(self.events) >= BATCH_EVENTS or self.size_bytes >= BATCH_BYTES

    def diff(self) -> Diff:
        return Diff(events=tuple(self.events), changes=replace(self.changes, documents=tuple(self.documents)))


@dataclass
class Scan:
    """Turns a listing into batches; reads the files that may differ. `state` may take in each batch as it is saved."""

    state: State
    listing: Listing
    origin: diff.Origin
    owner: str
    read: Read
    evidence: AbstractSet[str]
    shrink_limit: float = shrink.SHRINK_LIMIT
    _known: dict[str, Observed] = field(default_factory=dict)
    _kinds: dict[str, str] = field(default_factory=dict)
    _faults: set[Fault] = field(default_factory=set)
    _notices: list[Notice] = field(default_factory=list)
    _rechecks: list[int] = field(default_factory=list)

    def batches(self) -> Iterator[Diff]:
        """At least one batch; the last carries counts, notices, faults and when to scan again."""
        if self.listing.missing is not None:
            notice = Notice(code="source_missing", path="", detail=f"{self.listing.missing}: nothing is deleted")
            held = self._waiting_notice(self.state)
            yield Diff(notices=(notice, *held), held=len(self.state.waiting), last=True)
            return
        found = diff.compare(self.state, self.listing, self.evidence, self.origin.now)
        if found.waits_until is not None:
            self._rechecks.append(found.waits_until)
        moved = self._moved(found)
        judgement = self._judged(found, moved)
        access = observe_access(self.state, self.listing, self.read, self.evidence, self.origin.now)
        after = State(access=dict(self.state.access), held=dict(self.state.held))
        changes = Changes(access=access, held=self._held(found, moved, judgement))
        after.apply(changes)
        batch = _Batch(changes)
        said = {folder for folder, state in access.items() if state is not None}
        for step in self._steps(found, moved, judgement, after.trails, said):
            batch.add(step)
            if batch.full:
                yield batch.diff()
                batch = _Batch(Changes())
        yield self._last(batch, after)

    def _judged(self, found: diff.Comparison, moved: Mapping[str, Observed]) -> shrink.Judgement:
        gone_elsewhere = {before.doc_id for before in moved.values()}
        staying = {doc_id for doc_id, held in self.state.held.items() if held.verdict is Verdict.STAYS}
        present = {before.doc_id for before in self.state.documents.values() if before.present}
        return shrink.judge(
            [before for before in found.vanished if before.doc_id not in gone_elsewhere],
            self.state.held,
            self.evidence,
            present=len(present - staying),
            empty=self.listing.empty,
            limit=self.shrink_limit,
        )

    def _held(
        self, found: diff.Comparison, moved: Mapping[str, Observed], judgement: shrink.Judgement
    ) -> dict[str, Held | None]:
        """What begins to wait, and what waits no more: it is back, moved, or may go."""
        gone = {before.doc_id for before in found.vanished} - {before.doc_id for before in moved.values()}
        gone -= {before.doc_id for before in judgement.passes}
        back = [
            doc_id
            for doc_id in self.state.held
            if doc_id not in gone and not diff.is_below(doc_id, self.listing.unlisted)
        ]
        begun = {before.doc_id: Held(doc_id=before.doc_id, since=self.origin.now) for before in judgement.waits}
        return {**dict.fromkeys(back, None), **begun}

    def _steps(
        self,
        found: diff.Comparison,
        moved: Mapping[str, Observed],
        judgement: shrink.Judgement,
        trails: Trails,
        said: AbstractSet[str],
    ) -> Iterator[diff.Step]:
        leaving = {before.doc_id for before in (*moved.values(), *judgement.passes)}
        for step in self._permissions(found, leaving, trails, said):
            yield self._counted(step)
        for before in judgement.passes:
            yield self._counted(diff.deleted(self.origin, before))
        first = sorted(found.new, key=lambda entry: entry.doc_id not in moved)
        for entry in (*found.touched, *first):
            reading = self.read(entry.path)
            if isinstance(reading, Unread):
                self._unread(entry, reading)
            else:
                yield self._counted(self._arrived(entry, reading, moved.get(entry.doc_id), trails))

    def _permissions(
        self, found: diff.Comparison, leaving: AbstractSet[str], trails: Trails, said: AbstractSet[str]
    ) -> Iterator[diff.Step]:
        """Documents whose content is not known to stand are only narrowed: what they say now may be worse.

        One that is gone and stays is narrowed by what an access file has just `said`, and not by one that is gone, too.
        """
        vanished = {before.doc_id for before in found.vanished}
        entries = {entry.doc_id: entry for entry in self.listing.entries}
        standing = entries.keys() - {entry.doc_id for entry in found.touched}
        for before in list(self.state.documents.values()):
            if not before.present or before.doc_id in leaving:
                continue
            if before.doc_id in vanished and not diff.is_below(before.doc_id, said):
                continue
            target = entries[before.doc_id].target if before.doc_id in entries else before.target
            acl = diff.permission(before.doc_id, target, trails, self.owner)
            yield diff.permitted(self.origin, before, acl if before.doc_id in standing else both([before.acl, acl]))

    def _moved(self, found: diff.Comparison) -> dict[str, Observed]:
        """Which new documents are vanished ones. Only files of a vanished one's size are read for it."""
        sizes = {before.signature[0] for before in found.vanished}
        hashes: dict[str, tuple[Entry, str]] = {}
        for entry in found.new:
            reading = self.read(entry.path) if entry.signature[0] in sizes else None
            if isinstance(reading, Reading):
                hashes[entry.doc_id] = (entry, reading.sha256)
        return diff.renames(found.vanished, hashes)

    def _arrived(self, entry: Entry, reading: Reading, moved: Observed | None, trails: Trails) -> diff.Step:
        if moved is not None and moved.sha256 != reading.sha256:
            moved = None  # It changed since it was matched: the next scan deletes what vanished.
            self._rechecks.append(self.origin.now + RESTLESS_US)
        before = self._known.get(entry.doc_id) or self.state.documents.get(entry.doc_id)
        acl = diff.permission(entry.doc_id, entry.target, trails, self.owner)
        return diff.read(self.origin, entry, reading, acl, before=before, moved=moved)

    def _counted(self, step: diff.Step) -> diff.Step:
        for document in step.documents:
            self._known[document.doc_id] = document
        if step.event is not None:
            self._kinds[step.event.doc_id] = step.kind
        return step

    def _unread(self, entry: Entry, unread: Unread) -> None:
        before = self.state.documents.get(entry.doc_id)
        if unread.why in FAULTS:
            if before is None or not before.present or before.signature != entry.signature:
                self._faults.add(Fault(doc_id=entry.doc_id, reason=FAULTS[unread.why], detail=unread.detail))
            return
        self._rechecks.append(self.origin.now + RESTLESS_US)
        if unread.why is Why.RESTLESS:
            self._notices.append(Notice(code="restless", path=entry.doc_id, detail=unread.detail))

    def _last(self, batch: _Batch, after: State) -> Diff:
        kept = {one for one in self.state.faults if diff.is_below(one.doc_id, self.listing.unlisted)}
        faults = frozenset({*self.listing.faults, *self._faults, *kept})
        if faults != self.state.faults:
            batch.changes = replace(batch.changes, faults=faults)
        rested = rests_at(after.access)
        taken = batch.diff()
        return Diff(
            events=taken.events,
            changes=taken.changes,
            faults=_sorted(faults - self.state.faults),
            healed=_sorted(self.state.faults - faults),
            counts=self._counts(len(faults)),
            notices=(*self.listing.notices, *self._waiting_notice(after), *self._said(after), *self._notices),
            held=len(after.waiting),
            recheck_at=min((*self._rechecks, *(() if rested is None else (rested,))), default=None),
            last=True,
        )

    def _waiting_notice(self, after: State) -> tuple[Notice, ...]:
        origin = self.origin
        return shrink.notice_of(after.waiting, origin.tenant, origin.source, empty=self.listing.empty)

    def _said(self, after: State) -> Iterator[Notice]:
        for folder, access in sorted(after.access.items()):
            if access.error is not None:
                detail = f"the access file hides this folder from everybody but the owner: {access.error}"
                yield Notice(code="access_hidden", path=folder, detail=detail)

    def _counts(self, dead: int) -> DocumentCounts:
        kinds = Counter(self._kinds.values())
        seen = len(self.listing.entries) + len(self.listing.faults)
        there = {entry.doc_id for entry in self.listing.entries}
        quiet = there - self._kinds.keys() - {one.doc_id for one in self._faults}
        return DocumentCounts(seen=seen, dead=dead, unchanged=len(quiet), **kinds)


def _sorted(faults: AbstractSet[Fault]) -> tuple[Fault, ...]:
    return tuple(sorted(faults, key=lambda one: (one.doc_id, one.reason, one.detail)))
