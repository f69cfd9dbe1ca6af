"""What an ingest answers, and how far it is."""

from upwell.records import Record


class Progress(Record, frozen=True, kw_only=True):
    """How far a long piece of work is: `done` of `total` documents (total may grow), and what is in hand."""

    phase: str
    done: int
    total: int
    current: str = ""


class DocumentCounts(Record, frozen=True, kw_only=True, omit_defaults=False):
    """What a look at a source found. seen: all that it lists; acl_changed: only who may read changed; dead: refused."""

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
    """What an ingest came to, once all its events have ended; `warnings` are lines for a person."""

    documents: DocumentCounts = DocumentCounts()
    chunks: ChunkCounts = ChunkCounts()
    tokens_embedded: int = 0
    seconds: float = 0.0
    warnings: tuple[str, ...] = ()


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
