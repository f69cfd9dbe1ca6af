"""A document and what it carries inside (attachments, archive members) as one unit: one row, one manifest.

Each part inside is a document `parent!/name` to whoever reads, and shares its parent's permissions, version and fate by
construction, since there is nothing of its own that could differ. Pure functions.
"""

from collections.abc import Iterator
from itertools import islice

from msgspec.structs import replace

from upwell.ports import ChildFacts, ChildFault, DocumentRow, Fate
from upwell.records import Chunk, DocKey, Outcome, ParseStatus, PreparedDocument, stable_hash

INSIDE = "!/"
MOST_CHILDREN = 500
"""How many parts of one document are kept, at all depths together; the rest is left out, and said to be."""
STAGE = "parse"
"""The stage of a child's dead letter."""
READ = frozenset({ParseStatus.OK, ParseStatus.EMPTY})

Member = tuple[str, PreparedDocument]


def family_chunks(prepared: PreparedDocument) -> tuple[Chunk, ...]:
    """The document's own chunks, then depth first those of what it carries, each with its `child`.

    A child's chunk_key is made of its path too, so that a part that comes or goes never shifts the keys of others; its
    embed_key is not, so that the same part elsewhere, or under another name, is not embedded again.
    """
    chunks = list(prepared.chunks)
    sections = _sections(prepared.chunks)
    for path, child in _members(prepared):
        chunks.extend(
            replace(
                chunk,
                child=path,
                chunk_key=stable_hash(path, chunk.chunk_key),
                parent=sections + chunk.parent,
            )
            for chunk in child.chunks
        )
        sections += _sections(child.chunks)
    return tuple(chunks)


def family_facts(prepared: PreparedDocument) -> tuple[ChildFacts, ...]:
    """What is known of each part, depth first; `name` is its `!/`-joined path, unlike any other's."""
    return tuple(
        ChildFacts(
            name=path,
            status=child.status,
            title=child.title,
            media_type=child.media_type,
            reason=child.reason,
            pages=child.pages,
            parser=child.parser,
            choice=child.choice,
        )
        for path, child in _members(prepared)
    )


def family_faults(key: DocKey, prepared: PreparedDocument) -> tuple[ChildFault, ...]:
    """The dead letters of the parts that will not parse. A picture without words to read is nobody's loss."""
    return tuple(
        ChildFault(
            key=replace(key, doc_id=child_id(key.doc_id, child.name)),
            fate=Fate(outcome=Outcome.DEAD, reason=child.status, detail=child.reason or "", stage=STAGE),
        )
        for child in family_facts(prepared)
        if child.status not in READ and not _is_picture(child)
    )


def child_id(doc_id: str, name: str) -> str:
    """The doc_id under which a part is shown: `parent!/name`."""
    return f"{doc_id}{INSIDE}{name}"


def parents(doc_id: str) -> Iterator[tuple[str, str]]:
    """Every way to read a doc_id as (parent, name of the part inside)."""
    at = doc_id.find(INSIDE)
    while at >= 0:
        yield doc_id[:at], doc_id[at + len(INSIDE) :]
        at = doc_id.find(INSIDE, at + 1)


def seen_as(row: DocumentRow, child: str | None) -> DocumentRow:
    """The row as a reader of its part `child` sees it: its own name, title, type, status, parser and parts; the rest
    (permissions, version, times, history) is the parent's. The row itself for None."""
    if child is None:
        return row
    key = replace(row.key, doc_id=child_id(row.key.doc_id, child))
    facts = next((known for known in row.children if known.name == child), None)
    if facts is None:
        return replace(row, key=key)
    prefix = child + INSIDE
    own = {"parser": facts.parser, "choice": facts.choice}
    lineage = {**own, **{name: value for name, value in row.lineage.items() if name not in own}}
    return replace(
        row,
        key=key,
        title=facts.title,
        media_type=facts.media_type,
        status=facts.status,
        lineage={name: value for name, value in lineage.items() if value},
        children=tuple(
            replace(known, name=known.name.removeprefix(prefix))
            for known in row.children
            if known.name.startswith(prefix)
        ),
    )


def _members(prepared: PreparedDocument) -> Iterator[Member]:
    taken: set[str] = set()
    inside = _inside(prepared, "", taken)
    yield from islice(inside, MOST_CHILDREN)
    left_out = sum(1 for _ in inside)
    if left_out:
        reason = f"carries more than {MOST_CHILDREN} parts; {left_out} are left out"
        yield _free("", "more", taken), PreparedDocument(status=ParseStatus.TOO_LARGE, reason=reason)


def _inside(prepared: PreparedDocument, prefix: str, taken: set[str]) -> Iterator[Member]:
    for number, child in enumerate(prepared.children, start=1):
        path = _free(prefix, child.name or f"part-{number}", taken)
        yield path, child
        yield from _inside(child, path + INSIDE, taken)


def _free(prefix: str, name: str, taken: set[str]) -> str:
    """A path that no other part has: of two `a.txt` the second is `a (2).txt`."""
    stem, dot, extension = name.rpartition(".")
    if not stem:
        stem, dot, extension = name, "", ""
    path, number = prefix + name, 1
    while path in taken:
        number += 1
        path = f"{prefix}{stem} ({number}){dot}{extension}"
    taken.add(path)
    return path


def _sections(chunks: tuple[Chunk, ...]) -> int:
    return 1 + max((chunk.parent for chunk in chunks), default=-1)


def _is_picture(child: ChildFacts) -> bool:
    return child.status is ParseStatus.NEEDS_OCR and (child.media_type or "").startswith("image/")
