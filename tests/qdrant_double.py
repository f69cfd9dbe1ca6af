"""The stub, with points: Qdrant's routes over the client's own local mode, and trouble on the way.

What is sent over HTTP has an effect here and comes back in a server's form. How a server plans, orders and replicates it
proves nothing of: that is for a real one (`qdrant_servers`).
"""

import threading

from pydantic import TypeAdapter
from qdrant_client import QdrantClient, models

from qdrant_stub import Stub, refusal

NAME = "lake"
SELECTOR = TypeAdapter(models.PointsSelector)


class Double(Stub):
    """One collection, made by whoever opens it. `trouble()` is asked at each request for points: None, or (True if the
    request takes effect all the same, the answer that is given in its place)."""

    def __init__(self, version="1.19.0", trouble=lambda: None):
        super().__init__(version, made=False, indexed=())
        self.trouble = trouble
        self.local = QdrantClient(":memory:")
        self.one_at_a_time = threading.Lock()

    def reply(self, method, path, body):
        _, points, end = path.partition(f"collections/{NAME}/points")
        if not points:
            return super().reply(method, path, body)
        with self.one_at_a_time:
            met = self.trouble()
            if met is not None and not met[0]:
                return met[1]
            try:
                result = ROUTES[method, end](self.local, body)
            except ValueError as error:
                return 400, refusal(f"Wrong input: {error}")
            return met[1] if met else (200, {"result": result, "status": "ok", "time": 0.0})

    def collection(self, method, path, body):
        if path.endswith(f"collections/{NAME}") and method == "PUT" and not self.made:
            wanted = models.CreateCollection(**body)
            self.local.create_collection(
                NAME, vectors_config=wanted.vectors, sparse_vectors_config=wanted.sparse_vectors
            )
        return super().collection(method, path, body)


def upsert(local, body):
    sent = models.PointsList(**body)
    return plain(local.upsert(NAME, sent.points, update_mode=sent.update_mode))


def retrieve(local, body):
    sent = models.PointRequest(**body)
    found = local.retrieve(NAME, sent.ids, with_payload=sent.with_payload, with_vectors=sent.with_vector)
    return [plain(record) for record in found]


def stamp(local, body):
    sent = models.SetPayload(**body)
    return plain(local.set_payload(NAME, sent.payload, points=sent.filter or sent.points))


def delete(local, body):
    return plain(local.delete(NAME, SELECTOR.validate_python(body)))


def scroll(local, body):
    sent = models.ScrollRequest(**body)
    page, offset = local.scroll(
        NAME, scroll_filter=sent.filter, limit=sent.limit, offset=sent.offset, with_payload=sent.with_payload
    )
    return {"points": [plain(record) for record in page], "next_page_offset": offset}


def count(local, body):
    sent = models.CountRequest(**body)
    return plain(local.count(NAME, count_filter=sent.filter, exact=sent.exact))


def query(local, body):
    return [plain(found) for found in local.query_batch_points(NAME, models.QueryRequestBatch(**body).searches)]


def plain(model):
    """What a server would send of it."""
    return model.model_dump(mode="json", exclude_none=True)


ROUTES = {
    ("PUT", ""): upsert,
    ("POST", ""): retrieve,
    ("POST", "/payload"): stamp,
    ("POST", "/delete"): delete,
    ("POST", "/scroll"): scroll,
    ("POST", "/count"): count,
    ("POST", "/query/batch"): query,
}
