"""A document's words in reading order, page by page, each page of one published version."""

from collections.abc import Mapping, Sequence
from itertools import groupby
from typing import NamedTuple

from upwell.clock import rfc3339
from upwell.errors import Misconfigured, Retryable
from upwell.ports import Manifest, ManifestEntry, Registry, Snapshot, Store
from upwell.reading import FetchAnswer, Section
from upwell.records import Kind
from upwell.search.cursors import PagePlace, cursor_of, page_start
from upwell.search.govern import Reading
from upwell.search.heads import head_of
from upwell.search.locate import Located, is_visible, locate, not_found
from upwell.search.shown import Shown, chunk_name

MOST_TOKENS = 32_000
TRIES = 4
"""How often a page is read again because its document was published meanwhile."""
BY_LINE = frozenset({Kind.CODE, Kind.TABLE, Kind.LIST_ITEM})


class _Page(NamedTuple):
    """A page of one published version: its chunks, of which the first is the document's `first` of `total`."""

    chunks: Sequence[ManifestEntry]
    first: int
    total: int
    generation: int


def fetch_document(
    doc_id: str,
    *,
    source: str | None,
    start: str | None,
    tokens: int,
    reading: Reading,
    registry: Registry,
    store: Store,
    pipeline: str,
) -> tuple[FetchAnswer, Shown]:
    """One page of at most `tokens` (and at least one chunk), and what of it the audit keeps.

    `start` is the `next` of the page before, or an `ordinal`; when the document has changed since that page, this is
    the first page of the new version. Raises NotFound, Misconfigured for a start or a number of tokens that cannot be,
    and Retryable while the document changes faster than it can be read.
    """
    if not 1 <= tokens <= MOST_TOKENS:
        raise Misconfigured(f"tokens is {tokens}: ask for 1 to {MOST_TOKENS:,}")
    for _ in range(TRIES):
        found, before = locate(doc_id, source, reading, registry=registry, pipeline=pipeline)
        key = found.row.key
        page = _page(before.documents[key][1], found, start, tokens)
        points = [entry.point_id for entry in page.chunks]
        texts = store.texts(points) if points else {}
        after = registry.snapshot(pipeline, points, asker=reading.asker, documents=() if points else [key])
        last = _last(found, page.chunks, after)
        if last is None or len(texts) < len(points):
            continue
        if not is_visible(last, reading, after):
            raise not_found(doc_id)
        return _answer(page, texts, last, after)
    raise Retryable("the document is being changed: ask again")


def entries_of(manifest: Manifest, child: str | None) -> list[ManifestEntry]:
    """The chunks of the document itself or of one part, in reading order; an ordinal of an answer is a place here."""
    return sorted((entry for entry in manifest.entries if entry.child == child), key=lambda entry: entry.ordinal)


def sections_of(page: Sequence[ManifestEntry], first: int, texts: Mapping[str, str]) -> tuple[Section, ...]:
    """Chunks that follow one another under one heading, joined; the first of `page` has ordinal `first`."""
    sections = []
    at = first
    for _, group in groupby(page, key=lambda entry: (entry.parent, entry.heading_path)):
        entries = list(group)
        sections.append(
            Section(
                ordinal=at,
                heading_path=entries[0].heading_path,
                page=entries[0].page,
                text=joined(entries, texts),
                tokens=sum(entry.tokens for entry in entries),
            )
        )
        at += len(entries)
    return tuple(sections)


def joined(entries: Sequence[ManifestEntry], texts: Mapping[str, str]) -> str:
    """The text of chunks that follow one another: a block that was cut goes on where it was cut."""
    text = ""
    for before, entry in zip((None, *entries), entries, strict=False):
        text += ("" if before is None else between(before, entry)) + texts[entry.point_id]
    return text


def between(before: ManifestEntry, after: ManifestEntry) -> str:
    """What stands between two chunks that follow one another."""
    one_block = before.spans and after.spans and before.spans[-1].block == after.spans[0].block
    if not one_block:
        return "\n\n"
    return "\n" if after.kind in BY_LINE else " "


def _page(manifest: Manifest, found: Located, start: str | None, tokens: int) -> _Page:
    """The chunks from `start` on, of at most `tokens` together, but one at least."""
    entries = entries_of(manifest, found.child)
    first = page_start(start, found.seen.key.digest, found.row.version, manifest.generation)
    chunks: list[ManifestEntry] = []
    for entry in entries[first:]:
        tokens -= entry.tokens
        if chunks and tokens < 0:
            break
        chunks.append(entry)
    return _Page(chunks, first, len(entries), manifest.generation)


def _answer(page: _Page, texts: Mapping[str, str], last: Located, after: Snapshot) -> tuple[FetchAnswer, Shown]:
    seen, version, end = last.seen, last.row.version, page.first + len(page.chunks)
    place = PagePlace(doc=seen.key.digest, version=version, generation=page.generation, index=end)
    answer = FetchAnswer(
        as_of=rfc3339(after.as_of) or "",
        document=head_of(seen),
        sections=sections_of(page.chunks, page.first, texts),
        lineage=seen.lineage,
        next=cursor_of(place) if end < page.total else None,
    )
    hits = tuple(chunk_name(seen.key, entry.chunk_key) for entry in page.chunks)
    return answer, Shown(document=seen.key, version=version, hits=hits, standing=after.standing)


def _last(found: Located, page: Sequence[ManifestEntry], after: Snapshot) -> Located | None:
    """The document in the last snapshot; None when it is not the one that the page was cut from."""
    if not page:
        known = after.documents.get(found.row.key)
        row = None if known is None else known[0]
    else:
        live = [after.live.get(entry.point_id) for entry in page]
        same = all(chunk is not None and chunk.entry == entry for chunk, entry in zip(live, page, strict=True))
        row = live[0].row if same and live[0] is not None else None
    return None if row is None or row.version != found.row.version else Located(row=row, child=found.child)
