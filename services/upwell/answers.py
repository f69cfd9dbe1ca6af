"""What a lake answers: the shapes that commands print with `--json`, HTTP returns, and others build on.

`LakeApi` is everything a command can ask of a lake. The owner's process implements it on the real parts, and a command
that finds an owner running forwards to it through a client that implements the same Protocol.
"""

from collections.abc import Callable
from enum import StrEnum
from pathlib import Path
from threading import Event
from typing import Protocol

from msgspec.structs import replace

from upwell.records import SCHEMA_VERSION, Record


class Progress(Record, frozen=True, kw_only=True):
    """How far a long piece of work is: `done` of `total` documents (total may grow), and what is in hand."""

    phase: str
    done: int
    total: int
    current: str = ""


class DocumentCounts(Record, frozen=True, kw_only=True, omit_defaults=False):
    seen: int = 0
    new: int = 0
    changed: int = 0
    unchanged: int = 0
    renamed: int = 0
    acl_changed: int = 0
    deleted: int = 0
    dead: int = 0


class ChunkCounts(Record, frozen=True, kw_only=True, omit_defaults=False):
    """kept: the point stays; reused: a new point, its vectors from the lake; embedded: the model ran."""

    kept: int = 0
    reused: int = 0
    embedded: int = 0
    removed: int = 0


class IngestAnswer(Record, frozen=True, kw_only=True, omit_defaults=False):
    documents: DocumentCounts = DocumentCounts()
    chunks: ChunkCounts = ChunkCounts()
    tokens_embedded: int = 0
    seconds: float = 0.0
    warnings: tuple[str, ...] = ()


class Hit(Record, frozen=True, kw_only=True, omit_defaults=False):
    """`text` is the source's own words. `citation` is `source/doc_id > heading > heading (p. N)`, for people.

    `score` is 0 to 1, and comparable within a lake: two thirds of it are how near the chunk comes to each token of the
    query (`why.maxsim`, the mean cosine of their best matches), a third is the query's very words in it, rare ones most
    (`why.bm25`, damped). `why.dense` and `why.sparse` are the ranks, from 1, in the branches that found it.
    """

    citation: str
    rank: int
    score: float
    tenant: str
    source: str
    doc_id: str
    version: int
    title: str | None
    url: str | None
    heading_path: tuple[str, ...]
    page: int | None
    bbox: tuple[float, float, float, float] | None
    text: str
    chunk_key: str
    modified_at: str | None
    searchable_at: str | None
    stale_since: str | None
    stale_reason: str | None
    lineage: dict[str, str]
    why: dict[str, float]


class SearchAnswer(Record, frozen=True, kw_only=True, omit_defaults=False):
    query: str
    as_of: str
    hits: tuple[Hit, ...]


class ShownChunk(Record, frozen=True, kw_only=True, omit_defaults=False):
    chunk_key: str
    ordinal: int
    text: str
    tokens: int
    heading_path: tuple[str, ...]
    page: int | None
    spans: tuple[tuple[int, int, int], ...]


class ShownChild(Record, frozen=True, kw_only=True, omit_defaults=False):
    """A part inside a document: `show` its doc_id (`parent!/name`) for more. `reason`: why it has no chunks."""

    doc_id: str
    title: str | None
    media_type: str | None
    status: str
    reason: str | None
    pages: int | None
    chunks: int


class ShownAcl(Record, frozen=True, kw_only=True, omit_defaults=False):
    """Levels and deny as sorted lists; `pending` counts permissions that wait for their content."""

    levels: tuple[tuple[str, ...], ...]
    deny: tuple[str, ...]
    acl_version: int
    pending: int


class HistoryLine(Record, frozen=True, kw_only=True, omit_defaults=False):
    at: str
    op: str
    version: int
    acl_version: int
    outcome: str
    detail: str


class ShowAnswer(Record, frozen=True, kw_only=True, omit_defaults=False):
    doc_id: str
    tenant: str
    source: str
    version: int
    deleted: bool
    moved_to: str | None
    title: str | None
    url: str | None
    media_type: str | None
    status: str | None
    stale_since: str | None
    stale_reason: str | None
    modified_at: str | None
    searchable_at: str | None
    acl: ShownAcl
    lineage: dict[str, str]
    history: tuple[HistoryLine, ...]
    chunks: tuple[ShownChunk, ...]
    children: tuple[ShownChild, ...] = ()


class SourceStatus(Record, frozen=True, kw_only=True, omit_defaults=False):
    """watermark: everything the source changed up to then is searchable; staleness_s: now minus watermark.

    acl_missing counts the documents of which the source cannot say who may read: the last known permission holds, until
    it is too old and they are hidden from everybody (acl_hidden, of those).
    """

    tenant: str
    source: str
    documents: int
    chunks: int
    watermark: str | None
    staleness_s: float | None
    pending: int
    dead: int
    warnings: tuple[str, ...] = ()
    acl_missing: int = 0
    acl_hidden: int = 0


class StatusAnswer(Record, frozen=True, kw_only=True, omit_defaults=False):
    """`owner` says which process holds the lake (pid, and whether it is a `run`).

    `totals` and `tokens_embedded` count what was published since that owner opened the lake: the difference of two
    answers is what the changes between them cost. Of a distributed lake they are nought; it says instead how all events
    ended (`outcomes`, with those that are `pending`) and how many messages wait for each group of workers (`lag`).
    """

    lake: str
    embedder: str
    pipeline: str
    owner: str
    sources: tuple[SourceStatus, ...]
    totals: ChunkCounts = ChunkCounts()
    tokens_embedded: int = 0
    outcomes: dict[str, int] = {}
    lag: dict[str, int] = {}


class TopicMismatch(Record, frozen=True, kw_only=True, omit_defaults=False):
    """Something of a topic that is not as the settings have it; `what` is a config's name, `partitions`,
    `replication`, or `topic` for one that is not there."""

    topic: str
    what: str
    wanted: str
    found: str


class TopicsCheck(Record, frozen=True, kw_only=True, omit_defaults=False):
    """The topics that were made just now, and what is not as the settings have it."""

    created: tuple[str, ...]
    mismatches: tuple[TopicMismatch, ...]


class TopicState(Record, frozen=True, kw_only=True, omit_defaults=False):
    """A topic on the brokers; `begin` and `end` are the sums of its partitions' first and next offsets."""

    topic: str
    partitions: int
    begin: int
    end: int


class GroupState(Record, frozen=True, kw_only=True, omit_defaults=False):
    """How many messages of a topic wait for a group of workers."""

    group: str
    topic: str
    lag: int


class TopicsAnswer(Record, frozen=True, kw_only=True, omit_defaults=False):
    """The lake's topics that are there, and who is how far behind on them."""

    topics: tuple[TopicState, ...]
    groups: tuple[GroupState, ...]


class DeadFilter(Record, frozen=True, kw_only=True):
    """Which dead letters: each criterion that is given must hold, none given are all. `doc` is a glob over the doc_id
    (`*` crosses folders); `since` (inclusive) and `before` (exclusive) are us since the epoch. Of those that are left
    the `limit` oldest.
    """

    ids: tuple[int, ...] = ()
    tenant: str | None = None
    source: str | None = None
    doc: str | None = None
    stage: str | None = None
    reason: str | None = None
    since: int | None = None
    before: int | None = None
    limit: int | None = None

    @property
    def narrows(self) -> bool:
        """True if it says more than how many."""
        return replace(self, limit=None) != DeadFilter()


class DeadAnswer(Record, frozen=True, kw_only=True, omit_defaults=False):
    """`replayable`: its event is kept. One without goes when its cause goes (a file's name, a part of a document)."""

    id: int
    tenant: str
    source: str
    doc_id: str
    stage: str
    reason: str
    detail: str
    attempts: int
    at: str
    replayable: bool = True


class Scope(StrEnum):
    """What an erasure is about."""

    DOCUMENT = "document"
    SOURCE = "source"
    TENANT = "tenant"
    PRINCIPAL = "principal"


class EraseWish(Record, frozen=True, kw_only=True):
    """What to erase in one tenant: the document `name` (of `source`, where two have one of that id), the source `name`,
    the tenant itself, or what is known of the principal `name`, `with_documents` that nobody else could read.

    `dry_run` only says what would be removed. Without `names` the certificate holds digests instead of ids and names.
    """

    scope: Scope
    name: str
    tenant: str = "default"
    source: str | None = None
    with_documents: bool = False
    dry_run: bool = False
    names: bool = True


class ErasedDocument(Record, frozen=True, kw_only=True, omit_defaults=False):
    """A document that was erased: the digest of its key, its id where names are kept, and the version up to which
    nothing of it comes back."""

    digest: str
    source: str | None
    doc_id: str | None
    version: int


class Remainder(Record, frozen=True, kw_only=True, omit_defaults=False):
    """What an erasure cannot take out of a place, and what bounds it: `until` where the lake knows the date."""

    place: str
    what: str
    until: str | None
    bound: str


class Certificate(Record, frozen=True, kw_only=True, omit_defaults=False):
    """That documents were erased, and all their earlier events had ended: what was removed by place, which places were
    searched again and held nothing, what remains. Times are RFC 3339, UTC.

    `signature` is Ed25519 (RFC 8032) by the lake's key `kid`, in base64url, over the JSON of everything else in ASCII,
    keys sorted, no blanks. `events` counts the documents' earlier events, all of them `ended`.
    """

    id: str
    issued_at: str
    lake: str
    scope: Scope
    name: str
    tenant: str
    documents: tuple[ErasedDocument, ...]
    events: dict[str, int]
    removed: dict[str, int]
    searched: tuple[str, ...]
    remaining: tuple[Remainder, ...]
    kid: str
    signature: str = ""
    schema: int = SCHEMA_VERSION


class EraseAnswer(Record, frozen=True, kw_only=True, omit_defaults=False):
    """What an erasure removed, by kind of place, and what could not be removed (with the reason).

    `doc_id` and `source` are those of a single document, empty else. A dry run has removed nothing: its counts are of
    what would go. `listed` are documents that were found and left alone. There is a `certificate` when nothing remains
    but what it says itself.
    """

    doc_id: str
    source: str
    removed: dict[str, int]
    remaining: tuple[str, ...]
    tenant: str = "default"
    scope: Scope = Scope.DOCUMENT
    name: str = ""
    documents: int = 1
    dry_run: bool = False
    listed: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    certificate: Certificate | None = None


class VerifyAnswer(Record, frozen=True, kw_only=True, omit_defaults=False):
    """Whether a certificate is what a lake's key has signed; `reason` says why not."""

    valid: bool
    reason: str
    id: str
    kid: str
    issued_at: str


class MemberAnswer(Record, frozen=True, kw_only=True, omit_defaults=False):
    """What the tenant's directory says of a principal: the groups that it is directly in, sorted."""

    tenant: str
    principal: str
    member_of: tuple[str, ...]
    version: int
    gone: bool = False


class WaitingDeletes(Record, frozen=True, kw_only=True, omit_defaults=False):
    """Documents of a source that its listing no longer shows: too many to delete them unasked. `since` the first."""

    tenant: str
    source: str
    documents: int
    since: str


class ApproveAnswer(Record, frozen=True, kw_only=True, omit_defaults=False):
    """The deletes that waited and have passed, or (`discarded`) those whose documents stay."""

    sources: tuple[WaitingDeletes, ...]
    discarded: bool = False


class Check(Record, frozen=True, kw_only=True, omit_defaults=False):
    """One finding of `doctor`. state: `ok`, `missing` (only an extra is) or `wrong`; remedy: what to do, one line."""

    name: str
    state: str
    detail: str
    remedy: str = ""


class InitAnswer(Record, frozen=True, kw_only=True, omit_defaults=False):
    """A distributed lake, made (`created`) or found made: its embedder, and the pipeline whose vectors are searched."""

    embedder: str
    pipeline: str
    dim: int
    created: bool


ALL_LETTERS = DeadFilter()


class LakeApi(Protocol):
    """Everything a command can ask of a lake. Raises only `upwell.errors`."""

    def ingest(
        self,
        folder: Path,
        *,
        owner: str,
        source: str | None = None,
        tenant: str = "default",
        progress: Callable[[Progress], None] | None = None,
    ) -> IngestAnswer: ...

    def search(
        self,
        query: str,
        *,
        principals: frozenset[str],
        k: int = 5,
        tenant: str = "default",
        sources: frozenset[str] = frozenset(),
    ) -> SearchAnswer: ...

    def show(self, doc: str, *, tenant: str = "default", source: str | None = None) -> ShowAnswer:
        """NotFound for an unknown document; Misconfigured when two sources have one of that id and none is named."""
        ...

    def status(self) -> StatusAnswer: ...

    def dead_list(self, which: DeadFilter = ALL_LETTERS) -> tuple[DeadAnswer, ...]:
        """The dead letters that `which` means, oldest first. NotFound for an id that there is not."""
        ...

    def dead_show(self, dead_id: int) -> DeadAnswer: ...

    def dead_replay(self, which: DeadFilter) -> int:
        """Accept these dead letters again; returns how many had an event to accept."""
        ...

    def dead_discard(self, which: DeadFilter) -> int:
        """Forget these dead letters for good; their events stay ended. Returns how many."""
        ...

    def erase(self, doc: str, *, tenant: str = "default", source: str | None = None) -> EraseAnswer: ...

    def erase_all(self, wish: EraseWish) -> EraseAnswer:
        """Erase what is wished for. NotFound when nothing is known of it, Misconfigured while its source is followed,
        Retryable when it could not be seen through: the same wish again goes on with it."""
        ...

    def principals_set(
        self, principal: str, *, member_of: frozenset[str] = frozenset(), gone: bool = False, tenant: str = "default"
    ) -> MemberAnswer:
        """Tell the tenant's directory of a principal; in force when it returns."""
        ...

    def principals_list(self, *, tenant: str = "default") -> tuple[MemberAnswer, ...]:
        """All that the tenant's directory knows, by name."""
        ...

    def approve(self, *, tenant: str = "default", source: str | None = None, discard: bool = False) -> ApproveAnswer:
        """Let the deletes pass that wait for a person, of one source or all; or keep their documents (`discard`)."""
        ...

    def close(self) -> None: ...


class FollowingLake(LakeApi, Protocol):
    """The owner's lake, which can also follow a folder (what `run` does)."""

    def follow(
        self,
        folder: Path,
        *,
        owner: str,
        stop: Event,
        source: str | None = None,
        tenant: str = "default",
        progress: Callable[[Progress], None] | None = None,
        on_ready: Callable[[IngestAnswer], None] | None = None,
        on_change: Callable[[str], None] | None = None,
    ) -> None:
        """Ingest, call `on_ready`, then follow changes until `stop` is set; `on_change` gets a line for a person."""
        ...

    def listen(self, host: str, port: int) -> str:
        """Serve events, hooks, health and metrics on the network until `close`; the URL where.

        Raises Misconfigured for an address or a source's settings that cannot be.
        """
        ...
