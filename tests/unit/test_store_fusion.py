"""How the branches of a search become one list of hits."""

import numpy as np

from upwell.lake.store.fusion import hits_of
from upwell.ports import QueryVectors, StoreQuery

PAYLOAD = {"tenant": "t", "source": "s", "doc_id": "d", "text": "words", "chunk_key": "k"}


def query(limit=10):
    one = np.ones(2, np.float32).tobytes()
    return StoreQuery(
        tenant="t",
        vectors=QueryVectors(dense=one, late=one, late_count=1, sparse_indices=(), sparse_values=()),
        reader=frozenset({"user:ana"}),
        limit=limit,
        prefetch=10,
    )


def test_ranks_of_equal_scores_do_not_tell_the_order_in_which_a_store_keeps_its_points():
    reranked = [(name, 1.0, PAYLOAD) for name in "abc"]
    one = hits_of(query(), [("b", 0.5), ("a", 0.5), ("c", 0.9)], [], reranked)
    other = hits_of(query(), [("c", 0.9), ("a", 0.5), ("b", 0.5)], [], reranked)
    assert one == other
    assert {hit.point_id: hit.why["dense"] for hit in one} == {"c": 1.0, "a": 2.0, "b": 3.0}
