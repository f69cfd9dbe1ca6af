"""The reference for who a reader is: groups within groups, by what a directory said. No line of the product is in it."""

from itertools import combinations
from typing import NamedTuple

EVERYONE = "everyone"
NOBODY = frozenset()


class Who(NamedTuple):
    """Who asks: what is certain of them, and the groups that their token claims."""

    certain: frozenset
    claimed: frozenset = frozenset()


class Said(NamedTuple):
    """What a directory says of a principal: the newest version is true."""

    principal: str
    version: int
    groups: frozenset
    gone: bool


class People:
    """What was said and holds (`put` has returned), and what is under way and may hold."""

    def __init__(self):
        self._begun = set()
        self._said = set()

    def begin(self, said):
        self._begun.add(said)

    def acknowledge(self, said):
        self._said.add(said)

    def said(self):
        return frozenset(self._said)

    def standings(self, who, since):
        """All that `who` may be, if `since` held at first, in the order of what more of it holds."""
        more = sorted((self._begun | self._said) - since, key=repr)
        chosen = (c for size in range(len(more) + 1) for c in combinations(more, size))
        return list(dict.fromkeys(standing(since | set(c), who) for c in chosen))


def standing(said, who):
    """The names that permissions meet: with a directory that ever said anything what a token claims counts for nothing,
    and a user whom it does not know, or no more, is nobody at all."""
    newest = {}
    for one in said:
        if one.principal not in newest or newest[one.principal].version < one.version:
            newest[one.principal] = one
    known = {name for name, one in newest.items() if not one.gone}
    if not newest:
        return who.certain | who.claimed | {EVERYONE}
    if any(name.startswith("user:") and name not in known for name in who.certain):
        return NOBODY
    found, ahead = set(), list(who.certain)
    while ahead:
        one = newest.get(ahead.pop())
        if one is not None and not one.gone:
            fresh = one.groups - found
            found |= fresh
            ahead.extend(fresh)
    gone = newest.keys() - known
    return who.certain | (found - gone) | {EVERYONE}
