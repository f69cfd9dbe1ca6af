"""The folder against what was remembered of it, as pure functions: no file is opened and no clock is read here."""

from collections import deque
from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from typing import Any

from msgspec.structs import replace

from upwell.access import both
from upwell.errors import Reason
from upwell.records import MAX_VERSION, Acl, ChangeEvent, Content, Inline, Lane, Op, Record, SourceRef, stable_hash
from upwell.sources.folder.access import Rules, acl_of, same_effect
from upwell.sources.folder.content import Reading
from upwell.sources.folder.records import Entry, Listing, Observed, Signature, State

RACY_US = 20_000
RACY_WHOLE_SECONDS_US = 2_000_000
HELD_BACK = frozenset({Reason.UNREADABLE, Reason.TOO_LARGE})


class Origin(Record, frozen=True, kw_only=True):
    """Whose events these are, and when they were noticed."""

    tenant: str
    source: str
    lane: Lane
    now: int
    root: str

    def event(self, op: Op, after: Observed) -> ChangeEvent:
        """An event of `after`'s numbers; its id depends on nothing else, so that a repeat is known for one."""
        return ChangeEvent(
            event_id=stable_hash(self.tenant, self.source, after.doc_id, op, after.version, after.acl_version),
            tenant=self.tenant,
            source=self.source,
            doc_id=after.doc_id,
            op=op,
            version=after.version,
            acl_version=after.acl_version,
            received_at=self.now,
            lane=self.lane,
        )


class Comparison(Record, frozen=True, kw_only=True):
    """Which documents are new, need to be read again, stand, have vanished, or wait (until `waits_until`)."""

    new: tuple[Entry, ...] = ()
    touched: tuple[Entry, ...] = ()
    vanished: tuple[Observed, ...] = ()
    waits_until: int | None = None


class Step(Record, frozen=True, kw_only=True):
    """What one document's reading comes to. `kind` is the count it goes to."""

    kind: str
    event: ChangeEvent | None = None
    documents: tuple[Observed, ...] = ()


def compare(state: State, listing: Listing, evidence: AbstractSet[str], now: int) -> Comparison:
    """Sort the documents by what happened to them; `evidence` names those known to have changed, whatever stat says.

    Nothing below a folder that could not be listed has vanished, nor what cannot be read now. Whether what has may be
    deleted is for `shrink` to say.
    """
    new: list[Entry] = []
    touched: list[Entry] = []
    for entry in listing.entries:
        before = state.documents.get(entry.doc_id)
        if before is None or not before.present:
            new.append(entry)
        elif entry.doc_id in evidence or _may_differ(before, entry):
            touched.append(entry)
    there = {entry.doc_id for entry in listing.entries}
    there.update(fault.doc_id for fault in listing.faults if fault.reason in HELD_BACK)
    present = [before for before in state.documents.values() if before.present]
    vanished = [
        before for before in present if before.doc_id not in there and not is_below(before.doc_id, listing.unlisted)
    ]
    return Comparison(
        new=tuple(entry for entry in new if entry.waits_until <= now),
        touched=tuple(touched),
        vanished=tuple(vanished),
        waits_until=min((entry.waits_until for entry in new if entry.waits_until > now), default=None),
    )


def racy(signature: Signature, observed_at: int) -> bool:
    """True if the file was written so close to when it was read that a later write could have left the same signature.

    As git does for its index; two seconds for times without fractions, as FAT keeps them.
    """
    width = RACY_US if signature[1] % 1_000_000_000 else RACY_WHOLE_SECONDS_US
    return abs(observed_at - signature[1] // 1000) < width


def is_below(doc_id: str, folders: AbstractSet[str]) -> bool:
    """True if `doc_id` is in one of `folders`, at any depth ("" is the root)."""
    if not folders:
        return False
    parts = doc_id.split("/")
    return any("/".join(parts[:depth]) in folders for depth in range(len(parts)))


def renames(vanished: Sequence[Observed], found: Mapping[str, tuple[Entry, str]]) -> dict[str, Observed]:
    """New doc_id -> the vanished document that moved there: equal content, each used once.

    `found` maps a new document to its entry and sha256. Same inode first, then same file name, then in order.
    """
    moved: dict[str, Observed] = {}
    left = sorted(vanished, key=lambda before: before.doc_id)
    for trait in (_inode, _name, _nothing):
        waiting: dict[tuple[str, int | str], deque[Observed]] = {}
        for before in left:
            waiting.setdefault((before.sha256, trait(before)), deque()).append(before)
        for doc_id, (entry, sha256) in sorted(found.items()):
            same = waiting.get((sha256, trait(entry)))
            if same and doc_id not in moved:
                moved[doc_id] = same.popleft()
        left = [before for same in waiting.values() for before in same]
        left.sort(key=lambda before: before.doc_id)
    return moved


def permission(doc_id: str, target: str | None, trails: Mapping[str, tuple[Rules, ...]], owner: str) -> Acl:
    """A document's ACL where it stands; of a link, whoever may read both the link's place and its target's."""
    here = acl_of(doc_id, trails, owner)
    return here if target is None else both([here, acl_of(target, trails, owner)])


def permitted(origin: Origin, before: Observed, acl: Acl) -> Step:
    """A change of permissions alone: nothing if `acl` admits the same readers by the same levels."""
    if same_effect(before.acl, acl):
        return Step(kind="unchanged")
    after = replace(before, acl=acl, acl_version=_next(before.acl_version, origin.now))
    event = replace(origin.event(Op.ACL, after), acl=acl)
    return Step(kind="acl_changed", event=event, documents=(after,))


def deleted(origin: Origin, before: Observed) -> Step:
    """A document that is gone; its numbers stay, for it may come back."""
    after = replace(before, present=False, version=_next(before.version, origin.now))
    return Step(kind="deleted", event=origin.event(Op.DELETE, after), documents=(after,))


def read(
    origin: Origin,
    entry: Entry,
    reading: Reading,
    acl: Acl,
    *,
    before: Observed | None,
    moved: Observed | None = None,
) -> Step:
    """A document that was read: new, changed, moved here from `moved`, or as it was (then perhaps only its ACL)."""
    here = before if before is not None and before.present else None
    if here is not None and here.sha256 == reading.sha256:
        after = replace(here, **_seen(entry, reading))
        step = permitted(origin, after, acl)
        return step if step.event else Step(kind="unchanged", documents=(after,) if after != here else ())
    earlier = [one for one in (before, moved) if one is not None]
    version = _next(max((one.version for one in earlier), default=0), origin.now)
    acl_version = _next(max((one.acl_version for one in earlier), default=0), origin.now)
    if here is not None and same_effect(here.acl, acl):
        acl_version = here.acl_version
    after = Observed(
        doc_id=entry.doc_id,
        **_seen(entry, reading),
        sha256=reading.sha256,
        version=version,
        acl_version=acl_version,
        acl=acl,
    )
    event = replace(
        origin.event(Op.UPSERT, after),
        acl=acl,
        content=_content(origin.root, entry, reading),
        modified_at=max(0, min(reading.signature[1] // 1000, MAX_VERSION)),
        previous_doc_id=moved.doc_id if moved else None,
    )
    if moved is not None:
        return Step(kind="renamed", event=event, documents=(after, replace(moved, present=False, version=version)))
    return Step(kind="new" if here is None else "changed", event=event, documents=(after,))


def _seen(entry: Entry, reading: Reading) -> dict[str, Any]:
    return {
        "path": entry.path,
        "target": entry.target,
        "signature": reading.signature,
        "observed_at": reading.observed_at,
    }


def _next(last: int, now: int) -> int:
    return max(last + 1, now)


def _content(root: str, entry: Entry, reading: Reading) -> Content:
    if reading.data is not None:
        return Inline(data=reading.data)
    uri = f"{root.rstrip('/')}/{entry.path}"
    return SourceRef(connector="folder", uri=uri, sha256=reading.sha256, size=reading.signature[0])


def _may_differ(before: Observed, entry: Entry) -> bool:
    seen = (entry.signature, entry.path, entry.target)
    return seen != (before.signature, before.path, before.target) or racy(before.signature, before.observed_at)


def _inode(one: Observed | Entry) -> int:
    return one.signature[2]


def _name(one: Observed | Entry) -> str:
    return one.doc_id.rsplit("/", 1)[-1]


def _nothing(_one: Observed | Entry) -> int:
    return 0
