"""Where a source's scan puts what it finds: the events, what is remembered with them, and what was refused."""

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from typing import Protocol

import sqlalchemy as sa

from upwell.ports import Fate
from upwell.records import ChangeEvent, DocKey, Record
from upwell.runtime.engine import Engine
from upwell.runtime.eventlog import EventLog


class Refusals(Record, frozen=True, kw_only=True):
    """What never became an event (a name, a folder entry): `healed` (stage and reason of each) no longer holds,
    `found` is new.
    """

    healed: tuple[tuple[DocKey, str, str], ...] = ()
    found: tuple[tuple[DocKey, Fate], ...] = ()


class Intake(Protocol):
    """Takes a scan's batches. What a source remembers is never saved without its events being accepted."""

    def transaction(self) -> AbstractContextManager[sa.Connection]:
        """A transaction over what sources remember."""
        ...

    def take(self, events: Sequence[ChangeEvent], save: Callable[[sa.Connection], None], refusals: Refusals) -> None:
        """Accept the events durably, then (or with them) what `save` writes. Raises Retryable, Overloaded."""
        ...


class EngineIntake:
    """The embedded lake's: events, memory and dead letters in one transaction of the log."""

    def __init__(self, log: EventLog, engine: Engine) -> None:
        self._log = log
        self._engine = engine

    def transaction(self) -> AbstractContextManager[sa.Connection]:
        return self._log.transaction()

    def take(self, events: Sequence[ChangeEvent], save: Callable[[sa.Connection], None], refusals: Refusals) -> None:
        def also(connection: sa.Connection) -> None:
            save(connection)
            write_refusals(self._log, connection, refusals)

        self._engine.submit(events, also)


class Burying(Protocol):
    """An event log, as far as it takes dead letters in the caller's transaction."""

    def bury(self, connection: sa.Connection, key: DocKey, fate: Fate) -> None: ...

    def unbury(self, connection: sa.Connection, key: DocKey, stage: str, reason: str) -> None: ...


def write_refusals(log: Burying, connection: sa.Connection, refusals: Refusals) -> None:
    """Write them in the caller's transaction: the healed before the new, of one fault only the detail may change."""
    for key, stage, reason in refusals.healed:
        log.unbury(connection, key, stage, reason)
    for key, fate in refusals.found:
        log.bury(connection, key, fate)
