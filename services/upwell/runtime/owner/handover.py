"""A lake whose owner may leave at any moment: what it left unanswered is asked of whoever owns the lake next.

A one-shot command owns its lake for a second or two. Others that found it meanwhile must neither fail nor lose their
work when it ends; each of them asks again, and one of them may now be the owner itself. Asking twice is safe: every
operation of a lake ends in the same lake when it is repeated.
"""

from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import msgspec

from upwell.answers import (
    ALL_LETTERS,
    ApproveAnswer,
    DeadAnswer,
    DeadFilter,
    EraseAnswer,
    EraseWish,
    IngestAnswer,
    MemberAnswer,
    Progress,
    SearchAnswer,
    ShowAnswer,
    StatusAnswer,
)
from upwell.errors import Retryable
from upwell.reading import ReadableLake, ReadApi, Reader
from upwell.runtime.reading_asked import AskedReading
from upwell.search.questions import QUESTIONS

T = TypeVar("T")

MOST_OWNERS = 50
"""So many owners in a row that leave without an answer are a fault, not a busy lake."""


class OwnerGone(Retryable):
    """The owner left before it had answered: nothing is wrong, ask the next one."""


class HandedOverLake:
    """`reading.ReadableLake` over what `connect` finds, now and each time that an owner has gone (OwnerGone).

    Raises what the lake raises, and OwnerGone when MOST_OWNERS in a row have left.
    """

    def __init__(self, connect: Callable[[], ReadableLake]) -> None:
        self._connect = connect
        self._lake = self._next()

    def ingest(
        self,
        folder: Path,
        *,
        owner: str,
        source: str | None = None,
        tenant: str = "default",
        progress: Callable[[Progress], None] | None = None,
    ) -> IngestAnswer:
        return self._ask(lambda lake: lake.ingest(folder, owner=owner, source=source, tenant=tenant, progress=progress))

    def search(
        self,
        query: str,
        *,
        principals: frozenset[str],
        k: int = 5,
        tenant: str = "default",
        sources: frozenset[str] = frozenset(),
    ) -> SearchAnswer:
        return self._ask(lambda lake: lake.search(query, principals=principals, k=k, tenant=tenant, sources=sources))

    def show(self, doc: str, *, tenant: str = "default", source: str | None = None) -> ShowAnswer:
        return self._ask(lambda lake: lake.show(doc, tenant=tenant, source=source))

    def status(self) -> StatusAnswer:
        return self._ask(lambda lake: lake.status())

    def dead_list(self, which: DeadFilter = ALL_LETTERS) -> tuple[DeadAnswer, ...]:
        return self._ask(lambda lake: lake.dead_list(which))

    def dead_show(self, dead_id: int) -> DeadAnswer:
        return self._ask(lambda lake: lake.dead_show(dead_id))

    def dead_replay(self, which: DeadFilter) -> int:
        return self._ask(lambda lake: lake.dead_replay(which))

    def dead_discard(self, which: DeadFilter) -> int:
        return self._ask(lambda lake: lake.dead_discard(which))

    def erase(self, doc: str, *, tenant: str = "default", source: str | None = None) -> EraseAnswer:
        return self._ask(lambda lake: lake.erase(doc, tenant=tenant, source=source))

    def erase_all(self, wish: EraseWish) -> EraseAnswer:
        return self._ask(lambda lake: lake.erase_all(wish))

    def reading(self) -> ReadApi:
        """See `reading.ReadableLake`."""

        def ask(name: str, question: dict[str, Any], reader: Reader) -> Any:
            asked = msgspec.convert(question, QUESTIONS[name])
            return self._ask(lambda lake: asked.ask(lake.reading(), reader))

        return AskedReading(ask)

    def principals_set(
        self, principal: str, *, member_of: frozenset[str] = frozenset(), gone: bool = False, tenant: str = "default"
    ) -> MemberAnswer:
        return self._ask(lambda lake: lake.principals_set(principal, member_of=member_of, gone=gone, tenant=tenant))

    def principals_list(self, *, tenant: str = "default") -> tuple[MemberAnswer, ...]:
        return self._ask(lambda lake: lake.principals_list(tenant=tenant))

    def approve(self, *, tenant: str = "default", source: str | None = None, discard: bool = False) -> ApproveAnswer:
        return self._ask(lambda lake: lake.approve(tenant=tenant, source=source, discard=discard))

    def close(self) -> None:
        self._lake.close()

    def _ask(self, ask: Callable[[ReadableLake], T]) -> T:
        for _ in range(MOST_OWNERS):
            try:
                return ask(self._lake)
            except OwnerGone:
                self._lake.close()
                self._lake = self._next()
        return ask(self._lake)

    def _next(self) -> ReadableLake:
        for _ in range(MOST_OWNERS):
            try:
                return self._connect()
            except OwnerGone:
                continue
        return self._connect()
