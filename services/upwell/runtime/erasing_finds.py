"""Finding what a wish to erase means: the documents, by every place that knows any, and what there is of them."""

from collections.abc import Iterable

from upwell.answers import EraseWish, Scope
from upwell.erase import plan
from upwell.erase.plan import Found
from upwell.errors import NotFound
from upwell.ports import Directory, Registry, Store
from upwell.records import DocKey
from upwell.runtime import remnants
from upwell.runtime.erasing_parts import Erasing
from upwell.runtime.finding import find_whole
from upwell.runtime.replaying import Transactions


def found_by(parts: Erasing, store: Store | None, wish: EraseWish) -> Found:
    """What the wish means. Raises NotFound when nothing is known of it."""
    registry, directory, log = parts.registry, parts.directory, parts.log
    match wish.scope:
        case Scope.DOCUMENT:
            return _document(registry, log, wish)
        case Scope.PRINCIPAL:
            found = _principal(registry, directory, wish)
            return _unfinished(registry, log, store, found) if found.keys else found
        case Scope.SOURCE:
            keys = _place(registry, log, wish.tenant, wish.name)
        case Scope.TENANT:
            keys = _place(registry, log, wish.tenant, None)
    member = wish.scope is Scope.TENANT and next(iter(directory.members(wish.tenant)), None) is not None
    if not keys and not member:
        raise NotFound(f"nothing is known of {wish.scope} {wish.name!r}; `upwell status` shows the sources")
    return _unfinished(registry, log, store, Found(keys=tuple(sorted(keys)), member=member))


def counted(
    parts: Erasing, store: Store | None, memory: Transactions | None, wish: EraseWish, found: Found
) -> dict[str, int]:
    """What there is to remove, by place; `remembered files` stay."""
    blobs = parts.blobs
    counts = {"points": 0, "blobs": 0}
    for key in found.keys:
        counts["points"] += len(store.present(key)) if store is not None else 0
        counts["blobs"] += blobs.held(key) if blobs is not None else 0
    counts = plan.added([counts, *(parts.registry.traces(key) for key in found.keys)])
    traces = remnants.traces(parts.log, found.keys)
    counts |= {"log entries": traces.events, "dead letters": traces.letters, "memberships": int(found.member)}
    if memory is not None:
        counts["remembered files"] = remnants.remembered(memory, (*found.keys, *found.finished))
        if wish.scope in (Scope.SOURCE, Scope.TENANT):
            source = wish.name if wish.scope is Scope.SOURCE else None
            counts["remembered files"] = 0
            counts["folder memory"] = remnants.folders_of(memory, wish.tenant, source)
    return counts


def _document(registry: Registry, log: Transactions, wish: EraseWish) -> Found:
    """The document with the ids it had before, and what it has become where it was moved away."""
    try:
        row = find_whole(registry, wish.name, wish.tenant, wish.source)
    except NotFound:  # refused before the registry heard of it
        keys = {key for key in remnants.known_keys(log, wish.tenant, wish.source) if key.doc_id == wish.name}
        if len(keys) != 1:
            raise
        return Found(keys=tuple(keys))
    warnings: tuple[str, ...] = ()
    if row.moved_to is not None:
        warnings = (f"its content was moved to {row.moved_to!r}, which is a document of its own and stays",)
    return Found(keys=_with_former(registry, [row.key]), warnings=warnings)


def _place(registry: Registry, log: Transactions, tenant: str, source: str | None) -> set[DocKey]:
    return {row.key for row in registry.rows(tenant, source)} | remnants.known_keys(log, tenant, source)


def _principal(registry: Registry, directory: Directory, wish: EraseWish) -> Found:
    principal = plan.principal_of(wish)
    member = next(iter(directory.members(wish.tenant, principal)), None) is not None
    named = [row for row in registry.rows(wish.tenant) if plan.names(row, principal)]
    if not named and not member and directory.version(wish.tenant, principal) < 0:
        raise NotFound(f"nothing is known of {principal!r} in tenant {wish.tenant!r}")
    own = [row.key for row in named if plan.alone(row, principal) and not plan.done(row)]
    keys = _with_former(registry, own) if wish.with_documents else ()
    return Found(
        keys=keys,
        listed=() if wish.with_documents else tuple(own),
        member=member,
        named=len(named) - len(set(keys) & set(own)),
    )


def _with_former(registry: Registry, keys: Iterable[DocKey]) -> tuple[DocKey, ...]:
    """The documents and the ids that each had before it was moved: contents and letters may lie under those."""
    found: dict[DocKey, None] = {}
    waiting = list(keys)
    while waiting:
        key = waiting.pop(0)
        if key not in found:
            found[key] = None
            waiting += registry.moved_here(key)
    return tuple(found)


def _unfinished(registry: Registry, log: Transactions, store: Store | None, found: Found) -> Found:
    """Without the documents that an earlier run, cut short, has seen through: of those nothing is left."""
    done = tuple(
        key
        for key in found.keys
        if plan.done(registry.row(key))
        and not any(registry.traces(key).values())
        and remnants.traces(log, [key]) == remnants.LogTraces()
        and not (store is not None and store.present(key))
    )
    kept = tuple(key for key in found.keys if key not in set(done))
    return Found(keys=kept, finished=done, listed=found.listed, member=found.member, named=found.named)
