"""Permission algebra: pure functions over `Acl`, the same in the pipeline, the filter and the re-check."""

from collections.abc import Iterable

from upwell.records import Acl

EVERYONE = "everyone"
NOBODY = Acl()


def reader(*principals: str) -> frozenset[str]:
    """A reader is a set of principals; each reader is also `everyone`."""
    return frozenset(principals) | {EVERYONE}


def admits(acl: Acl, who: frozenset[str]) -> bool:
    """True if every level holds one of the reader's principals and `deny` holds none. No levels admits nobody."""
    return bool(acl.levels) and all(level & who for level in acl.levels) and not acl.deny & who


def both(acls: Iterable[Acl]) -> Acl:
    """The ACL that admits exactly the readers whom each of `acls` admits. Of none: nobody."""
    found = list(acls)
    if not found or not all(acl.levels for acl in found):
        return NOBODY
    levels = dict.fromkeys(level for acl in found for level in acl.levels)
    return Acl(levels=tuple(levels), deny=frozenset().union(*(acl.deny for acl in found)))


def payload_of(acl: Acl) -> dict[str, object]:
    """The form stored beside each point: `acl_n`, `allow_0..2`, `deny` (sorted keyword lists).

    Of more than three levels the first two and the deepest are stored; the re-check holds all of them.
    """
    levels = acl.levels if len(acl.levels) <= 3 else (*acl.levels[:2], acl.levels[-1])
    fields: dict[str, object] = {"acl_n": len(levels), "deny": sorted(acl.deny)}
    for i in range(3):
        fields[f"allow_{i}"] = sorted(levels[i]) if i < len(levels) else []
    return fields
