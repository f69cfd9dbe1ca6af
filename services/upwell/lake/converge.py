"""Bring the collections to what the registry says: idempotent, monotone, safe beside running publishes.

A prune deletes what was born by the generation it has read and is not in that manifest: a point that lives now and was
born by then has lived ever since, so however late the prune runs it never deletes a live point. A stamp rewrites only
what an older row has written.
"""

from collections.abc import Mapping

import msgspec

from upwell.lake.fields import fields_of
from upwell.lake.plan import bumped
from upwell.ports import DocumentRow, Manifest, Registry, Store
from upwell.records import DocKey, Record

Manifests = dict[str, Manifest]


class Converged(Record, frozen=True, kw_only=True):
    """What converging found: points pruned, and (pipeline -> point ids) what a manifest lists but no store holds."""

    pruned: int = 0
    missing: dict[str, tuple[str, ...]] = {}


class Convergence:
    """Converges documents in every collection it was given (pipeline -> store)."""

    def __init__(self, registry: Registry, stores: Mapping[str, Store]) -> None:
        self._registry = registry
        self.stores = dict(stores)

    def read(self, key: DocKey) -> tuple[DocumentRow, Manifests]:
        """The row (a blank one if there is none) and its manifests in every pipeline, as they stand together.

        Together, because points are born by the generation read: a row and a manifest of two moments would let a
        publish that loses its race leave points that no prune of that generation reaches.
        """
        row, manifests = self._registry.read(key)
        return self.unseen(key) if row is None else (row, {name: Manifest() for name in self.stores} | manifests)

    def unseen(self, key: DocKey) -> tuple[DocumentRow, Manifests]:
        """What is read of a document that has no row."""
        return DocumentRow(key=key), {name: Manifest() for name in self.stores}

    def settle(self, row: DocumentRow, manifests: Manifests, *, durably: bool = True) -> int:
        """Prune and stamp by a row and manifests just read or committed; returns how many points were pruned."""
        pruned = 0
        for name, store in self.stores.items():
            manifest = manifests[name]
            gone = store.prune(row.key, manifest.generation, live_points(manifest))
            if manifest.entries:
                store.stamp(row.key, row.rev, fields_of(row))
            if gone or durably:
                store.flush()
            pruned += gone
        return pruned

    def converge(self, key: DocKey, *, fence: bool = False) -> Converged:
        """Read the row again and settle it; say which manifest points are missing.

        With `fence` the points of a publish that never came to its end are pruned too (a running one of this document
        would have to begin again): for a start, before there are publishers.
        """
        row, manifests = self.read(key)
        if row.rev == 0:
            return Converged()
        if fence and self._strays(key, manifests):
            later = {name: bumped(manifest) for name, manifest in manifests.items()}
            if self._registry.commit(row, expected_rev=row.rev, manifests=later):
                row, manifests = msgspec.structs.replace(row, rev=row.rev + 1), later
        pruned = self.settle(row, manifests)
        missing = {name: self.missing(name, key, manifest) for name, manifest in manifests.items()}
        return Converged(pruned=pruned, missing={name: points for name, points in missing.items() if points})

    def missing(self, pipeline: str, key: DocKey, manifest: Manifest) -> tuple[str, ...]:
        """Points that the manifest lists and the pipeline's store does not hold."""
        if not manifest.entries or pipeline not in self.stores:
            return ()
        return tuple(sorted(live_points(manifest) - self.stores[pipeline].present(key).keys()))

    def _strays(self, key: DocKey, manifests: Manifests) -> bool:
        return any(
            born > manifests[name].generation
            for name, store in self.stores.items()
            for born in store.present(key).values()
        )


def live_points(manifest: Manifest) -> frozenset[str]:
    """The ids of the manifest's points."""
    return frozenset(entry.point_id for entry in manifest.entries)
