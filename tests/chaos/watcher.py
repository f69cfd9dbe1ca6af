"""Readers who search while everything breaks, and hold each answer against what the registry said before it.

The registry's rows before a search are what is effective; rows that move meanwhile excuse only what they explain.
"""

import random
import threading
import time
from dataclasses import dataclass, field

from history import MARK, READERS, TENANTS, WORDS

from upwell.access import Asker
from upwell.errors import Retryable
from upwell.search.govern import MOST_HITS, Reading, governed_search

PAUSE_S = 0.3


@dataclass
class Seen:
    """What a watcher has to tell. Lines of `leaks`, `mixed` and `revived` are violations."""

    searches: int = 0
    away: int = 0
    hits: int = 0
    unsure: int = 0
    leaks: list[str] = field(default_factory=list)
    mixed: list[str] = field(default_factory=list)
    revived: list[str] = field(default_factory=list)

    def add(self, other):
        for name in ("searches", "away", "hits", "unsure", "leaks", "mixed", "revived"):
            setattr(self, name, getattr(self, name) + getattr(other, name))


class Watcher(threading.Thread):
    """Searches with rights that change from search to search, until it is stopped."""

    def __init__(self, seed, *, registry, store, embedder, pipeline, said):
        super().__init__(daemon=True)
        self._rng = random.Random(seed)
        self._registry, self._store, self._embedder, self._pipeline = registry, store, embedder, pipeline
        self._said = said
        self._stopping = threading.Event()
        self.seen = Seen()
        self.failure = None

    def run(self):
        while not self._stopping.wait(PAUSE_S):
            try:
                self.look(self._rng.choice(READERS), self._rng.choices(TENANTS, weights=(5, 1))[0])
            except Retryable:
                self.seen.away += 1
                time.sleep(PAUSE_S)
            except BaseException as error:
                self.failure = error
                raise

    def stop(self):
        self._stopping.set()
        self.join()

    def look(self, who, tenant):
        """One search, checked."""
        before = {row.key: row for row in self._registry.rows(tenant)}
        vectors = self._embedder.embed_query(" ".join(self._rng.sample(WORDS, 4)))
        found = governed_search(
            vectors,
            Reading(asker=Asker(tenant=tenant, principals=who)),
            MOST_HITS,
            registry=self._registry,
            store=self._store,
            pipeline=self._pipeline,
        )
        texts = {}
        for admitted in found.admitted:
            texts.setdefault(admitted.hit.key, []).append(admitted.hit.text)
        for key, shown in texts.items():
            after = self._registry.row(key)
            self.check_rights(key, who, before.get(key), after)
            self.check_version(key, shown, before.get(key), after)
        self.seen.searches += 1
        self.seen.hits += len(found.admitted)

    def check_rights(self, key, who, before, after):
        """Some state from before the search to after it must admit the reader."""
        if before is None or after.rev > before.rev + 1:
            self.seen.unsure += 1
        elif not any(admitted(row, who) for row in (before, after)):
            self.seen.leaks.append(f"{key.doc_id} to {sorted(who)} at revision {before.rev}")

    def check_version(self, key, shown, before, after):
        """All that is shown of a document must be of one version, and of none that had been left behind."""
        marks = {mark for text in shown for mark in MARK.findall(text)}
        versions = [v for v, said in self._said.get(key, {}).items() if marks <= said]
        if not versions:
            self.seen.mixed.append(f"{key.doc_id}: {sorted(marks)} are of no one version")
            return
        if before is None:
            return
        still = before.rev == after.rev
        standing = [v for v in versions if v > before.version or (v == before.version and not before.deleted)]
        if still:
            standing = [v for v in standing if v == before.version]
        if not standing:
            self.seen.revived.append(f"{key.doc_id}: {sorted(marks)} of {versions} at version {before.version}")


def admitted(row, who):
    """By the row's own permission and by each that waits. Written without the product's algebra."""
    acls = [row.acl, *(waiting.acl for waiting in row.pending)]
    return not row.deleted and all(
        acl.levels and all(level & who for level in acl.levels) and not acl.deny & who for acl in acls
    )
