"""Erasing one document: the event that does it, and the embedded lake's way to its end."""

from upwell.answers import EraseAnswer
from upwell.ports import DocumentRow
from upwell.records import ChangeEvent, DocKey, Op, stable_hash
from upwell.runtime.parts import Parts
from upwell.runtime.tally import Tally


def erasure(key: DocKey, row: DocumentRow | None, now: int) -> ChangeEvent:
    """The event that erases a document whose row stands as `row`, fenced above it."""
    version = max(now, row.version + 1 if row else 0)
    return ChangeEvent(
        event_id=stable_hash(key.canonical, Op.ERASE, version),
        tenant=key.tenant,
        source=key.source,
        doc_id=key.doc_id,
        op=Op.ERASE,
        version=version,
        received_at=now,
    )


def erase(parts: Parts, key: DocKey) -> EraseAnswer:
    """Fence the document above everything accepted, remove what is left of it, and look whether anything is.

    Returns when the erasure is applied. Raises Retryable when it could not be; it stays in the log then.
    """
    event = erasure(key, parts.registry.row(key), parts.clock())
    before = len(parts.store().present(key))
    entries = parts.log.erase(key)  # those of events that ended; the others follow when the erasure has ended them
    tally = Tally()
    with parts.engine.watching(tally):
        parts.engine.submit([event])
        tally.wait()
    entries += parts.log.erase(key)
    left = parts.store().present(key)
    return EraseAnswer(
        doc_id=key.doc_id,
        source=key.source,
        removed={"points": before - len(left), "log entries": entries},
        remaining=tuple(f"point {point_id}" for point_id in sorted(left)),
    )
