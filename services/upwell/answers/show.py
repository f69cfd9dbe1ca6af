"""What is told of one document."""

from upwell.records import Record


class ShownChunk(Record, frozen=True, kw_only=True, omit_defaults=False):
    """A live chunk. `text` is the source's own words, `spans` are ranges of them: (block, start, end)."""

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
    """What was applied or refused of a document, and when (RFC 3339); `detail` says why."""

    at: str
    op: str
    version: int
    acl_version: int
    outcome: str
    detail: str


class ShowAnswer(Record, frozen=True, kw_only=True, omit_defaults=False):
    """All that the lake knows of a document, for its operator. Times are RFC 3339, UTC; `stale_since` is when a newer
    version first could not be read, `lineage` what made the chunks (parser, chunker, prefix, model)."""

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
