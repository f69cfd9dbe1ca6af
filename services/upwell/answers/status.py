"""How a lake stands: its sources, its log, its directory, its installation."""

from upwell.answers.ingest import ChunkCounts
from upwell.records import Record


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
    `audit_owed` counts what was published and is not in the audit yet.
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
    audit_owed: int = 0


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


class MemberAnswer(Record, frozen=True, kw_only=True, omit_defaults=False):
    """What the tenant's directory says of a principal: the groups that it is directly in, sorted."""

    tenant: str
    principal: str
    member_of: tuple[str, ...]
    version: int
    gone: bool = False


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
