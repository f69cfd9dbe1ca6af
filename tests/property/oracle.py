"""An independent reference: who may see which text of which document, from what was acknowledged and what is under way.

Written without a line of the product: content is the greatest of (version, rank, hash), and a reader must be admitted
by the permission that binds at that version and by each that would bind at a later one; permissions end with the
document, and where it cannot be told which came before its end, a reader must be admitted whichever did; who a reader is comes from the
memberships (`people.py`), all documents of one answer under the same ones; and what nobody could say the permission of
for too long is hidden.
"""

from itertools import combinations

from people import People

NOBODY = ((), frozenset())
BEGUN, EFFECTIVE, APPLIED = range(3)
MOST_CHASED = 3
"""A search whose reader changes more often than this under it may end with less than it could show (never with more).
It is promised to end."""


class Oracle:
    """Effects by document. One may have happened from the start of its event's step on; it is effective once that step
    is acknowledged (nothing may be shown against it), and applied once its event has ended (nothing may be missing).
    A membership is applied as soon as it is acknowledged."""

    def __init__(self, max_age=None):
        self._effects = {}
        self._max_age = max_age
        self.people = People()

    def begin(self, doc, effect):
        self._effects.setdefault(doc, {}).setdefault(effect, BEGUN)

    def acknowledge(self, doc, effect, *, ended):
        states = self._effects.setdefault(doc, {})
        states[effect] = max(states.get(effect, BEGUN), APPLIED if ended else EFFECTIVE)

    def applied(self):
        """Document -> the effects whose events have ended by now, and None -> the memberships that hold."""
        return {None: self.people.said(), **self._reached(APPLIED)}

    def binding(self):
        """Document -> the effects that nothing may be shown against any more, and None -> the memberships that hold."""
        return {None: self.people.said(), **self._reached(EFFECTIVE)}

    def _reached(self, least):
        return {doc: frozenset(e for e, s in states.items() if s >= least) for doc, states in self._effects.items()}

    def faults(self, shown, asker, since, *, binding=None, between=(0, 0)):
        """What is wrong with an answer: {"leak" | "part": [(document, texts)]}, empty if nothing is.

        `shown` has the texts of each document (of all that could be shown), `since` what was applied when the search
        began, `between` the times of its beginning and its end. Its last look was at the end, unless `binding` says
        what bound it then at the least. One reader's standing must explain the whole answer.
        """
        standings = self.people.standings(asker, self.people.said() if binding is None else binding[None])
        found = [self._under(who, shown, since, binding, between) for who in standings]
        excused = len(self.people.standings(asker, since[None])) > MOST_CHASED
        best = min(found, key=lambda wrong: (len(wrong.get("leak", ())), len(wrong.get("part", ()))))
        return {kind: docs for kind, docs in best.items() if not (kind == "part" and excused)}

    def _under(self, who, shown, since, binding, between):
        wrong = {}
        for doc, texts in shown.items():
            states = self._effects.get(doc, {})
            bound_by = (
                frozenset(e for e, s in states.items() if s != BEGUN) if binding is None else binding.get(doc, ())
            )
            wholes, permitted, excused = self._allowed(
                doc, who, since, frozenset(bound_by), between, exact=binding is None
            )
            given = tuple(sorted(texts))
            if not any(part_of(given, p) for p in permitted):
                wrong.setdefault("leak", []).append((doc, given))
            elif not any(given == tuple(sorted(w)) for w in wholes) and not (
                excused and any(part_of(given, w) for w in wholes)
            ):
                wrong.setdefault("part", []).append((doc, given))
        return wrong

    def _allowed(self, doc, who, since, effective, between, *, exact):
        """(whole answers, texts that are permitted now, whether a part is excused)."""
        states = frozenset(self._effects.get(doc, ()))
        began = since.get(doc, frozenset())
        first, last = between
        wholes = {self._visible(began | m, who, at) for m in subsets(states - began) for at in {first, last}}
        looks = {last} if exact else {first, last}
        permitted = {self._visible(effective | m, who, at) for m in subsets(states - effective) for at in looks}
        rivals = sum(1 for e in states - began if e[0] == "content" and e[1][1] == 0)
        return wholes, permitted, rivals > 1

    def _visible(self, effects, who, at):
        since = unknown_since(effects)
        if self._max_age is not None and since is not None and at - since > self._max_age:
            return ()
        return visible(effects, who)

    def final(self, doc):
        """(content order, texts, permission) once every event has ended; content None if there was none."""
        effects = self.applied().get(doc, frozenset())
        content = newest_content(effects)
        return content, bound(effects, content[1][0] if content else -1)

    def unknown_since(self, doc):
        """Since when, of all that was said, the newest word on who may read has been that nobody can tell."""
        return unknown_since(self.applied().get(doc, frozenset()))


def unknown_since(effects):
    content = newest_content(effects)
    found = [unanswered_since(said) for said in readings(effects, content[1][0] if content else -1)]
    return min((since for since in found if since is not None), default=None)


def unanswered_since(said):
    known = max((e[1][0] for e in said if e[0] == "acl"), default=-1)
    return min((e[2] for e in said if e[0] == "missing" and e[1] > known), default=None)


def newest_content(effects):
    return max((e for e in effects if e[0] == "content"), key=lambda e: e[1], default=None)


def readings(effects, version):
    """What of all that was said of permissions is not ended for this content: by each tombstone below it, what is no
    newer in number and was read with no newer content. A tombstone without a number is above all that was read with
    content it ended; where it stands among what was read with any content nobody knows: one reading a place, the last
    place last."""
    said = [e for e in effects if e[0] != "content"]
    ends = [(e[1][0], e[3]) for e in effects if e[0] == "content" and e[1][1] > 0 and e[1][0] < version]
    for place in sorted({0, *map(number_of, said)}):
        yield [e for e in said if not any(is_ended(e, end, number, place, said) for end, number in ends)]


def number_of(said):
    return said[1][0] if said[0] == "acl" else said[1]


def read_with(said):
    return said[2] if said[0] == "acl" else said[3]


def is_ended(one, end, number, place, said):
    if read_with(one) > end:
        return False
    if number:
        return number_of(one) <= number
    return (
        read_with(one) > 0 or number_of(one) <= place or any(is_older(one, e) for e in said if 0 < read_with(e) <= end)
    )


def is_older(one, permission):
    """A tombstone comes after the permissions of the content that it ends, and what is older than they are."""
    if permission[0] != "acl":
        return False
    return one[1] < permission[1] if one[0] == "acl" else one[1] <= permission[1][0]


def bounds(effects, version):
    """What binds when content has reached `version`, by each reading: (levels, deny)."""
    for said in readings(effects, version):
        found = max((e for e in said if e[0] == "acl" and e[2] <= version), key=lambda e: e[1], default=None)
        yield NOBODY if found is None else found[3]


def bound(effects, version):
    """The permission that binds for certain when content has reached `version`: (levels, deny)."""
    return list(bounds(effects, version))[-1]


def visible(effects, who):
    """The texts, in order, that `who` sees of a document after exactly these effects; () is nothing."""
    content = newest_content(effects)
    if content is None:
        return ()
    reached = content[1][0]
    later = [e[2] for e in effects if e[0] == "acl" and e[2] > reached]
    acls = [acl for version in (reached, *later) for acl in bounds(effects, version)]
    return content[2] if all(admitted(acl, who) for acl in acls) else ()


def admitted(acl, who):
    levels, deny = acl
    return len(levels) > 0 and all(set(level) & who for level in levels) and not set(deny) & who


def part_of(texts, whole):
    rest = list(whole)
    for text in texts:
        if text not in rest:
            return False
        rest.remove(text)
    return True


def subsets(effects):
    effects = sorted(effects, key=repr)
    for size in range(len(effects) + 1):
        for chosen in combinations(effects, size):
            yield frozenset(chosen)
