"""One scan of a folder: permissions first, then what is gone, then what moved, changed or is new, in batches."""

from collections import Counter
from collections.abc import Iterator, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field

from upwell.access import both
from upwell.answers import DocumentCounts
from upwell.errors import Reason
from upwell.records import ChangeEvent, Inline
from upwell.sources.folder import diff
from upwell.sources.folder.access import Rules
from upwell.sources.folder.content import Read, Reading, Unread, Why
from upwell.sources.folder.permissions import observe_access
from upwell.sources.folder.records import Changes, Diff, Entry, Fault, Listing, Notice, Observed, State
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
        changes = Changes(documents=tuple(self.documents), access=self.changes.access, faults=self.changes.faults)
        return Diff(events=tuple(self.events), changes=changes)


@dataclass
class Scan:
    """Turns a listing into batches; reads the files that may differ. `state` may take in each batch as it is saved."""

    state: State
    listing: Listing
    origin: diff.Origin
    owner: str
    read: Read
    evidence: AbstractSet[str]
    _known: dict[str, Observed] = field(default_factory=dict)
    _kinds: dict[str, str] = field(default_factory=dict)
    _faults: set[Fault] = field(default_factory=set)
    _notices: list[Notice] = field(default_factory=list)
    _rechecks: list[int] = field(default_factory=list)

    def batches(self) -> Iterator[Diff]:
        """At least one batch; the last carries counts, notices, faults and when to scan again."""
        if self.listing.missing is not None:
            notice = Notice(code="source_missing", path="", detail=f"{self.listing.missing}: nothing is deleted")
            yield Diff(notices=(notice,), last=True)
            return
        access = observe_access(self.state, self.listing, self.read, self.evidence, self.origin.now)
        after = State(access=dict(self.state.access))
        after.apply(Changes(access=access))
        batch = _Batch(Changes(access=access))
        for step in self._steps(after.trails):
            batch.add(step)
            if batch.full:
                yield batch.diff()
                batch = _Batch(Changes())
        yield self._last(batch, after)

    def _steps(self, trails: Trails) -> Iterator[diff.Step]:
        found = diff.compare(self.state, self.listing, self.evidence, self.origin.now)
        if found.waits_until is not None:
            self._rechecks.append(found.waits_until)
        for step in self._permissions(found, trails):
            yield self._counted(step)
        moved = self._moved(found)
        gone = {before.doc_id for before in moved.values()}
        for before in found.vanished:
            if before.doc_id not in gone:
                yield self._counted(diff.deleted(self.origin, before))
        first = sorted(found.new, key=lambda entry: entry.doc_id not in moved)
        for entry in (*found.touched, *first):
            reading = self.read(entry.path)
            if isinstance(reading, Unread):
                self._unread(entry, reading)
            else:
                yield self._counted(self._arrived(entry, reading, moved.get(entry.doc_id), trails))

    def _permissions(self, found: diff.Comparison, trails: Trails) -> Iterator[diff.Step]:
        """Documents whose content is not known to stand are only narrowed: what they say now may be worse."""
        vanished = {before.doc_id for before in found.vanished}
        entries = {entry.doc_id: entry for entry in self.listing.entries}
        standing = entries.keys() - {entry.doc_id for entry in found.touched}
        for before in list(self.state.documents.values()):
            if not before.present or before.doc_id in vanished:
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
            batch.changes = Changes(access=batch.changes.access, faults=faults)
        rested = rests_at(after.access)
        taken = batch.diff()
        return Diff(
            events=taken.events,
            changes=taken.changes,
            faults=_sorted(faults - self.state.faults),
            healed=_sorted(self.state.faults - faults),
            counts=self._counts(len(faults)),
            notices=(*self.listing.notices, *self._said(after), *self._notices),
            recheck_at=min((*self._rechecks, *(() if rested is None else (rested,))), default=None),
            last=True,
        )

    def _said(self, after: State) -> Iterator[Notice]:
        if self.listing.empty and any(before.present for before in self.state.documents.values()):
            detail = "the folder is suddenly empty: nothing is deleted"
            yield Notice(code="source_empty", path="", detail=detail)
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
