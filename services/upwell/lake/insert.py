"""Putting a plan's new points into the store, a small batch at a time, before anybody can see them."""

from collections.abc import Iterator, Sequence
from itertools import islice

from upwell.lake.fields import Fields, fields_of
from upwell.lake.plan import Addition, Plan
from upwell.lake.vectors import CountedVectors
from upwell.ports import DocumentRow, PointRecord, Store
from upwell.records import DocKey, Vectors

Group = list[Addition]
"""Additions of one embed_key: they share their vectors."""


class Insertion:
    """Inserts what a publish adds, over as many plans as it takes to win.

    A point that no manifest lists is invisible, so batches may go in one by one; equal ids hold equal content, so what
    is there already (from this publish, a rival, or a run that was cut short) is neither embedded nor inserted again.
    """

    def __init__(self, store: Store, source: CountedVectors, batch_chunks: int) -> None:
        self._store = store
        self._source = source
        self._batch_chunks = batch_chunks
        self._inserted: set[str] = set()
        self._holder: dict[str, str] = {}

    def insert(self, planned: Plan, row: DocumentRow, candidate: DocumentRow) -> None:
        """Insert the plan's additions and make them durable. `candidate` is what publishing makes of `row`.

        All points of a document carry one permission at any time, or a filter would show a part of it: the points that
        stay and the new ones both get that of `row` before the CAS, and the candidate's together after it. Nothing of
        a document never published can be seen before, so its points get the candidate's at once.
        """
        todo = [addition for addition in planned.add if addition.entry.point_id not in self._inserted]
        if len(todo) > self._batch_chunks:
            there = self._store.present(row.key)
            self._note(addition for addition in todo if addition.entry.point_id in there)
            todo = [addition for addition in todo if addition.entry.point_id not in there]
        first = row.version < 0
        copied = fields_of(candidate if first else row)
        self._insert(row.key, todo, copied | {"rev": row.rev})
        if planned.add:
            if not first:
                self._store.stamp(row.key, row.rev, copied)
            self._store.flush()

    def _insert(self, key: DocKey, todo: Sequence[Addition], fields: Fields) -> None:
        groups: dict[str, Group] = {}
        for addition in todo:
            groups.setdefault(addition.entry.embed_key, []).append(addition)
        for batch in _batches(iter(groups.values()), self._batch_chunks):
            vectors = self._vectors(batch)
            points = [
                _point(key, addition, vector, fields)
                for group, vector in zip(batch, vectors, strict=True)
                for addition in group
            ]
            self._store.insert(points)
            self._note(addition for group in batch for addition in group)

    def _note(self, additions: Iterator[Addition]) -> None:
        for addition in additions:
            self._inserted.add(addition.entry.point_id)
            self._holder[addition.entry.embed_key] = addition.entry.point_id

    def _vectors(self, batch: Sequence[Group]) -> list[Vectors]:
        """After a lost race the vectors are in points of ours that no manifest lists: take them from there if a rival
        has not pruned them yet."""
        keys = [group[0].entry.embed_key for group in batch]
        held = {key: self._holder[key] for key in keys if key in self._holder}
        known = self._store.vectors(sorted(held.values())) if held else {}
        ours = {key: known[point] for key, point in held.items() if point in known}
        wanted = [group[0].chunk for group in batch if group[0].entry.embed_key not in ours]
        drawn = iter(self._source(wanted) if wanted else [])
        return [ours[key] if key in ours else next(drawn) for key in keys]


def _point(key: DocKey, addition: Addition, vectors: Vectors, fields: Fields) -> PointRecord:
    return PointRecord(
        point_id=addition.entry.point_id,
        key=key,
        chunk_key=addition.entry.chunk_key,
        embed_key=addition.entry.embed_key,
        born=addition.entry.born,
        text=addition.chunk.text,
        vectors=vectors,
        fields=fields,
    )


def _batches(groups: Iterator[Group], size: int) -> Iterator[list[Group]]:
    while batch := list(islice(groups, size)):
        yield batch
