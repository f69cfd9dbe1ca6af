"""What an erasure cannot take away, place by place, and what bounds it. Pure: from how the lake is built, and the date.

What is not said here must not be there: the tests that search every file for planted words hold the lake to it.
"""

from collections.abc import Iterable, Iterator

from upwell.answers import Remainder
from upwell.clock import rfc3339
from upwell.records import Record

DAY_US = 24 * 60 * 60 * 1_000_000
SEGMENT_DAYS = 7.0
"""How long Kafka writes to one segment where a topic says nothing else (segment.ms)."""


class Topics(Record, frozen=True, kw_only=True):
    """The log on Kafka: topics with their retention in days, those that carry words and are compacted after
    `compaction_lag_days`, and those that carry identities alone."""

    forgetting: tuple[tuple[str, float], ...]
    passing: tuple[tuple[str, float], ...]
    members: str
    compaction_lag_days: float


class Surroundings(Record, frozen=True, kw_only=True):
    """How a lake is built, as far as an erasure has to know. `registry` and `store` say whether they are servers.

    `blobs` is the URL's protocol, None without a blob store; `query_words`: the audit keeps what was asked in words.
    """

    lake: str
    registry_server: bool = False
    store_server: bool = False
    blobs: str | None = None
    topics: Topics | None = None
    query_words: bool = False


class Left(Record, frozen=True, kw_only=True):
    """What this erasure left, by what was found: `remembered` documents that a folder here still remembers, `directory`
    when names stay as gone, `principal` when the erasure was of one, `permissions` documents whose source names it."""

    documents: int = 0
    remembered: int = 0
    principal: bool = False
    directory: bool = False
    permissions: int = 0


def remainders(where: Surroundings, left: Left, now: int) -> tuple[Remainder, ...]:
    """Everything that stays after an erasure at `now` (us), most personal first."""
    return (
        *_of_principal(left),
        *(_of_documents(where, left) if left.documents else ()),
        _in_audit(where),
        *(_in_topics(where.topics, now) if where.topics and left.documents else ()),
        *((_in_members(where.topics, now),) if where.topics and left.directory else ()),
        *(_in_servers(where) if left.documents or left.directory else ()),
        _outside(),
    )


def _of_principal(left: Left) -> Iterator[Remainder]:
    if left.directory:
        yield Remainder(
            place="directory",
            what="the principal's name and the number of its last membership, as gone",
            until=None,
            bound="so that no older membership comes back; the directory that feeds this lake has its own copy",
        )
    if left.permissions:
        yield Remainder(
            place="permissions",
            what=f"the principal's name in the permissions of {left.permissions} documents that others may read too",
            until=None,
            bound="until their sources change those permissions, or the documents are erased",
        )
    if left.principal:
        yield Remainder(
            place="permissions",
            what="a hash of the principal's name, if any permission has ever named it",
            until=None,
            bound="for as long as the lake stands",
        )


def _of_documents(where: Surroundings, left: Left) -> Iterator[Remainder]:
    yield Remainder(
        place="registry",
        what="each document's tenant, source, id, versions and permission, and that it was erased and when",
        until=None,
        bound="so that nothing older than the erasure comes back; no word of its text, title, address or metadata",
    )
    yield Remainder(
        place="certificates",
        what="this certificate",
        until=None,
        bound="kept in the lake as proof, until an operator removes it",
    )
    if left.remembered:
        yield Remainder(
            place="folder memory",
            what=f"path, size, times, SHA-256 and permission of {left.remembered} files, to know what has changed",
            until=None,
            bound="until the file leaves its folder and the source is erased",
        )
    if where.topics is not None:
        yield Remainder(
            place="folder memory elsewhere",
            what="path, size, times, SHA-256 and permission of a file, on a machine that ingested it from a folder",
            until=None,
            bound="erase the source on that machine; files that are still there come back with its next ingest then",
        )


def _in_audit(where: Surroundings) -> Remainder:
    asked = "the words of queries" if where.query_words else "hashes of queries"
    return Remainder(
        place="audit",
        what=f"who did and read what: ids of documents and of parts in them, digests of chunks, principals, {asked}",
        until=None,
        bound="append-only, for as long as the operator keeps the audit; no word of a document",
    )


def _in_topics(topics: Topics, now: int) -> Iterator[Remainder]:
    """The brokers drop a segment by its newest message, so what is oldest in it stays for the segment's length more."""
    compacted = _day(now, topics.compaction_lag_days)
    for topic, retention_days in topics.forgetting:
        yield Remainder(
            place=f"topic {topic}",
            what="messages of the documents that stand before their tombstone",
            until=_day(now, retention_days + topics.compaction_lag_days / 4),
            bound=f"compacted away by {compacted} in a partition that is still written to (setting "
            "compaction_lag_days), by retention at the latest",
        )
    for topic, retention_days in topics.passing:
        yield Remainder(
            place=f"topic {topic}",
            what="ids, versions and permissions of the documents; no word of them",
            until=_day(now, retention_days + SEGMENT_DAYS),
            bound="by retention (setting retention_days)",
        )


def _in_members(topics: Topics, now: int) -> Remainder:
    return Remainder(
        place=f"topic {topics.members}",
        what="the principal's name, as gone, and until then its last groups",
        until=None,
        bound=f"the groups are compacted away by {_day(now, topics.compaction_lag_days)} in a partition that is still "
        "written to; that the principal is gone stays",
    )


def _day(now: int, days: float) -> str:
    return rfc3339(now + round(days * DAY_US)) or ""


def _in_servers(where: Surroundings) -> Iterator[Remainder]:
    if where.registry_server:
        yield Remainder(
            place="PostgreSQL",
            what="bytes of deleted rows in pages that were not used again, and in the write-ahead log",
            until=None,
            bound="until VACUUM FULL, or later writes, take the pages, and checkpoints the log; copies, archives and "
            "backups for as long as the operator keeps them",
        )
    if where.store_server:
        yield Remainder(
            place="Qdrant",
            what="bytes of deleted points in segments and in the write-ahead log",
            until=None,
            bound="until the optimizer rewrites the segment (one of 100 points or more, once 5 % of them are deleted), "
            "and the log has moved on by its length (64 MB a shard); snapshots until they are removed",
        )
    if where.blobs not in (None, "file"):
        yield Remainder(
            place=f"blobs ({where.blobs})",
            what="older versions of objects, where the bucket keeps them",
            until=None,
            bound="until the bucket's own lifecycle rule expires them",
        )


def _outside() -> Remainder:
    return Remainder(
        place="outside the lake",
        what="the source's own copy, backups and snapshots of disks, blocks that a file system has freed",
        until=None,
        bound="the operator's, with their own retention",
    )


def searched(where: Surroundings) -> tuple[str, ...]:
    """The places that were looked into again and held nothing, in words."""
    return tuple(_searched(where))


def _searched(where: Surroundings) -> Iterable[str]:
    yield "registry: documents, chunks, history, links"
    yield "vector store: points" if where.store_server else "vector store: points, rewritten segments, renewed log"
    yield "event log: events, dead letters, replays"
    if where.blobs is not None:
        yield "blobs"
    if not where.registry_server:
        yield "database files: rewritten, logs emptied"
