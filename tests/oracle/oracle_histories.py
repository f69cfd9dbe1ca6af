"""Histories of an organisation: documents under inherited permissions, groups within groups, and what goes wrong.

Everything comes from one generator, so that a seed names a history.
"""

import msgspec
from people import Who
from strategies import Content

from upwell.records import Acl, ChangeEvent, Inline, Membership, Op, ParseStatus

DOCS = ("a", "b", "c", "d")
USERS = ("user:ana", "user:ben", "user:cy")
STRANGER = "user:zed"
"""Whom no directory ever knows."""
GROUPS = ("group:eng", "group:hr", "group:all", "group:g1", "group:g2", "group:g3", "role:lead")
NAMES = (*USERS, STRANGER, *GROUPS)
START = 1_000_000_000
SECOND = 1_000_000
STATUSES = (ParseStatus.OK,) * 8 + (ParseStatus.CORRUPT, ParseStatus.CORRUPT, ParseStatus.ENCRYPTED)
OPS = (Op.UPSERT,) * 9 + (Op.ACL,) * 5 + (Op.DELETE,) * 2 + (Op.ERASE,)


class Past(msgspec.Struct):
    """What happens, in no order that matters: changes, memberships and times; who looks; how old an unknown permission
    may get (us)."""

    happens: list
    readers: list
    max_age: int

    def count(self, kind):
        return sum(1 for one in self.happens if isinstance(one, kind))


def past(rng):
    """One history. A quarter of them have no directory: what tokens claim counts there."""
    above = [level(rng) for _ in range(rng.randint(0, 3))]
    changes = [change(rng, number, above) for number in range(rng.randint(3, 12))]
    members = memberships(rng) if rng.random() < 0.75 else []
    max_age = rng.choice([0, 20, 60, 3 * SECOND, 3 * SECOND, 3 * SECOND])
    times = [START + rng.randint(0, 5 * SECOND) for _ in range(rng.randint(0, 2))]
    if rng.random() < 0.5:
        times += [one.received_at + max_age + late for one in changes if one.acl_missing for late in (0, 1)]
    return Past([*changes, *members, *times], [reader(rng) for _ in range(5)], max_age)


def level(rng):
    names = rng.sample(NAMES, rng.randint(2, 4))
    return frozenset([*names, "everyone"] if rng.random() < 0.55 else names)


def permission(rng, above):
    """A document's permission: what it inherits (each folder above adds a level, unless one breaks with them) and what
    it adds; up to six levels, somebody denied."""
    inherited = above[: rng.randint(0, len(above))]
    own = [level(rng) for _ in range(rng.choice([1, 1, 1, 1, 2, 3]) if rng.random() < 0.9 else 0)]
    denied = rng.sample(NAMES, rng.choice([0, 0, 0, 0, 1, 2]))
    if rng.random() < 0.3:  # for all, or for all but somebody
        inherited, own, denied = [], [frozenset({"everyone"})], rng.sample(NAMES, rng.choice([0, 1, 1, 2]))
    return Acl(levels=(*inherited, *own), deny=frozenset(denied))


def change(rng, number, above):
    op, doc = rng.choice(OPS), rng.choice(DOCS)
    content = text(rng) if op is Op.UPSERT else None
    others = [None, None, None, *(d for d in DOCS if d != doc)]
    silent = op is Op.UPSERT and rng.random() < 0.15
    return ChangeEvent(
        event_id=f"e{number}",
        tenant="t",
        source="s",
        doc_id=doc,
        op=op,
        version=rng.randint(1, 7) if op is not Op.ERASE else rng.randint(1, 4),
        received_at=START + rng.randint(0, 40),
        acl_version=rng.randint(0, 6),
        previous_doc_id=rng.choice(others) if op is Op.UPSERT else None,
        content=None if content is None else Inline(data=content.data),
        acl=None if silent or op in {Op.DELETE, Op.ERASE} else permission(rng, above),
        acl_missing="away" if op in {Op.UPSERT, Op.ACL} and rng.random() < 0.1 else None,
        metadata={} if content is None else {"words": "".join(content.words)},
    )


def text(rng):
    status = rng.choice(STATUSES)
    words = tuple(rng.choice("pqrstuv") for _ in range(rng.randint(0, 5)))
    inside = tuple(
        (name, tuple(rng.choice("pqxyz") for _ in range(rng.randint(0, 3))))
        for name in rng.sample(["x.pdf", "y.pdf"], rng.choice([0, 0, 1, 2]))
    )
    empty = status is ParseStatus.OK and not words and not inside
    return Content(ParseStatus.EMPTY if empty else status, words, inside)


def memberships(rng):
    """A directory's words: users come first in one, so that most readers are known; groups hold groups, each other too."""
    told = [one for name in USERS if rng.random() < 0.9 for one in versions(rng, name, 2)]
    return told + [one for name in rng.sample(GROUPS, rng.randint(0, 5)) for one in versions(rng, name, 3)]


def versions(rng, name, most):
    for version in range(1, rng.randint(1, most) + 1):
        groups = frozenset(rng.sample(GROUPS, rng.choice([0, 1, 2, 2, 3])))
        gone = rng.random() < 0.08
        yield Membership(
            tenant="t", principal=name, version=version, member_of=frozenset() if gone else groups, gone=gone
        )


def reader(rng):
    """A user with what their token claims, an operator's words, or nobody in particular."""
    kind = rng.random()
    if kind < 0.8:
        return Who(frozenset({rng.choice(USERS)}), frozenset(rng.sample(GROUPS, rng.randint(0, 2))))
    if kind < 0.88:
        return Who(frozenset({STRANGER}), frozenset(rng.sample(GROUPS, rng.randint(0, 2))))
    return Who(frozenset(rng.sample(GROUPS, rng.randint(0, 2))))
