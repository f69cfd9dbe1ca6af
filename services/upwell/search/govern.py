"""Search that never shows what its reader may not see: the store proposes, one registry snapshot disposes.

Filters inside the store are copies and may be stale, so every hit is checked against the registry: it must be live in
the pinned pipeline's manifest, and every level of its document's permissions must admit the reader. The last step
before an answer leaves is one snapshot over everything in it. There is no switch to turn this off.

What is refused is excluded, and the store is asked again, until k hits are left or it has no more: a refusal costs
nobody a hit that they may see. Asking by offset would not do, for the order moves under it.
"""

from collections.abc import Mapping

from upwell.access import Asker, Standing, admits
from upwell.errors import Misconfigured
from upwell.ports import DocumentRow, LiveChunk, QueryVectors, Registry, Searcher, Snapshot, StoreHit, StoreQuery
from upwell.records import DocKey, Record

MOST_HITS = 100
MOST_ASKED = 800
CHASES = 3
"""How often a search asks again only because documents were published under it (what they have now is new)."""
FEW_PRINCIPALS = 200
"""A store takes so many in its stride. Of a reader with more it is asked only for those that permissions name."""
FRESH_US = 1_000_000
"""A document published this short a time before its re-check may have been half inserted when the store was asked."""


class Reading(Record, frozen=True, kw_only=True):
    """Who reads what: one asker's view of their tenant (of `sources` alone, if any are named).

    A document whose source could not say for longer than `acl_max_age_us` who may read it is hidden from everybody
    (None: the last known permission holds for ever).
    """

    asker: Asker
    sources: frozenset[str] = frozenset()
    acl_max_age_us: int | None = None

    def allows(self, row: DocumentRow, moment: Snapshot) -> bool:
        """True if this asker may see the document as it stands at that moment."""
        key = row.key
        in_view = key.tenant == self.asker.tenant and (not self.sources or key.source in self.sources)
        readable = not row.deleted and not row.acl_expired(moment.as_of, self.acl_max_age_us)
        return in_view and readable and admits(row.effective_acl, moment.standing.principals)


class Admitted(Record, frozen=True, kw_only=True):
    """A hit that passed the re-check, with what the registry says of it."""

    hit: StoreHit
    chunk: LiveChunk


class Governed(Record, frozen=True, kw_only=True):
    """Hits best first, all of them true at `as_of` (us): the time of the one snapshot that checked them together
    against `standing`.

    `refused_*` count what the store offered and the re-check refused: documents by permission, points not live.
    """

    admitted: tuple[Admitted, ...]
    as_of: int
    standing: Standing = Standing()
    refused_acl: int = 0
    refused_superseded: int = 0


def governed_search(
    vectors: QueryVectors, reading: Reading, k: int, *, registry: Registry, store: Searcher, pipeline: str
) -> Governed:
    """The best `k` chunks (1 to 100) that the reader may see, or all there are.

    Raises Misconfigured for a k out of range, and what the store and the registry raise.
    """
    if not 1 <= k <= MOST_HITS:
        raise Misconfigured(f"k is {k}: ask for 1 to {MOST_HITS} hits")
    found: dict[str, StoreHit] = {}
    standing = registry.standing(reading.asker)
    refused = _Refused()
    seen: dict[DocKey, int] = {}
    wanted, chases = k, CHASES
    while True:
        page = store.search(_query(vectors, reading, _asked_for(standing, reading, registry), wanted, refused))
        found |= {hit.point_id: hit for hit in page}
        moment = registry.snapshot(pipeline, found, asker=reading.asker)
        live, as_of = moment.live, moment.as_of
        admitted = [
            Admitted(hit=hit, chunk=live[hit.point_id])
            for hit in sorted(found.values(), key=lambda hit: (-hit.score, hit.point_id))
            if _is_live(hit, live) and reading.allows(live[hit.point_id].row, moment)
        ][:k]
        replaced = refused.note(found, page, moment, reading)
        short = len(admitted) < k
        moved = _moved(admitted, seen, as_of) or refused.freed or moment.standing != standing
        standing = moment.standing
        seen = {chunk.row.key: chunk.row.rev for chunk in live.values()}
        if chases and (moved or (replaced is not None and (short or replaced > admitted[-1].hit.score))):
            chases -= 1
        elif not (short and refused.grew and len(page) == wanted):
            return Governed(
                admitted=tuple(admitted),
                as_of=as_of,
                standing=moment.standing,
                refused_acl=len(refused.ever),
                refused_superseded=len(refused.points),
            )
        wanted = min(2 * wanted, max(MOST_ASKED, k))


def _moved(admitted: list[Admitted], seen: Mapping[DocKey, int], as_of: int) -> bool:
    """True if the store's answer may hold only a part of a document that was published while it was given.

    Not of one that has not changed since before the store was asked: `seen` is its revision then.
    """
    rows = {found.chunk.row.key: found.chunk.row for found in admitted}.values()
    return any((row.searchable_at or 0) >= as_of - FRESH_US and seen.get(row.key) != row.rev for row in rows)


class _Refused:
    """What the re-check has refused: points that are not live, and documents that the reader may not see as of the
    last snapshot (`freed`: one of them may be seen again, by a permission or a membership that came since)."""

    def __init__(self) -> None:
        self.points: set[str] = set()
        self.documents: set[DocKey] = set()
        self.ever: set[DocKey] = set()
        self.grew = self.freed = False

    def note(
        self, found: Mapping[str, StoreHit], page: list[StoreHit], moment: Snapshot, reading: Reading
    ) -> float | None:
        """Judge all that was found; returns the best score among the page's points that are not live, if any."""
        before = len(self.points) + len(self.ever)
        stale = [hit for hit in page if not _is_live(hit, moment.live)]
        self.points |= {hit.point_id for hit in stale}
        current = [hit for hit in found.values() if _is_live(hit, moment.live)]
        now = {hit.key for hit in current if not reading.allows(moment.live[hit.point_id].row, moment)}
        self.freed = not self.documents <= now
        self.documents = now
        self.ever |= now
        self.grew = len(self.points) + len(self.ever) > before
        return max((hit.score for hit in stale), default=None)


def _is_live(hit: StoreHit, live: Mapping[str, LiveChunk]) -> bool:
    chunk = live.get(hit.point_id)
    return chunk is not None and chunk.row.key == hit.key and chunk.entry.chunk_key == hit.chunk_key


def _asked_for(standing: Standing, reading: Reading, registry: Registry) -> frozenset[str]:
    """The principals that the store is asked for. Whoever is denied by a name that is new is refused by the check."""
    if len(standing.principals) <= FEW_PRINCIPALS:
        return standing.principals
    return registry.named(reading.asker.tenant, standing.principals)


def _query(
    vectors: QueryVectors, reading: Reading, principals: frozenset[str], limit: int, refused: _Refused
) -> StoreQuery:
    return StoreQuery(
        tenant=reading.asker.tenant,
        reader=principals,
        sources=reading.sources,
        vectors=vectors,
        limit=limit,
        exclude_points=frozenset(refused.points),
        exclude_documents=frozenset(refused.documents),
    )
