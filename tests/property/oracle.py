"""An independent reference: who may see which text of which document, from what was acknowledged and what is under way.

Written without a line of the product: content is the greatest of (version, rank, hash), and a reader must be admitted
by the permission that binds at that version and by each that would bind at a later one.
"""

from itertools import combinations

NOBODY = ((), frozenset())
BEGUN, EFFECTIVE, APPLIED = range(3)


class Oracle:
    """Effects by document. One may have happened from the start of its event's step on; it is effective once that step
    is acknowledged (nothing may be shown against it), and applied once its event has ended (nothing may be missing)."""

    def __init__(self):
        self._effects = {}

    def begin(self, doc, effect):
        self._effects.setdefault(doc, {}).setdefault(effect, BEGUN)

    def acknowledge(self, doc, effect, *, ended):
        states = self._effects.setdefault(doc, {})
        states[effect] = max(states.get(effect, BEGUN), APPLIED if ended else EFFECTIVE)

    def applied(self):
        """Document -> the effects whose events have ended by now."""
        return {doc: frozenset(e for e, s in states.items() if s == APPLIED) for doc, states in self._effects.items()}

    def allowed(self, doc, who, since):
        """What a search that began when `since` was applied, and ends now, may show of `doc` to `who`: (whole answers,
        texts that are permitted now, whether a part is excused)."""
        states = self._effects.get(doc, {})
        effective = frozenset(e for e, s in states.items() if s != BEGUN)
        began = since.get(doc, frozenset())
        wholes = {visible(began | more, who) for more in subsets(frozenset(states) - began)}
        permitted = {visible(effective | more, who) for more in subsets(frozenset(states) - effective)}
        rivals = sum(1 for e in frozenset(states) - began if e[0] == "content" and e[1][1] == 0)
        return wholes, permitted, rivals > 1

    def final(self, doc):
        """(content order, texts, permission) once every event has ended; content None if there was none."""
        effects = self.applied().get(doc, frozenset())
        content = newest_content(effects)
        return content, bound(effects, content[1][0] if content else -1)

    def unknown_since(self, doc):
        """Since when, of all that was said, the newest word on who may read has been that nobody can tell."""
        effects = self.applied().get(doc, frozenset())
        known = max((e[1][0] for e in effects if e[0] == "acl"), default=-1)
        return min((e[2] for e in effects if e[0] == "missing" and e[1] > known), default=None)


def newest_content(effects):
    return max((e for e in effects if e[0] == "content"), key=lambda e: e[1], default=None)


def bound(effects, version):
    """The permission that binds when content has reached `version`: (levels, deny)."""
    found = max((e for e in effects if e[0] == "acl" and e[2] <= version), key=lambda e: e[1], default=None)
    return NOBODY if found is None else found[3]


def visible(effects, who):
    """The texts, in order, that `who` sees of a document after exactly these effects; () is nothing."""
    content = newest_content(effects)
    if content is None:
        return ()
    reached = content[1][0]
    later = [e[2] for e in effects if e[0] == "acl" and e[2] > reached]
    acls = [bound(effects, version) for version in (reached, *later)]
    return content[2] if all(admitted(acl, who) for acl in acls) else ()


def admitted(acl, who):
    levels, deny = acl
    return len(levels) > 0 and all(set(level) & who for level in levels) and not set(deny) & who


def subsets(effects):
    effects = sorted(effects, key=repr)
    for size in range(len(effects) + 1):
        for chosen in combinations(effects, size):
            yield frozenset(chosen)
