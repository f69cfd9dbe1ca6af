"""What has to do with a document: where it points, what points to it, what says the same, what is like it.

Everything found is a document that the asker may see; whoever may not see one is not told that it is named.
"""

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice, zip_longest

from upwell.clock import rfc3339
from upwell.errors import Misconfigured
from upwell.lake.links import names_of, targets_of
from upwell.ports import ManifestEntry, Registry, Snapshot, Store
from upwell.ports.browsing import NO_PIPELINE
from upwell.reading import RelatedAnswer, Relation
from upwell.records import DocKey, Record
from upwell.search.fetch import entries_of
from upwell.search.govern import MOST_HITS, Reading, governed_search
from upwell.search.heads import head_of
from upwell.search.locate import Located, locate, not_found, shown_in
from upwell.search.nearness import Without, cosine, query_of, samples, shared_part
from upwell.search.shown import Shown, document_name

MOST_RELATED = 100
DUPLICATE = 0.5
"""From this shared part on a document says the same as another."""
SIMILAR = 0.5
"""From this cosine on one is like another."""
CALLERS = 200

LINKS_TO, LINKED_FROM, DUPLICATES, SIMILARS = "links_to", "linked_from", "duplicate", "similar"
ORDER = (DUPLICATES, LINKS_TO, LINKED_FROM, SIMILARS)


class Candidate(Record, frozen=True, kw_only=True):
    """A document, or a part of one, that may be related."""

    key: DocKey
    relation: str
    child: str | None = None
    score: float | None = None


def related_documents(
    doc_id: str, *, source: str | None, k: int, reading: Reading, registry: Registry, store: Store, pipeline: str
) -> tuple[RelatedAnswer, Shown]:
    """Up to `k` (1 to 100) documents, each by its nearest relation: of each kind some, best first.

    Raises NotFound, and Misconfigured for a k out of range.
    """
    if not 1 <= k <= MOST_RELATED:
        raise Misconfigured(f"k is {k}: ask for 1 to {MOST_RELATED} documents")
    found, moment = locate(doc_id, source, reading, registry=registry, pipeline=pipeline)
    of = found.row.key
    searching = _Searching(found, moment, reading=reading, registry=registry, store=store, pipeline=pipeline)
    near = searching.near(k)
    kinds = {
        DUPLICATES: [one for one in near if one.relation == DUPLICATES],
        LINKS_TO: searching.links_to(k),
        LINKED_FROM: searching.linked_from(k),
        SIMILARS: [one for one in near if one.relation == SIMILARS],
    }
    candidates = list(_in_turn([kinds[kind] for kind in ORDER]))
    last = registry.snapshot(NO_PIPELINE, asker=reading.asker, documents={of, *(one.key for one in candidates)})
    still = shown_in(last, of, found.child, reading)
    if still is None:
        raise not_found(doc_id)
    seen = ((one, shown_in(last, one.key, one.child, reading)) for one in candidates)
    related = [
        Relation(document=head_of(there.seen), relation=one.relation, score=one.score)
        for one, there in islice(((one, there) for one, there in seen if there is not None), k)
    ]
    related.sort(key=lambda relation: ORDER.index(relation.relation))
    answer = RelatedAnswer(as_of=rfc3339(last.as_of) or "", document=head_of(still.seen), related=tuple(related))
    hits = tuple(document_name(relation.document) for relation in related)
    return answer, Shown(document=still.seen.key, version=still.row.version, hits=hits, standing=last.standing)


class _Searching:
    """Looks for what is related to one document, as it stands in one snapshot, for one asker."""

    def __init__(
        self,
        found: Located,
        moment: Snapshot,
        *,
        reading: Reading,
        registry: Registry,
        store: Store,
        pipeline: str,
    ) -> None:
        self._found = found
        self._entries = entries_of(moment.documents[found.row.key][1], found.child)
        self._reading = reading
        self._registry = registry
        self._browsing = registry.browsing(reading.asker.tenant)
        self._store = store
        self._pipeline = pipeline

    def links_to(self, k: int) -> list[Candidate]:
        """In the order of its text. What a part inside points to is not known."""
        if self._found.child is not None:
            return []
        targets = targets_of(self._found.row)
        named = self._browsing.named(targets)
        docs = [doc for target in targets for doc in named.get(target, ())]
        return self._visible(docs, LINKS_TO, k)

    def linked_from(self, k: int) -> list[Candidate]:
        """In an order of their own. Who points to a part inside is not known."""
        if self._found.child is not None:
            return []
        names, after = names_of(self._found.row), ""
        found: list[Candidate] = []
        while len(found) < k:
            docs = self._browsing.callers(names, after, CALLERS)
            found += self._visible(docs, LINKED_FROM, k - len(found))
            if len(docs) < CALLERS:
                break
            after = docs[-1]
        return found

    def near(self, k: int) -> list[Candidate]:
        """Duplicates and similar documents, best first."""
        own = self._store.vectors([entry.point_id for entry in samples(self._entries)])
        store = Without(self._store, self._found.row.key)
        cosines: dict[tuple[DocKey, str | None], float] = {}
        for vectors in own.values():
            found = governed_search(
                query_of(vectors),
                self._reading,
                min(MOST_HITS, 3 * k),
                registry=self._registry,
                store=store,
                pipeline=self._pipeline,
            )
            theirs = self._store.vectors([admitted.hit.point_id for admitted in found.admitted])
            for admitted in found.admitted:
                there = admitted.chunk.row.key, admitted.chunk.entry.child
                other = theirs.get(admitted.hit.point_id)
                if other is not None:
                    cosines[there] = max(cosines.get(there, -1.0), cosine(vectors, other))
        best = sorted(cosines.items(), key=lambda one: (-one[1], one[0][0], one[0][1] or ""))
        return self._judged([one for one in best if one[1] >= SIMILAR][: 2 * k])

    def _judged(self, near: Sequence[tuple[tuple[DocKey, str | None], float]]) -> list[Candidate]:
        """Which of these say the same, and which are only like it."""
        moment = self._registry.snapshot(
            self._pipeline, asker=self._reading.asker, documents={key for (key, _), _ in near}
        )
        judged = []
        for (key, child), score in near:
            theirs: list[ManifestEntry] = entries_of(moment.documents[key][1], child) if key in moment.documents else []
            part = shared_part(self._entries, theirs)
            kind, grade = (DUPLICATES, part) if part >= DUPLICATE else (SIMILARS, score)
            judged.append(Candidate(key=key, child=child, relation=kind, score=grade))
        return sorted(judged, key=lambda one: -(one.score or 0.0))

    def _visible(self, docs: Iterable[str], relation: str, k: int) -> list[Candidate]:
        order = list(dict.fromkeys(docs))
        keys = self._browsing.keys(order)
        of = self._found.row.key
        wanted = [keys[doc] for doc in order if doc in keys and keys[doc] != of]
        moment = self._registry.snapshot(NO_PIPELINE, asker=self._reading.asker, documents=wanted)
        seen = (key for key in wanted if shown_in(moment, key, None, self._reading) is not None)
        return [Candidate(key=key, relation=relation) for key in islice(seen, k)]


def _in_turn(kinds: Sequence[Sequence[Candidate]]) -> Iterator[Candidate]:
    """One of each kind, then the next of each; a document only by the first relation that comes."""
    told: set[tuple[DocKey, str | None]] = set()
    for round_ in zip_longest(*kinds):
        for one in round_:
            if one is not None and (one.key, one.child) not in told:
                told.add((one.key, one.child))
                yield one
