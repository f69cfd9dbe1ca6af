"""Answers that leave only when the audit has them: who asked, as whom, what was shown, or why nothing was."""

import hashlib
from collections.abc import Callable
from contextlib import suppress
from typing import Literal, TypeVar

from upwell.access import Standing
from upwell.clock import Clock
from upwell.errors import NotFound, Retryable
from upwell.ports import Act, Audit, AuditEntry, Registry
from upwell.reading import Reader
from upwell.records import DocKey
from upwell.runtime.rolls import Rolls
from upwell.search.shown import Shown

T = TypeVar("T")
Queries = Literal["hash", "text"]
"""What the audit keeps of queries: their digest, or their words."""


class Auditing:
    """Keeps each answer's record in `audit` before it is given. Thread-safe."""

    def __init__(self, audit: Audit, registry: Registry, clock: Clock, queries: Queries) -> None:
        self._audit = audit
        self._registry = registry
        self._clock = clock
        self._queries = queries
        self._rolls = Rolls()

    def answered(
        self,
        act: Act,
        reader: Reader,
        answer: Callable[[], tuple[T, Shown]],
        *,
        query: str | None = None,
        document: DocKey | None = None,
    ) -> T:
        """The answer, once the audit has it; a refusal too. Raises Retryable, and shows nothing, if it cannot be kept.

        A part that is away is a refusal, which the audit has unless it is away itself. `document` is what was asked
        for, whether or not there is one.
        """
        kept = self._kept(query)
        try:
            answered, shown = answer()
        except NotFound:
            standing = self._registry.standing(reader.asker)
            refused = Shown(standing=standing, document=document)
            self._write(act, reader, refused, kept, outcome="refused", reason=standing.reason or "not_found")
            raise
        except Retryable:
            nobody = Shown(standing=Standing(), document=document)
            with suppress(Retryable):
                self._write(act, reader, nobody, kept, outcome="refused", reason="unavailable")
            raise
        self._write(act, reader, shown, kept, outcome="ok", reason=shown.standing.reason or "")
        return answered

    def _kept(self, query: str | None) -> str:
        if query is None:
            return ""
        plain = query.encode("utf-8", "replace")
        return plain.decode() if self._queries == "text" else hashlib.sha256(plain).hexdigest()[:32]

    def _write(self, act: Act, reader: Reader, shown: Shown, query: str, *, outcome: str, reason: str) -> None:
        now = self._clock()
        names = self._rolls.names(shown.standing.principals, now)
        self._audit.write(
            AuditEntry(
                act=act,
                at=now,
                tenant=reader.asker.tenant,
                actor=reader.actor,
                via=reader.via,
                document=shown.document,
                version=shown.version,
                principals=names,
                query=query,
                hits=shown.hits,
                refused=shown.refused,
                outcome=outcome,
                reason=reason,
            )
        )
        self._rolls.written(names, now)
