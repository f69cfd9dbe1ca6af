"""Erasing, the same in both runtimes: fence, wait until everything earlier has ended, remove, look again, certify.

Each step may be repeated: after a crash anywhere the same wish goes on where it was. The certificate comes last, and
only when nothing was found but what it says itself.
"""

import time
from collections.abc import Callable, Iterable, Sequence

import msgspec

from upwell.answers import Certificate, EraseAnswer, EraseWish, Scope
from upwell.erase import plan
from upwell.erase.certificate import signed
from upwell.erase.plan import Ended, Found
from upwell.erase.remaining import Left
from upwell.errors import Retryable
from upwell.ports import DocumentRow, Registry, Store
from upwell.records import JSON_ENCODER, ChangeEvent, DocKey, Lane, Membership, Op, stable_hash
from upwell.runtime import remnants
from upwell.runtime.erasing_finds import counted, found_by
from upwell.runtime.erasing_parts import Erasing
from upwell.runtime.replaying import Transactions, some

MOST_FENCES = 5
POLL_S = 0.02
CERTIFICATE = "certificate:"
"""Under this and its id the registry keeps each certificate."""


def erasure(key: DocKey, row: DocumentRow | None, now: int, lane: Lane = Lane.LIVE) -> ChangeEvent:
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
        lane=lane,
    )


def erase(parts: Erasing, wish: EraseWish) -> EraseAnswer:
    """See `answers.LakeApi.erase_all`."""
    store = parts.store()
    found = found_by(parts, store, wish)
    with parts.memory() as memory:
        before = counted(parts, store, memory, wish, found)
        if wish.dry_run:
            return plan.expected(wish, found, before, parts.certifying.where if parts.certifying else None)
        signer = parts.certifying.signer() if parts.certifying else None  # no key, no erasure: before it begins
        ended = _removed(parts, wish, found, store, memory)
    ended = msgspec.structs.replace(ended, removed={**before, "remembered files": 0})
    certificate = None
    if not ended.remaining and parts.certifying is not None and signer is not None:
        certificate = signed(plan.certified(wish, ended, parts.certifying.where, parts.clock()), signer)
        _keep(parts.registry, certificate)
    return plan.answered(wish, found, ended, certificate)


def _removed(parts: Erasing, wish: EraseWish, found: Found, store: Store | None, memory: Transactions | None) -> Ended:
    """Everything but the certificate."""
    keys = found.keys
    events = remnants.traces(parts.log, keys).events
    _fence(parts, keys, Lane.LIVE if len(keys) == 1 else Lane.BACKFILL)
    for some_keys in some(keys):
        remnants.forget(parts.log, some_keys)
    if wish.scope in (Scope.SOURCE, Scope.TENANT):
        source = wish.name if wish.scope is Scope.SOURCE else None
        remnants.forget_place(parts.log, wish.tenant, source)
        if memory is not None:
            remnants.forget_folders(memory, wish.tenant, source)
    members = _forget_members(parts, wish, found)
    if store is not None:
        store.vacuum()
    parts.registry.rewrite()
    parts.log.rewrite()
    everything = (*keys, *found.finished)
    fences, remaining = _looked_again(parts, store, everything)
    remembered = remnants.remembered(memory, everything) if memory is not None else 0
    left = Left(
        documents=len(everything),
        remembered=remembered,
        directory=bool(members) or found.member,
        principal=wish.scope is Scope.PRINCIPAL,
        permissions=found.named,
    )
    return Ended(fences=fences, events=events, remaining=remaining, left=left)


def _fence(parts: Erasing, keys: Sequence[DocKey], lane: Lane) -> None:
    """Fence each document above everything accepted, and see all of that end. A document that had events in hand is
    fenced once more when they have ended, for what they wrote on their way may stand behind the first tombstones."""
    deadline = time.monotonic() + parts.patience_s
    waiting = list(keys)
    for _ in range(MOST_FENCES):
        again: list[DocKey] = []
        for portion in some(waiting):
            busy = [key for key in portion if remnants.traces(parts.log, [key]).pending]
            events = [erasure(key, parts.registry.row(key), parts.clock(), lane) for key in portion]
            parts.accept(events)
            deadline = max(deadline, time.monotonic() + parts.patience_s)
            _until_ended(parts, events, deadline)
            for event in events:
                if parts.blobs is not None:
                    parts.blobs.forget(event.key, event.version)
            again += [key for key in portion if key in busy or not plan.done(parts.registry.row(key))]
        if not again:
            return
        waiting = again


def _until_ended(parts: Erasing, events: Sequence[ChangeEvent], deadline: float) -> None:
    """The erasures, and every event of their documents that was accepted before: a late one could bring words back.

    The log's word, not the registry's alone: what a ledger had yet to read, it would write after it was made to forget.
    """
    keys = [event.key for event in events]
    applied = list(events)
    _wait(parts, lambda: not _unapplied(parts.registry, applied), deadline, keys)
    noted = parts.noted()
    _wait(parts, noted, deadline, keys)
    _wait(parts, lambda: not remnants.traces(parts.log, keys).pending, deadline, keys)


def _unapplied(registry: Registry, events: list[ChangeEvent]) -> bool:
    while events and registry.ended(events[0].key, events[0].event_id) is not None:
        events.pop(0)
    return bool(events)


def _wait(parts: Erasing, condition: Callable[[], bool], deadline: float, keys: Sequence[DocKey]) -> None:
    while not condition():
        trouble = parts.trouble()
        if trouble is not None:
            raise Retryable(f"{trouble}; nothing is lost: run the command again when that is mended")
        if time.monotonic() > deadline:
            what = repr(keys[0].doc_id) if len(keys) == 1 else f"{len(keys)} documents"
            raise Retryable(
                f"the erasure of {what} is accepted and has not ended yet: do the workers and the ledger run? "
                "Run the same command again to see it through"
            )
        time.sleep(POLL_S)


def _forget_members(parts: Erasing, wish: EraseWish, found: Found) -> int:
    """The directory's word on the principal, or on everybody of the tenant: gone, above every earlier one."""
    if wish.scope is Scope.TENANT:
        members = [member.principal for member in parts.directory.members(wish.tenant)]
    else:
        members = [wish.name] if found.member else []
    gone = [_gone(parts, wish.tenant, principal) for principal in members]
    deadline = time.monotonic() + parts.patience_s
    for member in gone:
        if not parts.memberships.effective(member, max(0.0, deadline - time.monotonic())):
            raise Retryable("a membership is not forgotten yet: do the workers run? Run the same command again")
    if wish.scope is Scope.TENANT and not parts.directory.forget(wish.tenant):
        raise Retryable("the tenant's directory is being fed: stop that, and run the same command again")
    return len(gone)


def _gone(parts: Erasing, tenant: str, principal: str) -> Membership:
    now = parts.clock()
    version = max(now, parts.directory.version(tenant, principal) + 1)
    member = Membership(tenant=tenant, principal=principal, version=version, gone=True, received_at=now)
    parts.memberships.put(member)
    return member


def _looked_again(
    parts: Erasing, store: Store | None, keys: Iterable[DocKey]
) -> tuple[dict[DocKey, int], tuple[str, ...]]:
    """Every document's fence, and everything that is still there and should not be."""
    fences: dict[DocKey, int] = {}
    remaining: list[str] = []
    for key in keys:
        row = parts.registry.row(key)
        fences[key] = row.version if row else -1
        if not plan.done(row):
            remaining.append(f"{key.source}/{key.doc_id}: newer versions of it keep coming")
            continue
        points = store.present(key) if store is not None else {}
        log = remnants.traces(parts.log, [key])
        blobs = parts.blobs.held(key, fences[key]) if parts.blobs is not None else 0
        counts = {
            **{f"{kind} in the registry": count for kind, count in parts.registry.traces(key).items()},
            "log entries": log.events,
            "dead letters": log.letters,
            "blobs": blobs,
        }
        remaining += [f"point {point_id}" for point_id in sorted(points)]
        remaining += [f"{key.source}/{key.doc_id}: {count} {kind}" for kind, count in counts.items() if count]
    return fences, tuple(remaining)


def _keep(registry: Registry, certificate: Certificate) -> None:
    registry.set_meta(CERTIFICATE + certificate.id, JSON_ENCODER.encode(certificate).decode())
