"""Duels: one search, and one change in its midst, over a lake in which nearly everything may be seen.

A change comes whole at one passage of the search: before the reader's standing, before the store, before the re-check.
"""

from oracle_histories import DOCS, GROUPS, NAMES, USERS, permission, reader, text
from world import deliver

from upwell.records import Acl, ChangeEvent, Inline, Membership, Op

FIRST = 100
"""Above all versions of a history."""
PASSAGES = 5
ALL = frozenset({"everyone"})


class Duels:
    """Changes, each newer than all before it, of documents that are there."""

    def __init__(self, world, rng, max_age):
        self.world, self.rng, self.max_age = world, rng, max_age
        self._number = FIRST

    def fight(self, times, readers):
        """So many searches with a change in their midst, and as many by somebody after it."""
        for doc in DOCS:
            self._bring(self._upsert(doc, Acl(levels=(ALL,))))
        for _ in range(times):
            who = self.rng.choice(readers)
            change = self._change(who)
            self.world.gate.plan(self.rng.randint(1, PASSAGES), lambda change=change: self._bring(change))
            check = self.world.check_context if self.rng.random() < 0.2 else self.world.check_search
            check(who, DOCS)
            self.world.gate.clear()
            self._bring(change)
            self.world.check_search(self.rng.choice([who, reader(self.rng)]), DOCS)

    def _bring(self, change):
        if deliver(self.world, change, "control"):
            deliver(self.world, change, "process")

    def _change(self, who):
        kind = self.rng.random()
        if kind < 0.35:
            return self._permit(who)
        if kind < 0.7:
            return self._tell(who)
        if kind < 0.8:
            return self._event(Op.UPSERT, self.rng.choice(DOCS), acl_missing="away", **self._words())
        if kind < 0.85:
            return self.world.clock.now + self.max_age + self.rng.randint(0, 1)
        if kind < 0.9:
            return self._event(self.rng.choice([Op.DELETE, Op.ACL]), self.rng.choice(DOCS))
        return self._upsert(self.rng.choice(DOCS), self._acl(who))

    def _permit(self, who):
        doc = self.rng.choice(DOCS)
        content, _ = self.world.oracle.final(doc)
        ahead = self.rng.random() < 0.2  # it waits for content that is to come
        version = self._number + 2 if ahead or content is None else content[1][0]
        return self._event(Op.ACL, doc, acl=self._acl(who), version=version)

    def _acl(self, who):
        """For all, for all but this reader's own names, for this reader alone, or anything."""
        rng, names = self.rng, [*sorted(who.certain | who.claimed), self.rng.choice(NAMES)]
        kind = rng.random()
        if kind < 0.35:
            return Acl(levels=(ALL,))
        if kind < 0.6:
            return Acl(levels=(ALL,), deny=frozenset({rng.choice(names)}))
        if kind < 0.8:
            return Acl(levels=(ALL, *(frozenset({rng.choice(names)}) for _ in range(rng.randint(1, 4)))))
        return permission(rng, [ALL])

    def _tell(self, who):
        users = [name for name in who.certain if name.startswith("user:")]
        principal = self.rng.choice([*users, self.rng.choice(GROUPS), self.rng.choice(USERS)])
        gone = self.rng.random() < 0.15
        groups = frozenset() if gone else frozenset(self.rng.sample(GROUPS, self.rng.randint(0, 3)))
        return Membership(
            tenant="t", principal=principal, version=self._next(), member_of=groups, gone=gone,
        )  # fmt: skip

    def _upsert(self, doc, acl):
        return self._event(Op.UPSERT, doc, acl=acl, **self._words())

    def _words(self):
        found = text(self.rng)
        return {"content": Inline(data=found.data), "metadata": {"words": "".join(found.words)}}

    def _event(self, op, doc, *, version=None, **fields):
        number = self._next()
        return ChangeEvent(
            event_id=f"d{number}",
            tenant="t",
            source="s",
            doc_id=doc,
            op=op,
            version=number if version is None else version,
            acl_version=number,
            received_at=self.world.clock.now,
            **fields,
        )

    def _next(self):
        self._number += 1
        return self._number
