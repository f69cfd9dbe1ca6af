"""What assembly works on: live chunks with where they are from, and excerpts, runs of chunks of one section."""

from collections.abc import Iterable, Sequence
from itertools import groupby, pairwise

from upwell.reading import Passage
from upwell.records import DocKey, Record, stable_hash

JOINER = "\n\n"
GAP = "\n\n[…]\n\n"
ID_DIGITS = 8
LONG_ID_DIGITS = 16


class Origin(Record, frozen=True, kw_only=True):
    """The document (or the part inside one) that a chunk is from, as its reader sees it. Times are RFC 3339."""

    key: DocKey
    version: int
    title: str | None = None
    url: str | None = None
    searchable_at: str | None = None
    stale_since: str | None = None


class Piece(Record, frozen=True, kw_only=True):
    """A live chunk, by its point: the document's own words, and for people where they stand (`citation`).

    `section` numbers its section within the origin, `tokens` are the embedder's, `joiner` stands between it and the
    chunk before it.
    """

    point_id: str
    origin: Origin
    chunk_key: str
    ordinal: int
    section: int
    text: str
    tokens: int
    citation: str
    joiner: str = JOINER
    heading_path: tuple[str, ...] = ()
    page: int | None = None

    @property
    def place(self) -> tuple[str, str, int]:
        """The stable order of everything: source, doc_id, ordinal."""
        return self.origin.key.source, self.origin.key.doc_id, self.ordinal


class Candidate(Record, frozen=True, kw_only=True):
    """A chunk that matched, its score, and its section in order, or a part of that around it (itself among it)."""

    piece: Piece
    score: float
    section: tuple[Piece, ...]


class Excerpt(Record, frozen=True, kw_only=True):
    """Chunks of one section in order; `score` is the best match's, None where nothing was matched."""

    pieces: tuple[Piece, ...]
    score: float | None = None

    @property
    def text(self) -> str:
        """The chunks joined; `[…]` stands where some between them are left out."""
        return "".join(self.parts)

    @property
    def parts(self) -> tuple[str, ...]:
        """The texts of the chunks and what stands between them."""
        parts = [self.pieces[0].text]
        for before, piece in pairwise(self.pieces):
            parts += [piece.joiner if piece.ordinal == before.ordinal + 1 else GAP, piece.text]
        return tuple(parts)


def whole_excerpts(pieces: Iterable[Piece]) -> tuple[Excerpt, ...]:
    """Everything, section by section, by source, doc_id and ordinal."""
    ordered = sorted(pieces, key=lambda piece: piece.place)
    runs = groupby(ordered, key=lambda piece: (piece.origin.key, piece.section))
    return tuple(Excerpt(pieces=tuple(run)) for _, run in runs)


def passages(excerpts: Sequence[Excerpt], tokens: Sequence[int]) -> tuple[Passage, ...]:
    """Excerpts with their citation ids; `tokens` counts each as it is rendered."""
    shown = zip(excerpts, citation_ids(excerpts), tokens, strict=True)
    return tuple(_passage(excerpt, name, count) for excerpt, name, count in shown)


def citation_ids(excerpts: Sequence[Excerpt]) -> tuple[str, ...]:
    """Eight hex digits each, from the document's key and the chunks' keys: equal excerpts, equal ids, in any company.

    Should two excerpts share one (a chance of one in four thousand millions, or somebody's diligence), all are longer.
    """
    hashes = [
        stable_hash(excerpt.pieces[0].origin.key.canonical, [piece.chunk_key for piece in excerpt.pieces])
        for excerpt in excerpts
    ]
    short = [digest[:ID_DIGITS] for digest in hashes]
    distinct = len(set(short)) == len(set(hashes))
    return tuple(short if distinct else (digest[:LONG_ID_DIGITS] for digest in hashes))


def _passage(excerpt: Excerpt, name: str, tokens: int) -> Passage:
    first = excerpt.pieces[0]
    origin = first.origin
    return Passage(
        id=name,
        citation=first.citation,
        source=origin.key.source,
        doc_id=origin.key.doc_id,
        version=origin.version,
        title=origin.title,
        url=origin.url,
        heading_path=first.heading_path,
        page=first.page,
        text=excerpt.text,
        tokens=tokens,
        score=excerpt.score,
        searchable_at=origin.searchable_at,
        stale_since=origin.stale_since,
    )
