"""Erasing one document from every store of the embedded lake."""

from upwell.answers import EraseAnswer
from upwell.records import ChangeEvent, DocKey, Op, stable_hash
from upwell.runtime.parts import Parts
from upwell.runtime.tally import Tally


def erase(parts: Parts, key: DocKey) -> EraseAnswer:
    """Fence the document above everything accepted, remove what is left of it, and look whether anything is.

    Returns when the erasure is applied. Raises Retryable when it could not be; it stays in the log then.
    """
    row = parts.registry.row(key)
    now = parts.clock()
    version = max(now, row.version + 1 if row else 0)
    event = ChangeEvent(
        event_id=stable_hash(key.canonical, Op.ERASE, version),
        tenant=key.tenant,
        source=key.source,
        doc_id=key.doc_id,
        op=Op.ERASE,
        version=version,
        received_at=now,
    )
    before = len(parts.store().present(key))
    tally = Tally()
    with parts.engine.watching(tally):
        parts.engine.submit([event])
        tally.wait()
    entries = parts.log.erase(key)
    left = parts.store().present(key)
    return EraseAnswer(
        doc_id=key.doc_id,
        source=key.source,
        removed={"points": before - len(left), "log entries": entries},
        remaining=tuple(f"point {point_id}" for point_id in sorted(left)),
    )
