"""What a document is made of: its headings, with what is below each, and the parts that it carries."""

from collections.abc import Sequence

from upwell.clock import rfc3339
from upwell.lake.family import INSIDE, seen_as
from upwell.ports import DocumentRow, ManifestEntry, Registry
from upwell.reading import OutlineAnswer, OutlineEntry
from upwell.search.cursors import PagePlace, cursor_of, page_start
from upwell.search.fetch import entries_of
from upwell.search.govern import Reading
from upwell.search.heads import head_of
from upwell.search.locate import locate
from upwell.search.shown import Shown

MOST_HEADINGS = 300


def outline_document(
    doc_id: str, *, source: str | None, start: str | None, reading: Reading, registry: Registry, pipeline: str
) -> tuple[OutlineAnswer, Shown]:
    """One page of a document's headings in reading order (at most 300); its parts and its tokens are on each.

    `start` is the `next` of the page before; when the document has changed since, this is the first page of the new
    version. Raises NotFound and Misconfigured.
    """
    found, moment = locate(doc_id, source, reading, registry=registry, pipeline=pipeline)
    seen, manifest = found.seen, moment.documents[found.row.key][1]
    first = page_start(start, seen.key.digest, seen.version, manifest.generation)
    entries = entries_of(manifest, found.child)
    headings = headings_of(entries)
    end = first + MOST_HEADINGS
    place = PagePlace(doc=seen.key.digest, version=seen.version, generation=manifest.generation, index=end)
    answer = OutlineAnswer(
        as_of=rfc3339(moment.as_of) or "",
        document=head_of(seen),
        entries=headings[first:end],
        children=tuple(head_of(part) for part in _parts(found.row, found.child)),
        tokens=sum(entry.tokens for entry in entries),
        next=cursor_of(place) if end < len(headings) else None,
    )
    return answer, Shown(document=seen.key, version=seen.version, standing=moment.standing)


def headings_of(entries: Sequence[ManifestEntry]) -> tuple[OutlineEntry, ...]:
    """The headings that chunks stand under, in reading order; the ordinals count these chunks from 0."""
    found: list[tuple[int, tuple[str, ...], int | None]] = []
    tokens: list[int] = []
    open_: list[int] = []
    path: tuple[str, ...] = ()
    for ordinal, entry in enumerate(entries):
        same = _shared(path, entry.heading_path)
        del open_[same:]
        for level in range(same, len(entry.heading_path)):
            open_.append(len(found))
            found.append((ordinal, entry.heading_path[: level + 1], entry.page))
            tokens.append(0)
        for number in open_:
            tokens[number] += entry.tokens
        path = entry.heading_path
    return tuple(
        OutlineEntry(ordinal=ordinal, level=len(path), heading=path[-1], page=page, tokens=below)
        for (ordinal, path, page), below in zip(found, tokens, strict=True)
    )


def _shared(one: tuple[str, ...], other: tuple[str, ...]) -> int:
    count = 0
    for left, right in zip(one, other, strict=False):
        if left != right:
            break
        count += 1
    return count


def _parts(row: DocumentRow, child: str | None) -> list[DocumentRow]:
    """The rows of the parts inside, at all depths, as their readers see them."""
    prefix = "" if child is None else child + INSIDE
    return [seen_as(row, known.name) for known in row.children if known.name.startswith(prefix)]
