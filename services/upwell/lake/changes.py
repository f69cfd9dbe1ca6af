"""Changes of rows that need no content (permissions, tombstones, holds, failures): a compare-and-set, then converge."""

from collections.abc import Callable
from typing import TypeVar

import msgspec

from upwell.clock import Clock
from upwell.errors import Retryable
from upwell.lake import decide
from upwell.lake.converge import Convergence, Manifests
from upwell.lake.plan import bumped, emptied
from upwell.ports import AppliedEntry, DocumentRow, Registry
from upwell.records import ChangeEvent, DocKey, Op, Outcome, ParseStatus

MOVE = "move"
"""The `op` of the history line that a move leaves at the old id."""

RIVALS = 1000
"""How many lost races of one change are thought normal; each means that somebody else got further."""

Ended = TypeVar("Ended")
Known = tuple[DocumentRow, Manifests]
"""A row and manifests that were read together. If they are no longer what stands, the compare-and-set says so."""


class Unsettled(Convergence):
    """Reads as a convergence does, and leaves the settling to a later step."""

    def settle(self, row: DocumentRow, manifests: Manifests, *, durably: bool = True) -> int:  # noqa: ARG002
        return 0


class Changes:
    """Applies decisions to rows. Every method may be called again after a crash anywhere inside it."""

    def __init__(self, registry: Registry, convergence: Convergence, clock: Clock) -> None:
        self._registry = registry
        self._convergence = convergence
        self._clock = clock

    def until(
        self, key: DocKey, step: Callable[[DocumentRow, Manifests], Ended | None], known: Known | None = None
    ) -> Ended:
        """Call `step` on the row and manifests as they stand now until it does not lose its race (None). `known` is
        what was read of them a moment ago."""
        for _ in range(RIVALS):
            ended = step(*(known or self._convergence.read(key)))
            if ended is not None:
                return ended
            known = None
        raise Retryable("the document changes faster than it can be published")

    def commit(
        self,
        row: DocumentRow,
        manifests: Manifests | None = None,
        entry: AppliedEntry | None = None,
        act: AppliedEntry | None = None,
    ) -> DocumentRow | None:
        """The row as committed, or None if another change came first. `row.rev` is the revision it was made from."""
        if not self._registry.commit(row, expected_rev=row.rev, manifests=manifests, entry=entry, act=act):
            return None
        return msgspec.structs.replace(row, rev=row.rev + 1)

    def entry(self, event: ChangeEvent, outcome: Outcome, detail: str = "") -> AppliedEntry:
        """The history line of an event's end."""
        return AppliedEntry(
            key=event.key,
            at=self._clock(),
            event_id=event.event_id,
            op=str(event.op),
            version=event.version,
            acl_version=event.acl_version,
            outcome=outcome,
            detail=detail,
        )

    def permit(self, event: ChangeEvent, *, ending: bool = False, known: Known | None = None) -> DocumentRow | None:
        """Accept the event's permission; None if it brings no newer one. With `ending` the event ends with it. `known`
        is as in `until`."""

        def step(row: DocumentRow, manifests: Manifests) -> tuple[DocumentRow | None] | None:
            permitted = decide.permitted(row, event)
            if permitted is None:
                return (None,)
            detail = "permission unknown" if event.acl_missing is not None else _waits(permitted)
            entry = self.entry(event, Outcome.APPLIED, detail) if ending else None
            changes = row.rev > 0 and permitted.effective_acl != row.effective_acl
            act = self._permission(event) if changes and not ending else None
            committed = self.commit(permitted, entry=entry, act=act)
            if committed is None:
                return None
            if committed.version >= 0 and changes:
                self._convergence.settle(committed, manifests)
            return (committed,)

        (changed,) = self.until(event.key, step, known)
        return changed

    def bury(self, event: ChangeEvent) -> int | None:
        """Leave the tombstone of a delete or an erase; how many live chunks it took away, or None if it comes late."""

        def step(row: DocumentRow, manifests: Manifests) -> tuple[int | None] | None:
            gone = decide.buried(row, event)
            if gone is None:
                return (None,) if self._ended(row, manifests, event) else None
            empty = {name: emptied(manifest) for name, manifest in manifests.items()}
            committed = self.commit(gone, empty, self.entry(event, Outcome.APPLIED))
            if committed is None:
                return None
            self._convergence.settle(committed, empty)
            return (max((len(manifest.entries) for manifest in manifests.values()), default=0),)

        (removed,) = self.until(event.key, step)
        return removed

    def move_away(self, event: ChangeEvent) -> bool:
        """Hide the old id of a move at once, and hold its points: they are the new id's vectors. Where something newer
        stands, only what was permitted before is ended. False if nothing changes (any more)."""
        previous = event.previous_key
        if previous is None or previous == event.key:
            return False

        def step(row: DocumentRow, manifests: Manifests) -> bool | None:
            gone = decide.moved_away(row, event)
            if gone is None:
                known = row.rev
                ended = self._ended(row, manifests, event)
                return None if ended is None else ended.rev != known
            moved = self.entry(event, Outcome.APPLIED, f"moved to {event.doc_id}")
            committed = self.commit(gone, entry=msgspec.structs.replace(moved, key=previous, op=MOVE))
            if committed is None:
                return None
            self._convergence.settle(committed, manifests)
            return True

        return self.until(previous, step)

    def settle(self, key: DocKey) -> tuple[DocumentRow, int]:
        """Bring the collections to what was committed of a document that has content, or had: what that is, and how
        many points were pruned."""
        row, manifests = self._convergence.read(key)
        return row, self._convergence.settle(row, manifests) if row.version >= 0 else 0

    def release(self, event: ChangeEvent) -> int:
        """The move's event has ended, however: let the old id's points go; returns how many."""
        previous = event.previous_key
        if previous is None or previous == event.key:
            return 0
        return self._release(previous, lambda row: decide.released(row, event))

    def release_ended(self, row: DocumentRow) -> None:
        """Let go of a hold whose move has ended, for all that the registry knows, without releasing it."""
        if not row.hold or row.moved_to is None:
            return
        target = self._registry.row(msgspec.structs.replace(row.key, doc_id=row.moved_to))
        if target is not None and max(target.version, target.failed_version) >= row.version:
            unchanged = row.rev
            self._release(
                row.key, lambda now: msgspec.structs.replace(now, hold=False) if now.rev == unchanged else None
            )

    def mark_failed(self, event: ChangeEvent, status: ParseStatus | None, reason: str) -> bool:
        """Mark what stands as stale, and make sure that nothing of the failed version stays behind in a store.

        False if what stands is not older than the event.
        """
        dead = self.entry(event, Outcome.DEAD, reason)

        def step(row: DocumentRow, manifests: Manifests) -> bool | None:
            if event.version <= row.version:
                return False
            failed = decide.failed(row, event, status, reason, self._clock())
            later = {name: bumped(manifest) for name, manifest in manifests.items()}
            committed = self.commit(failed, later, dead)
            if committed is None:
                return None
            self._convergence.settle(committed, later)
            return True

        return self.until(event.key, step)

    def _ended(self, row: DocumentRow, manifests: Manifests, event: ChangeEvent) -> DocumentRow | None:
        """The row with the permissions ended that a late tombstone ends; None if the race was lost."""
        ended = decide.ended(row, event)
        if ended is None:
            return row
        changes = ended.effective_acl != row.effective_acl
        act = msgspec.structs.replace(self._permission(event), key=row.key) if changes else None
        committed = self.commit(ended, act=act)
        if committed is not None:
            self._convergence.settle(committed, manifests)
        return committed

    def _permission(self, event: ChangeEvent) -> AppliedEntry:
        """What an event does to a document's permission before it has ended, for the audit."""
        return msgspec.structs.replace(self.entry(event, Outcome.APPLIED), op=str(Op.ACL))

    def _release(self, key: DocKey, decision: Callable[[DocumentRow], DocumentRow | None]) -> int:
        def step(row: DocumentRow, manifests: Manifests) -> int | None:
            freed = decision(row)
            if freed is None:
                pruned = self._convergence.settle(row, manifests)
                return pruned if row.deleted else 0
            empty = {name: emptied(manifest) for name, manifest in manifests.items()}
            committed = self.commit(freed, empty)
            if committed is None:
                return None
            return self._convergence.settle(committed, empty)

        return self.until(key, step)


def _waits(row: DocumentRow) -> str:
    later = max((waiting.version for waiting in row.pending), default=0)
    return f"waits for version {later}" if later > row.version else ""
