"""What an erasure works with, as each runtime puts it together."""

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Protocol

from upwell.clock import Clock
from upwell.erase.remaining import Surroundings
from upwell.errors import Retryable
from upwell.ports import Blobs, Directory, MembershipSink, Registry, Signer, Store
from upwell.records import ChangeEvent
from upwell.runtime.replaying import Transactions

PATIENCE_S = 120.0


class Log(Transactions, Protocol):
    """The event log, or the ledger of a distributed lake."""

    def rewrite(self) -> None: ...


@dataclass(frozen=True)
class Certifying:
    """Who signs, and what the certificate has to say of the lake."""

    signer: Callable[[], Signer]
    where: Surroundings


@dataclass(frozen=True)
class Erasing:
    """What an erasure works with. `store` is None for a lake that holds nothing yet; `memory` what folders here
    remember, None where no folder was ever read.

    `accept` takes erasures into the log. `ended` takes the log's ends now and says, as often as it is asked, whether
    everything accepted before has been noted. `trouble` is what keeps events of these documents from ending.
    """

    registry: Registry
    directory: Directory
    memberships: MembershipSink
    log: Log
    store: Callable[[], Store | None]
    blobs: Blobs | None
    memory: Callable[[], AbstractContextManager[Transactions | None]]
    clock: Clock
    accept: Callable[[Sequence[ChangeEvent]], None]
    certifying: Certifying | None = None
    noted: Callable[[], Callable[[], bool]] = lambda: lambda: True
    trouble: Callable[[], Retryable | None] = lambda: None
    patience_s: float = PATIENCE_S
