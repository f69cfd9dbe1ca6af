"""An independent reference: who may see which text of which document, from what was acknowledged and what is under way.

Written without a line of the product: content is the greatest of (version, rank, hash), and a reader must be admitted
by the permission that binds at that version and by each that would bind at a later one.
"""

from itertools import combinations

NOBODY = ((), frozenset())


class Oracle:
    """Effects by document. An effect is optional from the start of its event's step until that step is acknowledged."""

    def __init__(self):
        self._effects = {}

    def begin(self, doc, effect):
        self._effects.setdefault(doc, {}).setdefault(effect, "optional")

    def acknowledge(self, doc, effect):
        self._effects.setdefault(doc, {})[effect] = "certain"

    def certain(self):
        """What is acknowledged by now."""
        return {doc: frozenset(e for e, s in states.items() if s == "certain") for doc, states in self._effects.items()}

    def allowed(self, doc, who, since):
        """What a search that began when `since` was certain, and ends now, may show of `doc` to `who`: (whole answers,
        texts that are permitted now, whether a part is excused)."""
        states = self._effects.get(doc, {})
        certain = frozenset(e for e, s in states.items() if s == "certain")
        optional = frozenset(states) - certain
        began = since.get(doc, frozenset())
        wholes = {visible(began | more, who) for more in subsets(frozenset(states) - began)}
        permitted = {visible(certain | more, who) for more in subsets(optional)}
        rivals = sum(1 for e in frozenset(states) - began if e[0] == "content" and e[1][1] == 0)
        return wholes, permitted, rivals > 1

    def final(self, doc):
        """(content order, texts, permission) once everything is acknowledged; content None if there was none."""
        effects = self.certain().get(doc, frozenset())
        content = newest_content(effects)
        return content, bound(effects, content[1][0] if content else -1)


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
