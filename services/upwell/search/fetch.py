"""A document's words in reading order, page by page, each page of one published version."""

from collections.abc import Mapping, Sequence
from itertools import groupby

from upwell.clock import rfc3339
from upwell.errors import Misconfigured, Retryable
from upwell.ports import Manifest, ManifestEntry, Registry, Snapshot, Store
from upwell.reading import FetchAnswer, Section
from upwell.records import Kind
from upwell.search.cursors import PagePlace, cursor_of, page_start
from upwell.search.govern import Reading
from upwell.search.heads import head_of
from upwell.search.locate import Located, is_visible, locate, not_found, shown_in
from upwell.search.shown import Shown, chunk_name

MOST_TOKENS = 32_000
TRIES = 4
"""How often a page is read again because its document was published meanwhile."""
BY_LINE = frozenset({Kind.CODE, Kind.TABLE, Kind.LIST_ITEM})


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
        chosen = locate(doc_id, source, reading, registry=registry, pipeline=pipeline)
        key = chosen.row.key
        before = registry.snapshot(pipeline, asker=reading.asker, documents=[key])
        found = shown_in(before, key, chosen.child, reading)
        if found is None:
            raise not_found(doc_id)
        manifest = before.documents[key][1]
        entries = entries_of(manifest, found.child)
        first = page_start(start, found.seen.key.digest, found.row.version, manifest.generation)
        page = _page(entries[first:], tokens)
        texts = store.texts([entry.point_id for entry in page]) if page else {}
        after = registry.snapshot(
            pipeline, [entry.point_id for entry in page], asker=reading.asker, documents=() if page else [key]
        )
        last = _last(found, page, after)
        if last is None or len(texts) < len(page):
            continue
        if not is_visible(last, reading, after):
            raise not_found(doc_id)
        end = first + len(page)
        place = PagePlace(doc=last.seen.key.digest, version=last.row.version, generation=manifest.generation, index=end)
        answer = FetchAnswer(
            as_of=rfc3339(after.as_of) or "",
            document=head_of(last.seen),
            sections=sections_of(page, first, texts),
            lineage=last.seen.lineage,
            next=cursor_of(place) if end < len(entries) else None,
        )
        hits = tuple(chunk_name(last.seen.key, entry.chunk_key) for entry in page)
        return answer, Shown(document=last.seen.key, version=last.row.version, hits=hits, standing=after.standing)
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


def _page(entries: Sequence[ManifestEntry], tokens: int) -> list[ManifestEntry]:
    page: list[ManifestEntry] = []
    for entry in entries:
        tokens -= entry.tokens
        if page and tokens < 0:
            break
        page.append(entry)
    return page


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
