"""What a context is made of: chunks with their sections, or all that a reader may see, from registry and store.

Whether all of it may fit is decided without listing the lake: a search that brought fewer hits than were asked for (and
met no point of an older version, which may stand for one that it missed) has brought every chunk that the reader may
see, and the manifests of the documents it names say how much that is. Only for a reader of more chunks than a search
brings, with a budget to match, are the registry's rows looked through, and of those a bounded number.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from itertools import groupby, pairwise

from upwell.assemble import AssemblyPolicy, Candidate, Origin, Piece, floor_of, window
from upwell.clock import rfc3339
from upwell.lake.family import seen_as
from upwell.ports import DocumentRow, LiveChunk, Manifest, ManifestEntry, Registry, Snapshot, Store
from upwell.records import DocKey
from upwell.search.answer import citation, shown_score
from upwell.search.fetch import between
from upwell.search.govern import MOST_HITS, Governed, Reading

MOST_ROWS = 2_000
"""How many rows are looked through to find out whether all that a reader may see fits."""
FIRST_ROWS = 16

Documents = Mapping[DocKey, tuple[DocumentRow, Manifest]]


class Moved(Exception):
    """What was being read has changed meanwhile: read all of it again."""


class Gathering:
    """Reads for one reader. What it brings was true a moment ago: `last_word` says whether it may be shown.

    Raises Moved, and what the registry and the store raise.
    """

    def __init__(self, reading: Reading, registry: Registry, store: Store, pipeline: str) -> None:
        self._reading = reading
        self._registry = registry
        self._store = store
        self._pipeline = pipeline

    def everything(self, found: Governed, most_tokens: int) -> Documents | None:
        """All documents that the reader may see; None if they have more than `most_tokens` of the embedder's tokens, or
        if it would take too long to find out. `found` are the best MOST_HITS for any query."""
        named = self._visible({admitted.chunk.row.key for admitted in found.admitted})
        if _tokens(named) > most_tokens:
            return None
        complete = len(found.admitted) < MOST_HITS and not found.refused_superseded
        return named if complete else self._listed(most_tokens)

    def all_pieces(self, documents: Documents) -> tuple[Piece, ...]:
        """Every chunk of the documents."""
        every = {entry.point_id for _, manifest in documents.values() for entry in manifest.entries}
        return tuple(self._pieces(documents, every).values())

    def candidates(self, found: Governed, policy: AssemblyPolicy) -> list[Candidate]:
        """The relevant hits, each in its section or in what of that may be shown."""
        scores = [shown_score(admitted.hit.score) for admitted in found.admitted]
        floor = floor_of(max(scores, default=0.0), policy)
        hits = [a for a, score in zip(found.admitted, scores, strict=True) if score >= floor][: policy.candidates]
        documents = self._visible({admitted.chunk.row.key for admitted in hits})
        sections = {
            (row.key, parent): tuple(run)
            for row, manifest in documents.values()
            for parent, run in groupby(_in_order(manifest), key=lambda entry: entry.parent)
        }
        nearby: dict[str, tuple[ManifestEntry, ...]] = {}
        for admitted in hits:
            entry = admitted.chunk.entry
            section = sections.get((admitted.chunk.row.key, entry.parent), ())
            at = next((place for place, other in enumerate(section) if other.point_id == entry.point_id), None)
            if at is None:
                raise Moved
            start, end = window([other.tokens for other in section], at, policy.section_tokens)
            nearby[entry.point_id] = section[start:end]
        pieces = self._pieces(documents, {entry.point_id for run in nearby.values() for entry in run})
        return [
            Candidate(
                piece=pieces[admitted.hit.point_id],
                score=shown_score(admitted.hit.score),
                section=tuple(pieces[entry.point_id] for entry in nearby[admitted.hit.point_id]),
            )
            for admitted in hits
        ]

    def last_word(self, shown: Sequence[Piece], whole: Documents | None) -> Snapshot:
        """The snapshot that allows all that is shown, as it is shown; with `whole` the documents are what they were."""
        points = {piece.point_id: piece for piece in shown}
        moment = self._registry.snapshot(self._pipeline, points, asker=self._reading.asker, documents=whole or ())
        for point_id, piece in points.items():
            chunk = moment.live.get(point_id)
            if chunk is None or not self._reading.allows(chunk.row, moment):
                raise Moved
            if piece_of(chunk.row, chunk.entry, piece.text, piece.joiner) != piece:
                raise Moved
        if whole is not None and self._allowed(moment, whole) != whole:
            raise Moved
        return moment

    def _listed(self, most_tokens: int) -> Documents | None:
        found: dict[DocKey, tuple[DocumentRow, Manifest]] = {}
        tokens = 0
        for keys in self._keys():
            if keys is None:
                return None
            more = self._visible(keys)
            found.update(more)
            tokens += _tokens(more)
            if tokens > most_tokens:
                return None
        return found

    def _keys(self) -> Iterator[list[DocKey] | None]:
        """Keys of documents that may be seen, few at first; None when there are too many rows to look through."""
        moment = self._registry.snapshot(self._pipeline, asker=self._reading.asker)
        looked, size = 0, FIRST_ROWS
        keys: list[DocKey] = []
        places: list[str | None] = [*sorted(self._reading.sources)] or [None]
        for source in places:
            for row in self._registry.rows(self._reading.asker.tenant, source):
                looked += 1
                if looked > MOST_ROWS:
                    yield None
                    return
                if self._reading.allows(row, moment):
                    keys.append(row.key)
                if len(keys) == size:
                    yield keys
                    keys, size = [], size * 2
        yield keys

    def _visible(self, keys: Iterable[DocKey]) -> dict[DocKey, tuple[DocumentRow, Manifest]]:
        wanted = list(keys)
        return self._allowed(
            self._registry.snapshot(self._pipeline, asker=self._reading.asker, documents=wanted), wanted
        )

    def _allowed(self, moment: Snapshot, keys: Iterable[DocKey]) -> dict[DocKey, tuple[DocumentRow, Manifest]]:
        known = {key: moment.documents[key] for key in keys if key in moment.documents}
        return {key: (row, manifest) for key, (row, manifest) in known.items() if self._reading.allows(row, moment)}

    def _pieces(self, documents: Documents, wanted: AbstractSet[str]) -> dict[str, Piece]:
        """The wanted points of the documents as pieces."""
        texts = self._store.texts(sorted(wanted)) if wanted else {}
        if len(texts) < len(wanted):
            raise Moved
        return {
            entry.point_id: piece_of(row, entry, texts[entry.point_id], _joiner(before, entry))
            for row, manifest in documents.values()
            for before, entry in pairwise((None, *_in_order(manifest)))
            if entry is not None and entry.point_id in wanted
        }


def piece_of(row: DocumentRow, entry: ManifestEntry, text: str, between: str) -> Piece:
    """A live chunk as assembly sees it."""
    seen = seen_as(row, entry.child)
    return Piece(
        point_id=entry.point_id,
        origin=Origin(
            key=seen.key,
            version=seen.version,
            title=seen.title,
            url=seen.url,
            searchable_at=rfc3339(seen.searchable_at),
            stale_since=rfc3339(seen.stale_since),
        ),
        chunk_key=entry.chunk_key,
        ordinal=entry.ordinal,
        section=entry.parent,
        text=text,
        tokens=entry.tokens,
        citation=citation(LiveChunk(row=row, entry=entry)),
        joiner=between,
        heading_path=entry.heading_path,
        page=entry.page,
    )


def _joiner(before: ManifestEntry | None, entry: ManifestEntry) -> str:
    return "" if before is None or before.parent != entry.parent else between(before, entry)


def _in_order(manifest: Manifest) -> list[ManifestEntry]:
    """By section, and in reading order within one."""
    return sorted(manifest.entries, key=lambda entry: (entry.parent, entry.ordinal))


def _tokens(documents: Documents) -> int:
    return sum(entry.tokens for _, manifest in documents.values() for entry in manifest.entries)
