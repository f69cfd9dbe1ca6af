"""The store's promises over a dict: what the laws run against thousands of times."""

import msgspec

from upwell.ports import StoreHit

EVERY_NAME = ("acl_n", "allow_0", "allow_1", "allow_2", "deny")


class MemoryStore:
    """`ports.Store` in memory. Ranks nothing: a search returns whatever its filter admits, by id."""

    def __init__(self):
        self.points = {}
        self.fields = {}

    def insert(self, points):
        for point in points:
            if point.point_id not in self.points:
                self.points[point.point_id] = point
                self.fields[point.point_id] = {"rev": 0, **point.fields}

    def flush(self):
        pass

    def stamp(self, key, rev, fields):
        for point_id in self._of(key):
            if self.fields[point_id]["rev"] < rev:
                self.fields[point_id] |= {**fields, "rev": rev}

    def prune(self, key, generation, live):
        gone = [p for p in self._of(key) if self.points[p].born <= generation and p not in live]
        for point_id in gone:
            del self.points[point_id], self.fields[point_id]
        return len(gone)

    def present(self, key):
        return {point_id: self.points[point_id].born for point_id in self._of(key)}

    def vectors(self, point_ids):
        return {p: self.points[p].vectors for p in point_ids if p in self.points}

    def texts(self, point_ids):
        return {p: self.points[p].text for p in point_ids if p in self.points}

    def search(self, query):
        hits = [
            StoreHit(point_id=p, score=1.0, text=point.text, chunk_key=point.chunk_key, key=point.key)
            for p, point in sorted(self.points.items())
            if point.key.tenant == query.tenant
            and p not in query.exclude_points
            and point.key not in query.exclude_documents
            and (not query.sources or point.key.source in query.sources)
            and self._admits(self.fields[p], query.reader)
        ]
        return hits[: query.limit]

    def count(self):
        return len(self.points)

    def vacuum(self):
        pass

    def close(self):
        pass

    def lose(self, point_id):
        """Forget a point behind the registry's back."""
        del self.points[point_id], self.fields[point_id]

    def _of(self, key):
        return [p for p, point in self.points.items() if point.key == key]

    @staticmethod
    def _admits(fields, who):
        levels, allow_0, allow_1, allow_2, deny = (fields.get(name) or [] for name in EVERY_NAME)
        return (
            bool(who & set(allow_0))
            and (levels == 1 or bool(who & set(allow_1)))
            and (levels in {1, 2} or bool(who & set(allow_2)))
            and not who & set(deny)
        )


def copied(store, point_id):
    """The fields that a point carries now."""
    return msgspec.structs.replace(store.points[point_id], fields=store.fields[point_id]).fields
