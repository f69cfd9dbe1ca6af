"""The vectors that this worker has made lately: between two versions in quick succession nothing is embedded twice."""

from collections import OrderedDict

from upwell.records import Vectors

RECENT_BYTES = 64 * 1024 * 1024
"""About 400 chunks with MiniLM, 2,500 with the hash embedder."""

Place = tuple[str, str]


class RecentVectors:
    """(tenant, embed_key) -> vectors, at most `limit_bytes` of them, the least lately used forgotten first."""

    def __init__(self, limit_bytes: int = RECENT_BYTES) -> None:
        self._limit_bytes = limit_bytes
        self._known: OrderedDict[Place, Vectors] = OrderedDict()
        self._bytes = 0

    def get(self, tenant: str, embed_key: str) -> Vectors | None:
        found = self._known.get((tenant, embed_key))
        if found is not None:
            self._known.move_to_end((tenant, embed_key))
        return found

    def put(self, tenant: str, embed_key: str, vectors: Vectors) -> None:
        before = self._known.pop((tenant, embed_key), None)
        self._bytes += size_bytes(vectors) - (0 if before is None else size_bytes(before))
        self._known[tenant, embed_key] = vectors
        while self._bytes > self._limit_bytes:
            _, oldest = self._known.popitem(last=False)
            self._bytes -= size_bytes(oldest)


def size_bytes(vectors: Vectors) -> int:
    """Bytes in memory, nearly: the packed ones, and two Python numbers a sparse pair."""
    return len(vectors.dense) + len(vectors.late) + 80 * len(vectors.sparse_indices)
