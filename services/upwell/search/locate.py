"""From a doc_id to the document, or the part inside one, that this asker may see under that name.

What may not be seen is looked for and refused exactly as what is not there: by the same questions to the registry, none
of which depends on what was found, and with the same words.
"""

from collections.abc import Iterator
from itertools import islice

from upwell.errors import Misconfigured, NotFound
from upwell.lake.family import parents, seen_as
from upwell.ports import DocumentRow, Registry, Snapshot
from upwell.records import DocKey, Record
from upwell.search.answer import check_names
from upwell.search.govern import Reading

LONGEST_DOC_ID = 8_192
DEEPEST = 16
"""At most so many ways to read a doc_id as a part inside another are tried."""


class Located(Record, frozen=True, kw_only=True):
    """A document that may be seen, and the path of the part inside that was asked for, None for the document itself."""

    row: DocumentRow
    child: str | None = None

    @property
    def seen(self) -> DocumentRow:
        """The row as whoever asked for this sees it."""
        return seen_as(self.row, self.child)


def locate(
    doc_id: str, source: str | None, reading: Reading, *, registry: Registry, pipeline: str
) -> tuple[Located, Snapshot]:
    """The one visible document of that name, as it stands in a snapshot that was asked for it.

    What is then shown of it must pass the reader's last snapshot. Raises NotFound, and Misconfigured when two sources
    have a visible one and none is named.
    """
    chosen = _chosen(doc_id, source, reading, registry, pipeline)
    moment = registry.snapshot(pipeline, asker=reading.asker, documents=[chosen.row.key])
    found = shown_in(moment, chosen.row.key, chosen.child, reading)
    if found is None:
        raise not_found(doc_id)
    return found, moment


def _chosen(doc_id: str, source: str | None, reading: Reading, registry: Registry, pipeline: str) -> Located:
    check_names(doc_id, reading.asker.tenant, *reading.asker.principals, *([] if source is None else [source]))
    if len(doc_id) > LONGEST_DOC_ID:
        raise not_found(doc_id)
    tenant = reading.asker.tenant
    named = [
        [Located(row=row, child=child) for row in registry.find(name, tenant, source)] for name, child in _names(doc_id)
    ]
    moment = registry.snapshot(pipeline, asker=reading.asker)
    for found in named:
        visible = [one for one in found if is_visible(one, reading, moment)]
        if len(visible) > 1:
            raise _ambiguous(doc_id, visible, reading, registry, pipeline)
        if visible:
            return visible[0]
    raise not_found(doc_id)


def is_visible(one: Located, reading: Reading, moment: Snapshot) -> bool:
    """True if the document has content, this asker may see it, and it has the part that is meant."""
    there = one.child is None or any(known.name == one.child for known in one.row.children)
    return one.row.version >= 0 and there and reading.allows(one.row, moment)


def shown_in(moment: Snapshot, key: DocKey, child: str | None, reading: Reading) -> Located | None:
    """The document as it stands in a snapshot that was asked for it, or None if it may not be shown."""
    found = moment.documents.get(key)
    one = None if found is None else Located(row=found[0], child=child)
    return one if one is not None and is_visible(one, reading, moment) else None


def not_found(doc_id: str) -> NotFound:
    """The one error for what does not exist and for what may not be seen."""
    name = doc_id if len(doc_id) <= 200 else doc_id[:200] + "…"
    return NotFound(f"no document {name!r} that you may see")


def _names(doc_id: str) -> Iterator[tuple[str, str | None]]:
    yield doc_id, None
    yield from islice(parents(doc_id), DEEPEST)


def _ambiguous(
    doc_id: str, visible: list[Located], reading: Reading, registry: Registry, pipeline: str
) -> Misconfigured | NotFound:
    """The names of the sources are an answer too: they pass a last snapshot like any other."""
    moment = registry.snapshot(pipeline, asker=reading.asker, documents=[one.row.key for one in visible])
    still = [shown_in(moment, one.row.key, one.child, reading) for one in visible]
    names = sorted(one.row.key.source for one in still if one is not None)
    if not names:
        return not_found(doc_id)
    return Misconfigured(f"{doc_id[:200]!r} is in more than one source ({', '.join(names)}): name one with `source`")
