"""What a stage may ask for: the Protocols between the pipeline and its adapters, and the records they exchange.

All methods are synchronous and safe to call from several threads. Adapters raise only `upwell.errors`.
"""

from collections.abc import Iterable, Iterator, Sequence
from collections.abc import Set as AbstractSet
from pathlib import Path
from typing import Protocol

from upwell.access import both
from upwell.records import (
    MAX_VERSION,
    Acl,
    BlobRef,
    ChangeEvent,
    DocKey,
    Kind,
    Outcome,
    ParsedDocument,
    ParseStatus,
    PreparedDocument,
    Record,
    Span,
    Vectors,
)


class PendingAcl(Record, frozen=True, kw_only=True):
    """A permission that waits until its document has reached content `version`; until then it may only narrow."""

    acl: Acl
    acl_version: int
    version: int


class ChildFacts(Record, frozen=True, kw_only=True):
    """What is known of a part inside a document (an attachment, an archive member). `name` is its `!/`-joined path."""

    name: str
    status: ParseStatus
    title: str | None = None
    media_type: str | None = None
    reason: str | None = None
    pages: int | None = None
    parser: str = ""


class DocumentRow(Record, frozen=True, kw_only=True):
    """The registry's row of a document: binding for every collection. `rev` counts the row's changes (the CAS token).

    `version` is -1 while only permissions have come. `rank` breaks ties of one version: 0 upsert, 1 delete, 2 erase.
    `hold` keeps the points of a moved document (its vectors' source) until the new id's event has ended.
    `failed_version` is the newest content that could not be parsed or fetched, -1 once newer content has come.
    `children` are the parts inside, depth first; they live and go with the row.
    """

    key: DocKey
    rev: int = 0
    version: int = -1
    rank: int = 0
    content_sha256: str = ""
    deleted: bool = False
    acl: Acl = Acl()
    acl_version: int = -1
    pending: tuple[PendingAcl, ...] = ()
    moved_to: str | None = None
    hold: bool = False
    title: str | None = None
    url: str | None = None
    media_type: str | None = None
    language: str | None = None
    metadata: dict[str, str] = {}
    modified_at: int | None = None
    received_at: int | None = None
    searchable_at: int | None = None
    status: ParseStatus | None = None
    failed_version: int = -1
    stale_since: int | None = None
    stale_reason: str | None = None
    lineage: dict[str, str] = {}
    children: tuple[ChildFacts, ...] = ()

    @property
    def effective_acl(self) -> Acl:
        """What binds now: the settled permission and every pending one must admit."""
        return both([self.acl, *(p.acl for p in self.pending)]) if self.pending else self.acl


class ManifestEntry(Record, frozen=True, kw_only=True):
    """One live chunk of a document in one pipeline: what moves when text above it moves, and the ids it hangs on.

    `child` is the path of the part inside that it is from, None for the document itself.
    """

    point_id: str
    chunk_key: str
    embed_key: str
    ordinal: int
    born: int
    tokens: int
    text_hash: str
    kind: Kind
    heading_path: tuple[str, ...] = ()
    page: int | None = None
    bbox: tuple[float, float, float, float] | None = None
    parent: int = 0
    spans: tuple[Span, ...] = ()
    child: str | None = None


class Manifest(Record, frozen=True, kw_only=True):
    """The live chunks of a document in one pipeline, by ordinal; generation 0 is a document never published."""

    generation: int = 0
    entries: tuple[ManifestEntry, ...] = ()


class AppliedEntry(Record, frozen=True, kw_only=True):
    """One line of the append-only history: what was applied or refused, when, why."""

    key: DocKey
    at: int
    event_id: str
    op: str
    version: int
    acl_version: int
    outcome: Outcome
    detail: str = ""


class LiveChunk(Record, frozen=True, kw_only=True):
    """A chunk that is live in the snapshot it was read from, with its document's row."""

    row: DocumentRow
    entry: ManifestEntry


class SourceCounts(Record, frozen=True, kw_only=True):
    """What the registry knows of one source."""

    tenant: str
    source: str
    documents: int
    chunks: int
    deleted: int
    stale: int


class Registry(Protocol):
    """The truth. Each method is one transaction; `commit` is the only writer of rows and manifests."""

    def row(self, key: DocKey) -> DocumentRow | None: ...

    def manifest(self, key: DocKey, pipeline: str) -> Manifest: ...

    def read(self, key: DocKey) -> tuple[DocumentRow | None, dict[str, Manifest]]:
        """The row and every pipeline's manifest of this document, as they stand together at one moment."""
        ...

    def commit(
        self,
        row: DocumentRow,
        *,
        expected_rev: int,
        manifests: dict[str, Manifest] | None = None,
        entry: AppliedEntry | None = None,
    ) -> bool:
        """Compare-and-set: write row (with rev = expected_rev + 1), the given manifests (pipeline -> whole new
        manifest) and the history line in one transaction if the stored rev is still `expected_rev` (0: no row yet).
        False, and nothing written, if it is not."""
        ...

    def record(self, entry: AppliedEntry) -> None:
        """Append a history line alone (for what was refused). A line of the same event and outcome is not repeated."""
        ...

    def ended(self, key: DocKey, event_id: str) -> AppliedEntry | None:
        """The last history line of this event, if it has one."""
        ...

    def points_of(self, tenant: str, pipeline: str, embed_keys: Iterable[str]) -> dict[str, str]:
        """embed_key -> a point of the tenant that holds its vectors (of tombstones on hold too)."""
        ...

    def snapshot(self, pipeline: str, point_ids: Iterable[str]) -> tuple[dict[str, LiveChunk], int]:
        """The points among `point_ids` that are live in one snapshot, and its time (us). Deleted documents have none;
        permissions are the caller's to check."""
        ...

    def history(self, key: DocKey) -> list[AppliedEntry]: ...

    def find(self, doc_id: str, tenant: str | None = None, source: str | None = None) -> list[DocumentRow]: ...

    def rows(self, tenant: str | None = None, source: str | None = None) -> Iterator[DocumentRow]:
        """All rows in key order, tombstones included; pages, never one long transaction."""
        ...

    def counts(self) -> list[SourceCounts]: ...

    def purge(self, key: DocKey) -> None:
        """Erase: forget the words (titles, urls, metadata, manifests, details) of a fenced row; keep the fence."""
        ...

    def meta(self, name: str) -> str | None:
        """What the lake remembers under `name` (the active pipeline, the embedder)."""
        ...

    def set_meta(self, name: str, value: str) -> None: ...

    def close(self) -> None: ...


class PointRecord(Record, frozen=True, kw_only=True):
    """A point to insert: immutable content, with copies of what the registry says of its document (`fields`)."""

    point_id: str
    key: DocKey
    chunk_key: str
    embed_key: str
    born: int
    text: str
    vectors: Vectors
    fields: dict[str, str | int | list[str] | None] = {}


class QueryVectors(Record, frozen=True, kw_only=True):
    """A query as the store takes it: dense float32 (dim), late float32 (tokens x dim, row-major), sparse pairs."""

    dense: bytes
    late: bytes
    late_count: int
    sparse_indices: tuple[int, ...]
    sparse_values: tuple[float, ...]


class StoreQuery(Record, frozen=True, kw_only=True):
    """One governed query. `reader` filters inside every prefetch; `exclude_*` take out what the re-check refused."""

    tenant: str
    reader: frozenset[str]
    vectors: QueryVectors
    limit: int
    prefetch: int = 100
    exclude_points: frozenset[str] = frozenset()
    exclude_documents: frozenset[DocKey] = frozenset()
    sources: frozenset[str] = frozenset()


class StoreHit(Record, frozen=True, kw_only=True):
    """A point that matched; `why` names the branches (`dense`, `sparse`) with their ranks, and the score's parts."""

    point_id: str
    score: float
    text: str
    chunk_key: str
    key: DocKey
    why: dict[str, float] = {}


class Store(Protocol):
    """One collection of one pipeline. Insertions are durable once `flush` has returned."""

    def insert(self, points: Sequence[PointRecord]) -> None:
        """Insert the points whose ids are new; leave the others as they are. Validates before it writes."""
        ...

    def flush(self) -> None:
        """Make every earlier write of this thread durable. Concurrent callers share one flush."""
        ...

    def stamp(self, key: DocKey, rev: int, fields: dict[str, str | int | list[str] | None]) -> None:
        """Rewrite the copied fields of the document's points that are older than row revision `rev`."""
        ...

    def prune(self, key: DocKey, generation: int, live: AbstractSet[str]) -> int:
        """Delete the document's points with born <= generation that are not `live`; returns how many were there."""
        ...

    def present(self, key: DocKey) -> dict[str, int]:
        """point_id -> born of every point of the document."""
        ...

    def vectors(self, point_ids: Sequence[str]) -> dict[str, Vectors]: ...

    def texts(self, point_ids: Sequence[str]) -> dict[str, str]: ...

    def search(self, query: StoreQuery) -> list[StoreHit]:
        """Dense and sparse prefetch, RRF, MaxSim rerank; best first."""
        ...

    def count(self) -> int: ...

    def vacuum(self) -> None:
        """Leave no deleted text in any file of the store (segments and write-ahead log)."""
        ...

    def close(self) -> None: ...


class Tokenizer(Protocol):
    """The embedder's own tokenizer. `max_tokens` is how many tokens of a text it takes, special tokens not counted."""

    max_tokens: int

    def offsets(self, text: str) -> list[tuple[int, int]]:
        """Character ranges of the tokens, without special tokens."""
        ...


class Embedder(Protocol):
    """One model. `fingerprint` changes when equal text could give other vectors."""

    name: str
    fingerprint: str
    dim: int
    tokenizer: Tokenizer

    def embed(self, texts: Sequence[str], *, urgent: bool = False) -> list[Vectors]:
        """Vectors of passages, in order; `urgent` (the live lane) goes before other callers between two batches.

        Never truncates silently: a text over max_tokens is Rejected."""
        ...

    def embed_query(self, text: str) -> QueryVectors:
        """Vectors of a query, truncated to max_tokens."""
        ...


class Preparer(Protocol):
    """Parse, chunk and prefix in a sandbox. A document that will not parse is a status, never an exception."""

    def prepare(self, content: bytes | Path, name: str, media_type: str | None = None) -> PreparedDocument:
        """Rejected `parser_crashed` for a document that ended two children in a row, `unreadable` for a path that may
        not be read; Retryable when the sandbox itself failed for a reason that is not the document's."""
        ...

    def close(self) -> None: ...


class Parser(Protocol):
    """Parse alone, in a sandbox; chunk and prefix are stages of their own. Errors as `Preparer.prepare` has them."""

    def parse(self, content: bytes | Path, name: str, media_type: str | None = None) -> ParsedDocument: ...

    def close(self) -> None: ...


class Fetcher(Protocol):
    """Brings the content of an event: what it carries, what a blob holds, or what its source's connector fetches."""

    def fetch(self, event: ChangeEvent) -> bytes | Path:
        """Retryable while the source is away; Rejected `unreadable` when it has no such object (any more), `too_large`
        over the limit, `blob_missing` for a lost blob, `invalid_event` when no connector is configured for it."""
        ...


class Blobs(Protocol):
    """Content that is too large for a message, by document, so that an erasure finds all of it."""

    def put(self, key: DocKey, data: bytes, version: int) -> BlobRef:
        """Durable when it returns. Equal bytes of one version of a document are stored once."""
        ...

    def get(self, ref: BlobRef) -> bytes:
        """Retryable while the store is away; Rejected `blob_missing` when the blob is gone or is not what it was."""
        ...

    def remove(self, ref: BlobRef) -> None:
        """Remove one blob; nothing happens when it is gone, or the reference names none."""
        ...

    def forget(self, key: DocKey, through: int = MAX_VERSION) -> int:
        """Remove a document's blobs up to this version; how many there were."""
        ...

    def expire(self, before: int) -> int:
        """Remove blobs written before this time (us since the epoch); how many."""
        ...

    def close(self) -> None: ...


class EventSink(Protocol):
    """Where a gateway puts what it accepts: the embedded engine, or Kafka."""

    def accept(self, events: Sequence[ChangeEvent]) -> None:
        """Durable, all of them, when it returns; an event accepted before is accepted and ignored.

        Raises Overloaded when the log cannot take more, Retryable while it is away."""
        ...

    def fates(self, events: Sequence[ChangeEvent], timeout_s: float) -> dict[str, "Fate"]:
        """event_id -> how it ended, of those that ended within `timeout_s`; returns as soon as all have."""
        ...


class Fate(Record, frozen=True, kw_only=True):
    """How an event ended."""

    outcome: Outcome
    reason: str | None = None
    detail: str = ""
    stage: str = ""
    attempts: int = 1


class ChildFault(Record, frozen=True, kw_only=True):
    """A part inside a document (`key` is `parent!/name`) that will not parse, though the document did."""

    key: DocKey
    fate: Fate


class DeadLetter(Record, frozen=True, kw_only=True):
    """An input that was refused, kept with its reason until it is replayed or discarded. `replayable`: with its event,
    which one that never became an event (a file's name) has not.
    """

    id: int
    tenant: str
    source: str
    doc_id: str
    stage: str
    reason: str
    detail: str
    attempts: int
    at: int
    replayable: bool = True
