"""What an erasure found, before and after, and what it says of that. Pure: counts and keys in, answers out."""

from collections.abc import Iterable, Mapping

from upwell.access import EVERYONE
from upwell.answers import Certificate, EraseAnswer, ErasedDocument, EraseWish, Scope
from upwell.clock import rfc3339
from upwell.erase.remaining import Left, Surroundings, remainders, searched
from upwell.errors import Misconfigured
from upwell.ports import DocumentRow
from upwell.records import DocKey, Record, stable_hash

ERASED = 2
"""The rank of a row that an erasure has left (see `ports.DocumentRow`)."""
USER = "user:"


class Found(Record, frozen=True, kw_only=True):
    """What a wish means: the documents to erase, those `finished` by an earlier run that was cut short, those that are
    only `listed`; whether a directory knows the principal, and how many documents' permissions name it."""

    keys: tuple[DocKey, ...] = ()
    finished: tuple[DocKey, ...] = ()
    listed: tuple[DocKey, ...] = ()
    member: bool = False
    named: int = 0
    warnings: tuple[str, ...] = ()


class Ended(Record, frozen=True, kw_only=True):
    """What came of it: the fences of all documents, how many earlier events had ended, what went and what was left by
    mistake, and what the lake goes on holding by design."""

    fences: Mapping[DocKey, int]
    events: int
    remaining: tuple[str, ...]
    left: Left
    removed: Mapping[str, int] = {}


def principal_of(wish: EraseWish) -> str:
    """The person of a wish. Raises Misconfigured for a group: to forget who is in one would let in whom it denied."""
    if wish.name == EVERYONE or not wish.name.startswith(USER):
        raise Misconfigured(
            f"--principal {wish.name!r}: only a user: is erased; groups, roles and domains decide what others may "
            "read, and are for their directory to change"
        )
    return wish.name


def names(row: DocumentRow, principal: str) -> bool:
    """True if a permission of this document, one that binds or may yet, names the principal."""
    acls = (row.acl, *(kept.acl for kept in (*row.pending, *row.reserve)))
    return any(principal in acl.deny or any(principal in level for level in acl.levels) for acl in acls)


def alone(row: DocumentRow, principal: str) -> bool:
    """True if nobody but this principal can read the document: a level that every reader must pass holds no other."""
    return any(level == {principal} for level in row.effective_acl.levels)


def done(row: DocumentRow | None) -> bool:
    """True if the row is what an erasure leaves."""
    return row is not None and row.deleted and row.rank == ERASED


def expected(wish: EraseWish, found: Found, counts: Mapping[str, int], where: Surroundings | None) -> EraseAnswer:
    """The answer of a dry run."""
    left = Left(
        documents=len(found.keys) + len(found.finished),
        remembered=counts.get("remembered files", 0),
        principal=wish.scope is Scope.PRINCIPAL,
        directory=found.member,
        permissions=found.named,
    )
    stays = remainders(where, left, 0) if where else ()
    return _answer(
        wish,
        found,
        removed=shown(counts),
        remaining=(),
        dry_run=True,
        warnings=(*found.warnings, *(f"stays in {one.place}: {one.what}; {one.bound}" for one in stays)),
    )


def answered(wish: EraseWish, found: Found, ended: Ended, certificate: Certificate | None) -> EraseAnswer:
    """The answer of an erasure."""
    return _answer(
        wish,
        found,
        removed=shown(ended.removed),
        remaining=ended.remaining,
        warnings=found.warnings,
        certificate=certificate,
    )


def certified(wish: EraseWish, ended: Ended, where: Surroundings, now: int) -> Certificate:
    """The certificate, not signed yet. Its events have all ended, and nothing is there but what `remaining` says."""
    name = wish.name if wish.names else stable_hash(wish.scope, wish.tenant, wish.source, wish.name)
    documents = tuple(
        ErasedDocument(
            digest=key.digest,
            source=key.source if wish.names else None,
            doc_id=key.doc_id if wish.names else None,
            version=version,
        )
        for key, version in sorted(ended.fences.items())
    )
    issued_at = rfc3339(now) or ""
    return Certificate(
        id=stable_hash(where.lake, issued_at, wish.scope, name, [document.digest for document in documents]),
        issued_at=issued_at,
        lake=where.lake,
        scope=wish.scope,
        name=name,
        tenant=wish.tenant,
        documents=documents,
        events={"ended": ended.events, "pending": 0},
        removed=shown(ended.removed),
        searched=searched(where),
        remaining=remainders(where, ended.left, now),
        kid="",
    )


def shown(counts: Mapping[str, int]) -> dict[str, int]:
    """The counts that say something; points always."""
    return {place: count for place, count in counts.items() if count or place == "points"}


def added(counts: Iterable[Mapping[str, int]]) -> dict[str, int]:
    """The sum of counts, by place."""
    total: dict[str, int] = {}
    for one in counts:
        for place, count in one.items():
            total[place] = total.get(place, 0) + count
    return total


def _answer(wish: EraseWish, found: Found, **rest: object) -> EraseAnswer:
    document = wish.scope is Scope.DOCUMENT
    return EraseAnswer(
        doc_id=wish.name if document else "",
        source=next(iter(found.keys)).source if document and found.keys else "",
        tenant=wish.tenant,
        scope=wish.scope,
        name=wish.name,
        documents=len(found.keys) + len(found.finished),
        listed=tuple(f"{key.source}/{key.doc_id}" for key in found.listed),
        **rest,  # type: ignore[arg-type]
    )
