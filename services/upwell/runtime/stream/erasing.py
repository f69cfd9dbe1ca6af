"""Erasing from a distributed lake: the workers do it, and this waits for them and looks after them."""

from collections.abc import Iterator
from contextlib import closing, contextmanager

from upwell.runtime.erasing_parts import PATIENCE_S, Erasing
from upwell.runtime.replaying import Transactions
from upwell.runtime.stream.intake import Memory, alone
from upwell.runtime.stream.parts import LakeParts

MEMORY = "folders.sqlite"


def erasing(parts: LakeParts, patience_s: float = PATIENCE_S) -> Erasing:
    """What an erasure works with here."""
    return Erasing(
        registry=parts.registry,
        directory=parts.directory,
        memberships=parts.memberships,
        log=parts.ledger,
        store=parts.store,
        blobs=parts.blobs,
        memory=lambda: _memory(parts),
        clock=parts.clock,
        accept=parts.sink.accept,
        certifying=parts.certifying,
        noted=parts.noted,
        patience_s=patience_s,
    )


@contextmanager
def _memory(parts: LakeParts) -> Iterator[Transactions | None]:
    """What the folders of this machine remember, while no scan runs here; other machines' are not known here."""
    path = parts.folder / MEMORY
    if not path.exists():
        yield None
        return
    with alone(parts.folder), closing(Memory(path)) as memory:
        yield memory
