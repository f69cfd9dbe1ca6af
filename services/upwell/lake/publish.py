"""The publish protocol: one version of a document becomes visible whole, in one transaction of the registry.

The control lane applies permissions, deletes and erasures at once: `bind` makes them effective, `control` brings the
stores to them; `publish` brings content; `fail` ends what will not parse. Each may be called again for the same event,
from several threads and processes, and after a crash anywhere: a loser of a race deletes nothing, reads again and plans
again.
"""

from collections.abc import Callable, Mapping, Sequence

import msgspec

from upwell.clock import Clock
from upwell.lake import decide
from upwell.lake.changes import Changes, Known, Unsettled
from upwell.lake.converge import Converged, Convergence, Manifests
from upwell.lake.family import family_chunks
from upwell.lake.insert import Insertion
from upwell.lake.plan import Plan, emptied, plan
from upwell.lake.vectors import CountedVectors, VectorsFor, keyed
from upwell.ports import DocumentRow, Manifest, Registry, Store
from upwell.records import ChangeEvent, DocKey, Lane, Op, Outcome, ParseStatus, PreparedDocument, Record

BATCH_CHUNKS = 16
"""How many chunks are embedded and inserted at a time."""


class PublishResult(Record, frozen=True, kw_only=True):
    """How an event ended, and what it cost: chunks kept, reused (vectors from the lake), embedded and removed."""

    outcome: Outcome
    kept: int = 0
    reused: int = 0
    embedded: int = 0
    removed: int = 0
    tokens_embedded: int = 0
    detail: str = ""


class SweepResult(Record, frozen=True, kw_only=True):
    """What a sweep found: documents looked at, points pruned, and documents with points to embed again."""

    documents: int = 0
    pruned: int = 0
    missing: tuple[DocKey, ...] = ()


class Publisher:
    """Applies events to the lake. `active` is the pipeline that publishes; every store given is kept converged.

    `model` is the embedder's fingerprint. Raises Retryable when a part is away, and what the vector source raises.
    """

    def __init__(
        self,
        registry: Registry,
        stores: Mapping[str, Store],
        *,
        active: str,
        model: str,
        vectors: VectorsFor,
        clock: Clock,
        batch_chunks: int = BATCH_CHUNKS,
    ) -> None:
        self._registry = registry
        self._convergence = Convergence(registry, stores)
        self._changes = Changes(registry, self._convergence, clock)
        self._binding = Changes(registry, Unsettled(registry, stores), clock)
        self._store = stores[active]
        self._active = active
        self._model = model
        self._vectors = vectors
        self._clock = clock
        self._batch_chunks = batch_chunks

    def bind(self, event: ChangeEvent) -> bool:
        """Commit what `control` would, in the registry alone: no search that ends from now on shows what it takes away.

        True if anything was committed: `control` is still to come, with `bound`. Without, it finds as after a crash
        what has been done. An upsert that has nothing to say before its content comes binds nothing.
        """
        match event.op:
            case Op.ACL:
                return self._binding.permit(event, ending=True) is not None
            case Op.DELETE | Op.ERASE:
                return self._binding.bury(event) is not None
            case Op.UPSERT:
                if not decide.binds_before_content(self._registry.row(event.key), event):
                    return False
                permitted = self._binding.permit(event) is not None
                return self._binding.move_away(event) or permitted

    def bind_all(self, events: Sequence[ChangeEvent]) -> list[bool]:
        """`bind` for many, in one transaction: all of it or, when it raises, nothing."""
        with self._registry.together():
            return [self.bind(event) for event in events]

    def announce(self, event: ChangeEvent) -> None:
        """Apply what an upsert says before its content comes, and end nothing: its content always follows.

        That is its permission, of an unseen document too (its first content may be on its way with a wider one), and
        the old id's tombstone of a move.
        """
        row = self._registry.row(event.key)
        if row is None:
            self._changes.permit(event, known=self._convergence.unseen(event.key))
        elif decide.permitted(row, event) is not None:
            self._changes.permit(event)
        self._changes.move_away(event)

    def control(self, event: ChangeEvent, *, bound: bool = False) -> PublishResult | None:
        """Apply at once what must not wait: a permission, a delete, an erase, the old id's tombstone of a move.

        None if the event's content has still to be prepared and published. `bound`: `bind` has committed it, and only
        the stores have to follow.
        """
        if bound:
            return self._follow(event)
        match event.op:
            case Op.ACL:
                row = self._changes.permit(event, ending=True)
                return self._overtaken(event) if row is None else PublishResult(outcome=Outcome.APPLIED)
            case Op.DELETE | Op.ERASE:
                return self._bury(event)
            case Op.UPSERT:
                permitted = self._changes.permit(event)
                self._changes.move_away(event)
                row = permitted or self._registry.row(event.key)
                return self._overtaken(event) if row is not None and decide.overtaken(row, event) else None

    def publish(
        self,
        event: ChangeEvent,
        prepared: PreparedDocument,
        *,
        repair: bool = False,
        vectors: CountedVectors | None = None,
    ) -> PublishResult:
        """Make this version the visible one, unless something newer stands; then nothing but converging is done.

        `repair` publishes the version that stands once more, for points that went missing or a pipeline that is new.
        `vectors` takes the place of the publisher's own source, for vectors that came with the document.
        """
        if prepared.status not in {ParseStatus.OK, ParseStatus.EMPTY}:
            return self.fail(event, prepared.status, prepared.status)
        known = self._convergence.read(event.key)
        permitted = known[0].rev > 0 and self._changes.permit(event, known=known) is not None
        self._changes.move_away(event)
        unchanged = None if permitted else known
        return self._bring(event, prepared, Outcome.APPLIED, repair=repair, vectors=vectors, known=unchanged)

    def fail(self, event: ChangeEvent, status: ParseStatus | None, reason: str) -> PublishResult:
        """End an event whose content cannot be had: the last good version stays, marked stale with `reason` (a word).

        `encrypted` hides the document: somebody locked it.
        """
        if event.op is not Op.UPSERT:
            self._registry.record(self._changes.entry(event, Outcome.DEAD, reason))
            return PublishResult(outcome=Outcome.DEAD, detail=reason)
        self._changes.permit(event)
        self._changes.move_away(event)
        if status == ParseStatus.ENCRYPTED:
            return self._bring(event, PreparedDocument(status=status, reason=reason), Outcome.DEAD)
        if not self._changes.mark_failed(event, status, reason):
            return self._overtaken(event)
        self._changes.release(event)
        return PublishResult(outcome=Outcome.DEAD, detail=reason)

    def supersede(self, event: ChangeEvent) -> PublishResult:
        """End an event whose content nobody can have any more: its source has gone on, and newer events follow."""
        return self._overtaken(event)

    def converge(self, key: DocKey) -> Converged:
        """Bring every collection to what the registry says of one document."""
        return self._convergence.converge(key)

    def sweep(self, *, fence: bool = False, go_on: Callable[[], bool] = lambda: True) -> SweepResult:
        """Converge every document, and release holds whose move has ended. `fence`: see `Convergence.converge`.

        `go_on` is asked after each document: it may take its time, and ends the sweep with False.
        """
        documents, pruned = 0, 0
        missing: list[DocKey] = []
        for row in self._registry.rows():
            self._changes.release_ended(row)
            converged = self._convergence.converge(row.key, fence=fence)
            documents += 1
            pruned += converged.pruned
            if self._active in converged.missing:
                missing.append(row.key)
            if not go_on():
                break
        return SweepResult(documents=documents, pruned=pruned, missing=tuple(missing))

    def _bring(
        self,
        event: ChangeEvent,
        prepared: PreparedDocument,
        outcome: Outcome,
        *,
        repair: bool = False,
        vectors: CountedVectors | None = None,
        known: Known | None = None,
    ) -> PublishResult:
        """Steps 2 to 6: plan, insert, compare-and-set, converge; again from the start after a lost race."""
        source = vectors or self._vectors(event)
        insertion = Insertion(self._store, source, self._batch_chunks)
        chunks = keyed(family_chunks(prepared), self._model)
        offered = (event.version, decide.RANKS[Op.UPSERT], decide.content_hash(event, prepared), "")
        entry = self._changes.entry(event, outcome, prepared.reason or "")

        def step(row: DocumentRow, manifests: Manifests) -> tuple[Plan | None] | None:
            same = offered == decide.order_of(row)
            if offered < decide.order_of(row):
                return (None,)
            whole = self._present(event.key, manifests[self._active])
            if same and not repair and whole.generation and whole == manifests[self._active]:
                return (None,)
            planned = plan(chunks, whole, event.key)
            candidate = decide.published(row, event, prepared, self._model)
            insertion.insert(planned, row, candidate)
            searchable_at = row.searchable_at if same else None
            candidate = msgspec.structs.replace(candidate, searchable_at=searchable_at or self._clock())
            after = manifests if same else {name: emptied(manifest) for name, manifest in manifests.items()}
            after |= {self._active: planned.manifest}
            committed = self._changes.commit(candidate, after, entry)
            if committed is None:
                return None
            self._convergence.settle(committed, after, durably=row.version >= 0)
            return (planned,)

        (planned,) = self._changes.until(event.key, step, known)
        if planned is None:
            return self._overtaken(event)
        moved = self._changes.release(event)
        return PublishResult(
            outcome=outcome,
            kept=len(planned.keep),
            reused=source.reused,
            embedded=source.embedded,
            removed=len(planned.remove) + moved,
            tokens_embedded=source.tokens_embedded,
            detail=prepared.reason or "",
        )

    def _follow(self, event: ChangeEvent) -> PublishResult | None:
        row, removed = self._changes.settle(event.key)
        if event.op is Op.UPSERT:
            if event.previous_key is not None:
                self._changes.settle(event.previous_key)
            return self._overtaken(event) if decide.overtaken(row, event) else None
        if event.op is Op.ERASE:
            self._scrub(event)
        return PublishResult(outcome=Outcome.APPLIED, removed=0 if event.op is Op.ACL else removed)

    def _bury(self, event: ChangeEvent) -> PublishResult:
        removed = self._changes.bury(event)
        if removed is None:
            return self._overtaken(event)
        if event.op is Op.ERASE:
            self._scrub(event)
        return PublishResult(outcome=Outcome.APPLIED, removed=removed)

    def _overtaken(self, event: ChangeEvent) -> PublishResult:
        """What the event asks for stands already, or something newer does: note the end it has not had, and converge.

        Also the way of an event that is delivered again after a crash, so whatever its first delivery left undone is
        done here: its permission, too, is newer or older on its own account.
        """
        if event.op is not Op.ACL:
            self._changes.permit(event)
        known = self._registry.ended(event.key, event.event_id)
        outcome = Outcome.SUPERSEDED if known is None else known.outcome
        if known is None:
            self._registry.record(self._changes.entry(event, outcome))
        self._convergence.converge(event.key)
        self._changes.release(event)
        row = self._registry.row(event.key)
        if row is not None and row.rank == decide.RANKS[Op.ERASE]:
            self._scrub(event)
        return PublishResult(outcome=outcome, detail="" if known is None else known.detail)

    def _present(self, key: DocKey, live: Manifest) -> Manifest:
        """The manifest without the points that its store has lost."""
        missing = frozenset(self._convergence.missing(self._active, key, live))
        if not missing:
            return live
        entries = tuple(entry for entry in live.entries if entry.point_id not in missing)
        return Manifest(generation=live.generation, entries=entries)

    def _scrub(self, event: ChangeEvent) -> None:
        """Leave no word of an erased document in any file. An erasure that is one of many (in the backfill lane) leaves
        the files to whoever sends them all, for rewriting those costs the same for one as for thousands."""
        one_of_many = event.op is Op.ERASE and event.lane is Lane.BACKFILL
        self._registry.purge(event.key, files=not one_of_many)
        if one_of_many:
            return
        for store in self._convergence.stores.values():
            store.vacuum()
