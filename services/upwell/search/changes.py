"""What changed in what an asker may see: a feed that may tell a change twice and leaves none out.

Two processes may commit in another order than their clocks say. So a feed that has come to its end goes on from a
little before it, and its cursor names what it told from there on.
"""

import hashlib
import re
from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, datetime, timedelta
from itertools import islice

from msgspec.structs import replace

from upwell.access import admits
from upwell.clock import rfc3339
from upwell.errors import Misconfigured
from upwell.lake.browsing import ERASED, class_of
from upwell.ports import DocumentRow, Registry, Snapshot
from upwell.ports.browsing import NO_PIPELINE, Glance
from upwell.reading import ChangedDocument, ChangesAnswer
from upwell.records import DocKey, Record
from upwell.search.answer import check_names
from upwell.search.cursors import cursor_of, place_of
from upwell.search.govern import Reading
from upwell.search.heads import head_of
from upwell.search.locate import Located, is_visible
from upwell.search.shown import Shown, document_name

MOST_CHANGES = 200
OVERLAP_US = 5_000_000
"""How far two writers' commits and clocks may be out of order."""
MOST_TOLD = 24
"""How many changes of the overlap a cursor names; beyond them a change may be told twice."""
PAGE = 1_000
LATEST = 2**53

_DOC = re.compile(r"[0-9a-f]{0,32}")
_TIME = re.compile(r"\d{4}-\d\d-\d\d[Tt ]\d\d:\d\d:\d\d(\.\d{1,9})?([Zz]|[+-]\d\d:\d\d)")


class FeedPlace(Record, frozen=True, kw_only=True, array_like=True, tag="feed"):
    """After the change (`at`, `doc`), of a feed that was asked for from `base` on and is sure of all before `sure`;
    `told` are tags of changes after that point which were told already."""

    at: int
    doc: str
    base: int
    sure: int
    told: tuple[bytes, ...] = ()


def changes_since(since: str, *, limit: int, reading: Reading, registry: Registry) -> tuple[ChangesAnswer, Shown]:
    """Up to `limit` (1 to 200) documents that changed after `since` (RFC 3339, or a `next`), oldest first, each once.

    Tombstones are told to whom their last permission admits, erased documents to nobody. Raises Misconfigured.
    """
    asker = reading.asker
    check_names(asker.tenant, *asker.principals, *asker.claimed, *reading.sources)
    if not 1 <= limit <= MOST_CHANGES:
        raise Misconfigured(f"limit is {limit}: ask for 1 to {MOST_CHANGES} changes")
    place = _place(since)
    feed = _Feed(reading, registry)
    begun = feed.moment.as_of - OVERLAP_US
    glances = feed.glances(place)
    taken: list[Glance] = []
    while True:
        more = list(islice(glances, limit + 1 - len(taken)))
        taken += more
        moment, told = feed.checked(taken)
        if len(told) > limit or not more:
            break
        taken = [glance for glance in taken if glance.doc in told]
    shown = [glance for glance in taken if glance.doc in told][:limit]
    complete = len(told) <= limit
    answer = ChangesAnswer(
        as_of=rfc3339(moment.as_of) or "",
        changes=tuple(told[glance.doc] for glance in shown),
        next=cursor_of(_next(place, shown, min(place.sure, begun), complete=complete)),
        complete=complete,
    )
    names = (told[glance.doc].document for glance in shown)
    return answer, Shown(standing=moment.standing, hits=tuple(map(document_name, names)))


class _Feed:
    """Looks through the index for one asker, and asks the registry who may see what it finds."""

    def __init__(self, reading: Reading, registry: Registry) -> None:
        self._reading = reading
        self._registry = registry
        self._browsing = registry.browsing(reading.asker.tenant)
        self._admitted: dict[str, bool] = {}
        self.moment = registry.snapshot(NO_PIPELINE, asker=reading.asker)

    def glances(self, place: FeedPlace) -> Iterator[Glance]:
        """The changes after a place that this asker probably may see."""
        after, told = (place.at, place.doc), set(place.told)
        while True:
            page = self._browsing.changed(after, sources=self._reading.sources, limit=PAGE)
            self._learn(page)
            yield from (g for g in page if self._admitted.get(g.acl_class, True) and _tag(g) not in told)
            if len(page) < PAGE:
                return
            after = page[-1].changed_at, page[-1].doc

    def checked(self, taken: Sequence[Glance]) -> tuple[Snapshot, dict[str, ChangedDocument]]:
        """One snapshot over these documents, and over where they moved: what may be told of them in it, by digest."""
        keys = self._browsing.keys(glance.doc for glance in taken)
        moment = self._snapshot(keys.values())
        moved = {to for row, _ in moment.documents.values() if (to := _moved_to(row)) is not None}
        if moved:
            moment = self._snapshot({*keys.values(), *moved})
        self.moment = moment
        told = {}
        for glance in taken:
            found = moment.documents.get(keys[glance.doc]) if glance.doc in keys else None
            change = None if found is None else _change(found[0], glance.changed_at, self._reading, moment)
            if change is not None:
                told[glance.doc] = change
        return moment, told

    def _snapshot(self, documents: Iterable[DocKey]) -> Snapshot:
        return self._registry.snapshot(NO_PIPELINE, asker=self._reading.asker, documents=documents)

    def _learn(self, page: Sequence[Glance]) -> None:
        """What each new class of permissions says of this asker. Of one that has just gone, nothing is learned."""
        fresh = {g.acl_class: g.doc for g in page if g.acl_class not in self._admitted}
        keys = self._browsing.keys(fresh.values())
        for acl_class, doc in fresh.items():
            row = self._registry.row(keys[doc]) if doc in keys else None
            if row is not None and class_of(row.effective_acl) == acl_class:
                self._admitted[acl_class] = admits(row.effective_acl, self.moment.standing.principals)


def _change(row: DocumentRow, at: int, reading: Reading, moment: Snapshot) -> ChangedDocument | None:
    """What may be told of a document in this snapshot, if anything."""
    if row.version < 0 or row.rank == ERASED or not reading.allows(replace(row, deleted=False), moment):
        return None
    to = _moved_to(row)
    there = None if to is None else moment.documents.get(to)
    seen = there is not None and is_visible(Located(row=there[0]), reading, moment)
    change = "changed" if not row.deleted else "moved" if seen else "deleted"
    return ChangedDocument(
        document=head_of(row), change=change, at=rfc3339(at) or "", moved_to=row.moved_to if seen else None
    )


def _moved_to(row: DocumentRow) -> DocKey | None:
    if not row.deleted or row.moved_to is None:
        return None
    return replace(row.key, doc_id=row.moved_to)


def _place(since: str) -> FeedPlace:
    if _TIME.fullmatch(since):
        try:
            at = datetime.fromisoformat(since.replace("z", "Z").replace("t", "T")).astimezone(UTC)
        except (ValueError, OverflowError):
            raise Misconfigured(f"since is no time that there is: {since}") from None
        us = (at - datetime(1970, 1, 1, tzinfo=UTC)) // timedelta(microseconds=1)
        us = max(-LATEST, min(us, LATEST))  # nothing changes beyond, and every `next` must be taken back
        return FeedPlace(at=us, doc="", base=us, sure=LATEST)
    place = place_of(since, FeedPlace, "since")
    numbers = (place.at, place.base, place.sure)
    if not all(-LATEST <= n <= LATEST for n in numbers) or len(place.told) > MOST_TOLD or not _DOC.fullmatch(place.doc):
        raise Misconfigured("since is neither a time (RFC 3339) nor the `next` of an earlier answer")
    return place


def _next(place: FeedPlace, shown: Sequence[Glance], sure: int, *, complete: bool) -> FeedPlace:
    """Within a feed: after the last that was told. At its end: from where all is sure, but never before its base."""
    told = [*place.told, *(_tag(glance) for glance in shown if glance.changed_at > sure)][-MOST_TOLD:]
    if complete:
        at = max(place.base, sure)
        return FeedPlace(at=at, doc="", base=at, sure=LATEST, told=tuple(told))
    last = shown[-1]
    return FeedPlace(at=last.changed_at, doc=last.doc, base=place.base, sure=sure, told=tuple(told))


def _tag(glance: Glance) -> bytes:
    return hashlib.sha256(f"{glance.doc} {glance.changed_at}".encode()).digest()[:6]
