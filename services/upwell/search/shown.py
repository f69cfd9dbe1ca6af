"""What the audit keeps of an answer: ids, never words."""

from upwell.access import Standing
from upwell.lake.family import seen_as
from upwell.ports import LiveChunk
from upwell.reading import Head
from upwell.records import DocKey, Record


class Shown(Record, frozen=True, kw_only=True):
    """What left with an answer, to whom it was allowed; `refused` counts what the re-check refused, for operators."""

    standing: Standing
    document: DocKey | None = None
    version: int = -1
    hits: tuple[str, ...] = ()
    refused: int = 0


def chunk_name(key: DocKey, chunk_key: str) -> str:
    """`source/doc_id#chunk_key`."""
    return f"{key.source}/{key.doc_id}#{chunk_key}"


def hit_name(chunk: LiveChunk) -> str:
    """The same for a hit of a search."""
    return chunk_name(seen_as(chunk.row, chunk.entry.child).key, chunk.entry.chunk_key)


def document_name(head: Head) -> str:
    """`source/doc_id`, where a document was named and none of its text shown."""
    return f"{head.source}/{head.doc_id}"
