"""Permission algebra: pure functions over `Acl`, the same in the pipeline, the filter and the re-check."""

from collections.abc import Iterable

from upwell.records import Acl, Record

EVERYONE = "everyone"
KINDS = ("user", "group", "role", "domain")
"""A principal is one of these and a name, `group:staff`, or everyone."""
NOBODY = Acl()


class Asker(Record, frozen=True, kw_only=True):
    """Who asks, as a verified token or the operator's word has it; the tenant's directory has still its say.

    `principals` are certain; `claimed` are groups that a token names, which count only where no directory is fed.
    """

    tenant: str
    principals: frozenset[str]
    claimed: frozenset[str] = frozenset()


class Standing(Record, frozen=True, kw_only=True):
    """Whom a permission meets when this asker reads, at one moment: the principals, and all groups they are in.

    Nobody at all, not even `everyone`, for a user whom a fed directory does not know; `reason` says so then.
    """

    principals: frozenset[str] = frozenset()
    reason: str | None = None


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
