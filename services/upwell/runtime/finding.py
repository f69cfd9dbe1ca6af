"""From the name that somebody gives to the document, or the part inside one, that it means."""

from upwell.errors import Misconfigured, NotFound
from upwell.lake.family import parents
from upwell.ports import DocumentRow, Registry
from upwell.records import Record


class Found(Record, frozen=True, kw_only=True):
    """A document's row, and the path of the part inside that was asked for, None for the document itself."""

    row: DocumentRow
    child: str | None = None


def find_document(registry: Registry, doc: str, tenant: str, source: str | None) -> Found:
    """The document `doc`, or the part that `parent!/name` names.

    Raises NotFound, and Misconfigured when two sources have one of that name and none is given.
    """
    found = [Found(row=row) for row in registry.find(doc, tenant, source)] or _inside(registry, doc, tenant, source)
    if not found:
        raise NotFound(f"no document {doc!r} in tenant {tenant!r}; `upwell status` shows the sources")
    if len(found) > 1:
        names = ", ".join(one.row.key.source for one in found)
        raise Misconfigured(f"{doc!r} is in more than one source ({names}): name one with --source")
    return found[0]


def find_whole(registry: Registry, doc: str, tenant: str, source: str | None) -> DocumentRow:
    """The same, where a part alone will not do: Misconfigured for one."""
    found = find_document(registry, doc, tenant, source)
    if found.child is not None:
        raise Misconfigured(f"{doc!r} is inside {found.row.key.doc_id!r} and lives and goes with it: name that")
    return found.row


def _inside(registry: Registry, doc: str, tenant: str, source: str | None) -> list[Found]:
    for parent, name in parents(doc):
        found = [
            Found(row=row, child=name)
            for row in registry.find(parent, tenant, source)
            if any(known.name == name for known in row.children)
        ]
        if found:
            return found
    return []
