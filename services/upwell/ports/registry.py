"""The registry's port: the truth about documents, permissions and memberships, and the records it keeps."""

from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager
from typing import Protocol

from upwell.access import Asker, Standing, both
from upwell.ports.browsing import Browsing
from upwell.records import Acl, DocKey, Kind, Membership, Outcome, ParseStatus, Record, Span


class PendingAcl(Record, frozen=True, kw_only=True):
    """A permission, and the content `version` that it was read with (0: any): until its document has reached that, it
    may only narrow. `lost`: it stands for others, up to these numbers, that were too many to keep, whatever content
    they were read with; it admits nobody."""

    acl: Acl
    acl_version: int
    version: int
    lost: bool = False


class AclEnd(Record, frozen=True, kw_only=True):
    """A tombstone, as the end of permissions; `acl_version` 0 has no place among them (see `lake.permissions`)."""

    version: int
    acl_version: int


class MissingAcl(Record, frozen=True, kw_only=True):
    """A source's word at `acl_version` that it cannot say who may read, and when (us) that came to us.

    `version` is the content it was said of (0: any). `answered` ones say nothing now; a late tombstone may change that.
    """

    acl_version: int
    since: int
    version: int = 0
    answered: bool = False


class ChildFacts(Record, frozen=True, kw_only=True):
    """What is known of a part inside a document (an attachment, an archive member). `name` is its `!/`-joined path."""

    name: str
    status: ParseStatus
    title: str | None = None
    media_type: str | None = None
    reason: str | None = None
    pages: int | None = None
    parser: str = ""
    choice: str = ""


class DocumentRow(Record, frozen=True, kw_only=True):
    """The registry's row of a document: binding for every collection. `rev` counts the row's changes (the CAS token).

    `version` is -1 while only permissions have come. `rank` breaks ties of one version: 0 upsert, 1 delete, 2 erase.
    `hold` keeps the points of a moved document (its vectors' source) until the new id's event has ended.
    `failed_version` is the newest content that could not be parsed or fetched, -1 once newer content has come.
    `links` are where its text points to, as written. `acl_missing`: what its source has said of not knowing who may
    read. `children` are the parts inside, depth first; they live and go with the row.

    `acl` is what binds its content, read with content `acl_read`; what is in `pending` must admit too. `reserve` keeps
    permissions that bind if a tombstone comes late, `ends` the tombstones that there were. A tombstone's own permission
    is that of what it ended. `lake.permissions` alone writes these.
    """

    key: DocKey
    rev: int = 0
    version: int = -1
    rank: int = 0
    content_sha256: str = ""
    deleted: bool = False
    acl: Acl = Acl()
    acl_version: int = -1
    acl_read: int = -1
    pending: tuple[PendingAcl, ...] = ()
    reserve: tuple[PendingAcl, ...] = ()
    ends: tuple[AclEnd, ...] = ()
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
    links: tuple[str, ...] = ()
    acl_missing: tuple[MissingAcl, ...] = ()
    children: tuple[ChildFacts, ...] = ()

    @property
    def effective_acl(self) -> Acl:
        """What binds now: the settled permission and every pending one must admit."""
        return both([self.acl, *(p.acl for p in self.pending)]) if self.pending else self.acl

    @property
    def acl_missing_since(self) -> int | None:
        """Since when (us) the source could not say who may read; None if it can."""
        return min((missing.since for missing in self.acl_missing if not missing.answered), default=None)

    def acl_expired(self, at: int, max_age_us: int | None) -> bool:
        """True if at that time (us) the permission has been unknown for longer than `max_age_us` (None: for ever)."""
        since = self.acl_missing_since
        return max_age_us is not None and since is not None and at - since > max_age_us


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


class Snapshot(Record, frozen=True, kw_only=True):
    """What the registry says at one moment, `as_of` (us): all of it is true together.

    `live` has the points asked for that are live, `documents` the rows and manifests of the documents asked for
    (tombstones too). Permissions are the caller's to check, against `standing`.
    """

    as_of: int
    standing: Standing
    live: dict[str, LiveChunk] = {}
    documents: dict[DocKey, tuple[DocumentRow, Manifest]] = {}


class SourceCounts(Record, frozen=True, kw_only=True):
    """What the registry knows of one source.

    `acl_missing` counts the documents whose source cannot say who may read, `acl_hidden` those of them that are hidden
    from everybody because it could not for too long.
    """

    tenant: str
    source: str
    documents: int
    chunks: int
    deleted: int
    stale: int
    acl_missing: int = 0
    acl_hidden: int = 0


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
        act: AppliedEntry | None = None,
    ) -> bool:
        """Compare-and-set: write row (with rev = expected_rev + 1), the given manifests (pipeline -> whole new
        manifest) and the history line in one transaction if the stored rev is still `expected_rev` (0: no row yet).
        False, and nothing written, if it is not. The history line is owed to the audit; so is `act`, which ends no
        event."""
        ...

    def together(self) -> AbstractContextManager[None]:
        """What this thread reads and commits in the block is one transaction, which costs the disk one wait. A commit
        that loses its race there leaves the others as they are; a block that raises leaves none of them."""
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

    def snapshot(
        self, pipeline: str, point_ids: Iterable[str] = (), *, asker: Asker, documents: Iterable[DocKey] = ()
    ) -> Snapshot:
        """The points that are live in `pipeline`, the documents, and who the asker is, in one transaction."""
        ...

    def standing(self, asker: Asker) -> Standing:
        """Who the asker is now: with a fed directory the closure over nested groups (cycles are harmless)."""
        ...

    def named(self, tenant: str, principals: Iterable[str]) -> frozenset[str]:
        """Those of the principals that any permission of the tenant names: for a store's filter, never for a check."""
        ...

    def history(self, key: DocKey) -> list[AppliedEntry]: ...

    def find(self, doc_id: str, tenant: str | None = None, source: str | None = None) -> list[DocumentRow]: ...

    def rows(self, tenant: str | None = None, source: str | None = None) -> Iterator[DocumentRow]:
        """All rows in key order, tombstones included; pages, never one long transaction."""
        ...

    def counts(self, *, tenant: str | None = None, acl_max_age_us: int | None = None) -> list[SourceCounts]:
        """By source. Permissions unknown for longer than `acl_max_age_us` are counted as hidden (None: none is)."""
        ...

    def purge(self, key: DocKey, *, files: bool = True) -> None:
        """Erase: forget the words (titles, urls, metadata, manifests, details) of a fenced row; keep the fence. Without
        `files` their bytes may stay in a log until `rewrite`."""
        ...

    def traces(self, key: DocKey) -> dict[str, int]:
        """What `purge` would have to forget, by kind: nothing but noughts once it has."""
        ...

    def moved_here(self, key: DocKey) -> list[DocKey]:
        """The ids that the document had before a move, where nothing new stands."""
        ...

    def rewrite(self) -> None:
        """Leave no byte of what was deleted in any file that is the lake's own. Raises Retryable while it is read."""
        ...

    def browsing(self, tenant: str) -> Browsing:
        """What a tenant's readers browse by, kept up by every commit."""
        ...

    def meta(self, name: str) -> str | None:
        """What the lake remembers under `name` (the active pipeline, the embedder)."""
        ...

    def set_meta(self, name: str, value: str) -> None: ...

    def close(self) -> None: ...


class Directory(Protocol):
    """What directories say of principals, in the registry's database: `Registry.standing` reads it."""

    def put(self, member: Membership) -> bool:
        """Write what a directory says; effective when it returns. False, and nothing written, if not newer."""
        ...

    def members(self, tenant: str, principal: str | None = None) -> Iterator[Membership]:
        """What is known of a tenant's principals (of one, if named), by name; those gone are left out."""
        ...

    def forget(self, tenant: str) -> bool:
        """Be for an erased tenant as if never fed. False, and nothing written, if anybody is known there (by now)."""
        ...

    def version(self, tenant: str, principal: str) -> int:
        """The version of what was written last of a principal, gone or not; -1 if nothing was."""
        ...
