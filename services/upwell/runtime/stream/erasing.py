"""Erasing one document from a distributed lake: an event like any other, waited for, and looked after."""

import time

from upwell.answers import EraseAnswer
from upwell.errors import Retryable
from upwell.lake import decide
from upwell.ports import DocumentRow
from upwell.records import ChangeEvent, DocKey, Op
from upwell.runtime.erasing import erasure
from upwell.runtime.replaying import outcomes_of, pending_of
from upwell.runtime.stream.parts import LakeParts

PATIENCE_S = 120.0
MOST_FENCES = 5
POLL_S = 0.05


def erase(parts: LakeParts, key: DocKey, patience_s: float = PATIENCE_S) -> EraseAnswer:
    """Fence the document above everything accepted, wait until all of it has ended, and look in every store again.

    Raises Retryable when the workers do not get there in time; the erasure stays in the log then.
    """
    deadline = time.monotonic() + patience_s
    points, blobs = len(parts.store().present(key)), 0
    for _ in range(MOST_FENCES):
        event = erasure(key, parts.registry.row(key), parts.clock())
        parts.sink.accept([event])
        _until_ended(parts, key, event, deadline)
        blobs += parts.blobs.forget(key, event.version)
        if _erased(parts.registry.row(key)):
            break
    entries = parts.ledger.erase(key)
    left = sorted(parts.store().present(key))
    remaining = [f"point {point_id}" for point_id in left]
    if not _erased(parts.registry.row(key)):
        remaining.append("the document: newer versions of it keep coming")
    return EraseAnswer(
        doc_id=key.doc_id,
        source=key.source,
        removed={"points": points - len(left), "blobs": blobs, "log entries": entries},
        remaining=tuple(remaining),
    )


def _until_ended(parts: LakeParts, key: DocKey, event: ChangeEvent, deadline: float) -> None:
    """The erasure, and every event of the document that was accepted before it: a late one could bring words back.

    The ledger's word, not the registry's alone: what it had yet to read, it would write after it was made to forget.
    """
    while not outcomes_of(parts.ledger, [event.event_id]) or pending_of(parts.ledger, key):
        if time.monotonic() > deadline:
            raise Retryable(
                f"the erasure of {key.doc_id!r} is accepted and has not ended yet: do the workers and the ledger run? "
                "Run the same command again to see it through"
            )
        time.sleep(POLL_S)


def _erased(row: DocumentRow | None) -> bool:
    return row is not None and row.deleted and row.rank == decide.RANKS[Op.ERASE]
