"""Erasing from the embedded lake: what its engine, its one log and its folders give an erasure to work with."""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager

from upwell.answers import EraseAnswer, EraseWish, Scope
from upwell.errors import Misconfigured, Retryable
from upwell.records import ChangeEvent
from upwell.runtime.backlog import Ticket
from upwell.runtime.engine import Work
from upwell.runtime.erasing import erase
from upwell.runtime.erasing_parts import Erasing
from upwell.runtime.memberships import DirectMemberships
from upwell.runtime.parts import Parts
from upwell.runtime.replaying import Transactions
from upwell.runtime.tally import PATIENCE_TRIES

PATIENCE_S = 600.0
"""For everything earlier to end: a document that is being parsed may take its time."""


class Troubles:
    """Hears from the engine what keeps an event from ending for longer than a moment."""

    def __init__(self) -> None:
        self.error: Retryable | None = None

    def expect(self, tickets: Iterable[Ticket]) -> None: ...

    def ended(self, ticket: Ticket, event: ChangeEvent, work: Work) -> None: ...

    def trouble(self, ticket: Ticket, error: Retryable) -> None:
        if ticket.attempts + 1 >= PATIENCE_TRIES:
            self.error = error


def erase_here(parts: Parts, wish: EraseWish) -> EraseAnswer:
    """See `answers.LakeApi.erase_all`."""
    if wish.scope in (Scope.SOURCE, Scope.TENANT) and not wish.dry_run:
        _check_not_followed(parts, wish)
    troubles = Troubles()
    with parts.engine.watching(troubles):
        return erase(_erasing(parts, troubles), wish)


def _erasing(parts: Parts, troubles: Troubles) -> Erasing:
    directory = parts.registry.directory
    return Erasing(
        registry=parts.registry,
        directory=directory,
        memberships=DirectMemberships(directory),
        log=parts.log,
        store=lambda: parts.store() if parts.known() is not None else None,
        blobs=None,
        memory=lambda: _memory(parts),
        clock=parts.clock,
        accept=lambda events: _accept(parts, events),
        certifying=parts.certifying,
        trouble=lambda: troubles.error,
        patience_s=PATIENCE_S,
    )


def _accept(parts: Parts, events: Iterable[ChangeEvent]) -> None:
    parts.engine.submit(list(events))


@contextmanager
def _memory(parts: Parts) -> Iterator[Transactions | None]:
    """What folders remember lies beside the events."""
    yield parts.log


def _check_not_followed(parts: Parts, wish: EraseWish) -> None:
    """Who follows the folder has it in memory, and would bring everything back."""
    for tenant, source in sorted(parts.followed):
        if tenant == wish.tenant and (wish.scope is Scope.TENANT or source == wish.name):
            raise Misconfigured(f"the source {source!r} is being followed; stop that run first")
