"""A port that answers a few of a Qdrant server's requests as it is told, and remembers what it was asked.

Holds no points: it proves what is sent and how answers are taken, nothing of how a server behaves.
"""

import json
import threading
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

DIM = 16
OK = {"result": {"operation_id": 1, "status": "completed"}, "status": "ok", "time": 0.0}
FIELDS = ("tenant", "source", "doc", "allow_0", "allow_1", "allow_2", "deny")
NUMBERS = ("acl_n", "born", "rev")

HANGS_UP, CUT, SILENT = (None, "hangs up"), (None, "cut"), (None, "silent")


class Stub:
    """`answers` are (method, end of the path) -> list of (status, body), used one after the other, the last for good.
    An answer may be HANGS_UP, CUT, or SILENT (until the stub's `done` is set) instead of a status and a body. `limit` is (number, answer): what is answered to a write of so many points or more."""

    def __init__(self, version="1.19.0", **collection):
        self.asked = []
        self.made = collection.get("made", True)
        self.indexed = set(collection.get("indexed", (*FIELDS, *NUMBERS)))
        self.modifier = collection.get("modifier", "idf")
        self.limit = None
        self.retry_after = "7"
        self.done = threading.Event()
        self.answers = {("GET", ""): [(200, {"title": "qdrant", "version": version})]}

    def answer(self, method, path, *answers):
        self.answers[method, path] = list(answers)

    def bodies(self, method, path):
        """What was sent to there, as (query, JSON)."""
        return [(query, body) for m, p, query, body, _ in self.asked if m == method and p.endswith(path)]

    def reply(self, method, path, body):
        for (of, end), planned in self.answers.items():
            if of == method and (path.strip("/").endswith(end) if end else path.strip("/") in {"", "behind/proxy"}):
                return planned.pop(0) if len(planned) > 1 else planned[0]
        return self.collection(method, path, body)

    def collection(self, method, path, body):
        if self.limit and path.endswith("lake/points") and method == "PUT" and len(body["points"]) >= self.limit[0]:
            return self.limit[1]
        if path.endswith("/exists"):
            return 200, {"result": {"exists": self.made}, "status": "ok", "time": 0.0}
        if path.endswith("/index"):
            self.indexed.add(body["field_name"])
            return 200, OK
        if path.endswith("/collections/lake") and method == "PUT":
            self.made = True
            self.modifier = body["sparse_vectors"]["sparse"].get("modifier")
            return 200, {"result": True, "status": "ok", "time": 0.0}
        if path.endswith("/collections/lake") and method == "GET":
            return (200, self.info()) if self.made else (404, refusal("Not found: Collection `lake` doesn't exist!"))
        return 200, OK

    def info(self):
        schema = {name: {"data_type": "keyword", "points": 0} for name in self.indexed & set(FIELDS)}
        schema |= {name: {"data_type": "integer", "points": 0} for name in self.indexed & set(NUMBERS)}
        vector = {"size": DIM, "distance": "Cosine"}
        sparse = {"sparse": {"modifier": self.modifier} if self.modifier else {}}
        config = {
            "params": {"vectors": {"dense": vector, "late": vector}, "sparse_vectors": sparse},
            "hnsw_config": {"m": 16, "ef_construct": 100, "full_scan_threshold": 10000},
            "optimizer_config": {
                "deleted_threshold": 0.2,
                "vacuum_min_vector_number": 1000,
                "default_segment_number": 0,
                "flush_interval_sec": 5,
            },
        }
        found = {"status": "green", "optimizer_status": "ok", "segments_count": 1, "config": config}
        return {"result": found | {"payload_schema": schema}, "status": "ok", "time": 0.0}


def refusal(text):
    return {"status": {"error": text}, "time": 0.0}


@contextmanager
def served(stub):
    """The URL at which the stub answers while the block runs."""

    class Handler(BaseHTTPRequestHandler):
        def one(self):
            path, _, query = self.path.partition("?")
            raw = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            body = json.loads(raw) if raw else None
            stub.asked.append((self.command, path, query, body, dict(self.headers)))
            status, answered = stub.reply(self.command, path, body)
            if status is None:
                self.fail(answered)
                return
            sent = answered if isinstance(answered, bytes) else json.dumps(answered).encode()
            self.send_response(status)
            if status == 429:
                self.send_header("Retry-After", stub.retry_after)
            self.send_header("Content-Length", str(len(sent)))
            self.end_headers()
            self.wfile.write(sent)

        def fail(self, how):
            if how == CUT[1]:
                self.send_response(200)
                self.send_header("Content-Length", "1000")
                self.end_headers()
                self.wfile.write(b'{"result": ')
            if how == SILENT[1]:
                stub.done.wait()

        do_GET = do_PUT = do_POST = do_DELETE = one  # noqa: N815

        def log_message(self, *_):
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        stub.done.set()
        server.shutdown()
        server.server_close()
        thread.join()
