"""Which permission binds which content: pure functions over all that was said of a document's permissions.

A permission (acl_version a, read with content version v) binds content from v on; of those that a content has reached
the newest binds. Permissions end with the document: a tombstone (version F, acl_version A) voids, for all content above
F, what has v <= F and a <= A. A tombstone without an acl_version of its own (0) voids whatever was read with content it
ended (0 < v <= F). Of what was read with any content (v = 0) it cannot be told whether it came before such a tombstone
or after it, unless it is no newer than a permission that was read with the ended content (then it came before). So both
readings must admit: it may narrow, and grants nothing.

Kept is all that may yet bind, however late a tombstone comes: what is older and was read with newer content too. It
depends on what was said, and on neither order nor number. Past the limits what is forgotten admits nobody.
"""

from collections.abc import Iterable, Sequence

import msgspec

from upwell.ports import AclEnd, DocumentRow, MissingAcl, PendingAcl
from upwell.records import Acl, stable_hash

MOST_PERMISSIONS = 64
"""How many permissions a row keeps; of more, the oldest become one that admits nobody."""
MOST_ENDS = 16
"""How many tombstones a row keeps that say something of permissions; of more, one that voids for all of them."""
MOST_MISSING = 16
"""How many words of an unknown permission a row keeps; of more, two old ones become one."""

replace = msgspec.structs.replace


def heard(
    row: DocumentRow,
    *,
    offered: Iterable[PendingAcl] = (),
    missing: Iterable[MissingAcl] = (),
    ends: Iterable[AclEnd] = (),
) -> DocumentRow:
    """The row with these words added to what was said, and with what binds at its version now."""
    stand, forgotten = _ends((*row.ends, *ends), row.version)
    offers = _offers((*offers_of(row), *offered, *forgotten), row.version)
    said = _Said(offers, stand)
    binding, narrowing = said.binding(row.version)
    plain = binding is not None and not binding.lost
    return replace(
        row,
        acl=binding.acl if binding is not None and plain else Acl(),
        acl_version=binding.acl_version if binding is not None and plain else -1,
        acl_read=binding.version if binding is not None and plain else -1,
        pending=tuple(o for o in offers if o in narrowing),
        reserve=tuple(o for o in offers if o not in narrowing and (o != binding or not plain)),
        ends=stand,
        acl_missing=said.marked(_missing((*row.acl_missing, *missing), offers, row.version), row.version),
    )


def offers_of(row: DocumentRow) -> tuple[PendingAcl, ...]:
    """Every permission that the row keeps, whether it binds or not."""
    settled = PendingAcl(acl=row.acl, acl_version=row.acl_version, version=row.acl_read)
    return (*((settled,) if row.acl_version >= 0 else ()), *row.pending, *row.reserve)


class _Said:
    """What was said, read both ways where a tombstone's place among the permissions is not known: it came as `late` as
    can be, or as early."""

    def __init__(self, offers: Sequence[PendingAcl], ends: Sequence[AclEnd]) -> None:
        self._offers = offers
        self._ends = ends

    def binding(self, version: int) -> tuple[PendingAcl | None, list[PendingAcl]]:
        """What binds this content, and what else must admit: the other reading, and what waits for later content."""
        binding = self._newest(version, late=True)
        later = {offer.version for offer in self._offers if offer.version > version}
        found = [self._newest(v, late=late) for v in (version, *sorted(later)) for late in (True, False)]
        return binding, [o for o in found if o is not None and (binding is None or o.acl != binding.acl)]

    def marked(self, words: Iterable[MissingAcl], version: int) -> tuple[MissingAcl, ...]:
        """The words of an unknown permission, those marked that say nothing now."""
        return tuple(
            replace(word, answered=not any(self._counts(word, version, late=late) for late in (True, False)))
            for word in words
        )

    def _newest(self, version: int, *, late: bool) -> PendingAcl | None:
        reached = [o for o in self._offers if (o.lost or o.version <= version) and not self._void(o, version, late)]
        return max(reached, key=_rank, default=None)

    def _counts(self, word: MissingAcl, version: int, *, late: bool) -> bool:
        return not self._void(word, version, late) and not any(
            o.acl_version >= word.acl_version and not self._void(o, version, late) for o in self._offers
        )

    def _void(self, said: PendingAcl | MissingAcl, version: int, late: bool) -> bool:
        """True if a tombstone below this content version has ended what was said. What is older than a permission
        read with the ended content is not kept beside that (see `_offers`)."""
        return any(
            said.version <= end.version < version
            and (said.acl_version <= end.acl_version or (not end.acl_version and (late or said.version > 0)))
            for end in self._ends
        )


def _rank(offer: PendingAcl) -> tuple[int, str]:
    """Orders permissions; one that stands for forgotten ones is above all of its number."""
    return offer.acl_version, "~" if offer.lost else stable_hash(offer.acl)


def _offers(offers: Iterable[PendingAcl], reached: int) -> tuple[PendingAcl, ...]:
    """By age, each once, without those in whose place a newer one is bound to stand: one of the same content, or one
    of newer content that is reached. Whatever voids the newer one voids the older."""
    kept: list[PendingAcl] = []
    for offer in sorted(offers, key=lambda o: (*_rank(o), o.version), reverse=True):
        if not any(_replaces(newer, offer, reached) for newer in kept):
            kept.append(offer)
    if len(kept) > MOST_PERMISSIONS:
        oldest = kept[MOST_PERMISSIONS - 1 :]
        numbers = {"acl_version": oldest[0].acl_version, "version": max(o.version for o in oldest)}
        kept[MOST_PERMISSIONS - 1 :] = [PendingAcl(acl=Acl(), lost=True, **numbers)]
    return tuple(reversed(kept))


def _replaces(newer: PendingAcl, older: PendingAcl, reached: int) -> bool:
    if newer.version == older.version and not older.lost:
        return True
    return newer.version >= older.version and (newer.lost or newer.version <= reached)


def _ends(ends: Iterable[AclEnd], reached: int) -> tuple[tuple[AclEnd, ...], tuple[PendingAcl, ...]]:
    """The tombstones that void what no other does, the newest apart (its own row obeys only those before it); and, of
    more than there is room for, one that admits nobody in place of whatever they may have left."""
    found = set(ends)
    kept = sorted(
        (end for end in found if not any(_covers(other, end, reached) for other in found - {end})),
        key=lambda end: (end.version, end.acl_version),
    )
    below = [end for end in kept if end.version < reached and end.acl_version]
    if len(below) <= MOST_ENDS:
        return tuple(kept), ()
    whole = AclEnd(version=below[-1].version, acl_version=max(end.acl_version for end in below))
    others = [end for end in kept if end not in below]
    rest = tuple(sorted((whole, *others), key=lambda end: (end.version, end.acl_version)))
    return rest, (PendingAcl(acl=Acl(), acl_version=whole.acl_version, version=whole.version + 1, lost=True),)


def _covers(one: AclEnd, other: AclEnd, reached: int) -> bool:
    alike = bool(one.acl_version) == bool(other.acl_version) and (one.version < reached) == (other.version < reached)
    return alike and one.version >= other.version and one.acl_version >= other.acl_version


def _missing(words: Iterable[MissingAcl], offers: Sequence[PendingAcl], reached: int) -> tuple[MissingAcl, ...]:
    """By age, without those that can never count again, and those in whose place an earlier word counts."""
    kept: list[MissingAcl] = []
    plain = {replace(word, answered=False) for word in words}
    for word in sorted(plain, key=lambda m: (m.since, -m.acl_version, -m.version)):
        known = any(
            o.acl_version >= word.acl_version and o.version >= word.version and (o.lost or o.version <= reached)
            for o in offers
        )
        if not known and not any(_outlives(earlier, word) for earlier in kept):
            kept.append(word)
    kept.sort(key=lambda m: (m.version > 0, m.acl_version, m.version, m.since))
    while len(kept) > MOST_MISSING:
        at = next(n for n in range(len(kept) - 1) if (kept[n].version > 0) == (kept[n + 1].version > 0))
        one, other = kept[at : at + 2]
        kept[at : at + 2] = [
            MissingAcl(
                acl_version=other.acl_version,
                version=max(one.version, other.version),
                since=min(one.since, other.since),
            )
        ]
    return tuple(kept)


def _outlives(one: MissingAcl, other: MissingAcl) -> bool:
    alike = (one.version > 0) == (other.version > 0)
    return alike and one.acl_version >= other.acl_version and one.version >= other.version
