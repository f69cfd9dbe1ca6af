"""The lake's HTTP API, as its owner serves it on the socket: whoever can open that socket has the operator's right.

Answers are the records of `upwell.answers`. Errors are one JSON object, `{"error", "reason", "detail"}`, with the
status of their kind. Long work (`/v1/ingest`) streams lines of JSON: progress, then the answer or the error.
"""

import queue
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Annotated, Any

import msgspec
from fastapi import FastAPI, Query, Request
from fastapi.responses import Response, StreamingResponse

from upwell import __version__
from upwell.answers import EraseWish, LakeApi
from upwell.errors import Retryable, UpwellError
from upwell.reading import ReadableLake
from upwell.runtime.operating import Exposition, add_health, add_metrics
from upwell.runtime.owner.bodies import ApproveBody, EraseBody, IngestBody, MemberBody, SearchBody, WhichBody, WishBody
from upwell.runtime.owner.errors import error_body, status_of
from upwell.runtime.owner.reads import add_reads


def build(lake: ReadableLake, exposition: Exposition) -> FastAPI:
    """The application over one lake; `exposition` gives its metrics page."""
    app = FastAPI(title="Upwell", version=__version__, description="A governed context lake.")
    app.add_exception_handler(UpwellError, refuse)
    add_health(app, lake.status)
    add_metrics(app, exposition)
    _add_reading(app, lake)
    _add_dead(app, lake)
    _add_operating(app, lake)
    _add_ingest(app, lake)
    add_reads(app, lake.reading())
    return app


def refuse(_request: Request, error: Exception) -> Response:
    """Answers with an UpwellError: its JSON, and the status of its kind."""
    assert isinstance(error, UpwellError)
    return Response(msgspec.json.encode(error_body(error)), status_of(error), media_type="application/json")


def _answer(value: Any) -> Response:
    return Response(msgspec.json.encode(value), media_type="application/json")


def _add_reading(app: FastAPI, lake: LakeApi) -> None:
    @app.post("/v1/search")
    def search(body: SearchBody) -> Response:
        return _answer(
            lake.search(
                body.query,
                principals=frozenset(body.principals),
                k=body.k,
                tenant=body.tenant,
                sources=frozenset(body.sources),
            )
        )

    @app.get("/v1/documents/{doc_id:path}")
    def document(doc_id: str, tenant: str = "default", source: str | None = None) -> Response:
        return _answer(lake.show(doc_id, tenant=tenant, source=source))

    @app.get("/v1/sources")
    def sources() -> Response:
        return _answer(lake.status().sources)

    @app.get("/v1/status")
    def status() -> Response:
        return _answer(lake.status())


def _add_dead(app: FastAPI, lake: LakeApi) -> None:
    @app.get("/v1/dead")
    def dead(which: Annotated[WhichBody, Query()]) -> Response:
        return _answer(lake.dead_list(which.filter))

    @app.get("/v1/dead/{dead_id}")
    def dead_show(dead_id: int) -> Response:
        return _answer(lake.dead_show(dead_id))

    @app.post("/v1/dead/replay")
    def replay(body: WhichBody) -> Response:
        return _answer(lake.dead_replay(body.filter))

    @app.post("/v1/dead/discard")
    def discard(body: WhichBody) -> Response:
        return _answer(lake.dead_discard(body.filter))


def _add_operating(app: FastAPI, lake: LakeApi) -> None:
    @app.post("/v1/erase")
    def erase(body: EraseBody) -> Response:
        return _answer(lake.erase(body.doc_id, tenant=body.tenant, source=body.source))

    @app.post("/v1/erasures")
    def erase_all(body: WishBody) -> Response:
        return _answer(lake.erase_all(EraseWish(**body.model_dump())))

    @app.get("/v1/principals")
    def principals(tenant: str = "default") -> Response:
        return _answer(lake.principals_list(tenant=tenant))

    @app.post("/v1/principals")
    def principals_set(body: MemberBody) -> Response:
        groups = frozenset(body.member_of)
        return _answer(lake.principals_set(body.principal, member_of=groups, gone=body.gone, tenant=body.tenant))

    @app.post("/v1/approve")
    def approve(body: ApproveBody) -> Response:
        return _answer(lake.approve(tenant=body.tenant, source=body.source, discard=body.discard))


def _add_ingest(app: FastAPI, lake: LakeApi) -> None:
    @app.post("/v1/ingest")
    def ingest(body: IngestBody) -> StreamingResponse:
        def work(tell: Callable[[str, Any], None]) -> Any:
            return lake.ingest(
                Path(body.folder),
                owner=body.owner,
                source=body.source,
                tenant=body.tenant,
                progress=lambda p: tell("progress", p),
            )

        return StreamingResponse(_stream(work), media_type="application/x-ndjson")


def _stream(work: Callable[[Callable[[str, Any], None]], Any]) -> Iterator[bytes]:
    """Run `work` in a thread and yield what it tells, a line of JSON each, and its answer or error last."""
    lines: queue.Queue[tuple[str, Any]] = queue.Queue()

    def run() -> None:
        try:
            lines.put(("answer", work(lambda kind, value: lines.put((kind, value)))))
        except UpwellError as e:
            lines.put(("error", error_body(e)))
        except Exception as e:  # noqa: BLE001 the edge of a thread: the reader must get an end
            lines.put(("error", error_body(Retryable(f"internal error ({type(e).__name__})"))))

    threading.Thread(target=run, name="ingest", daemon=True).start()
    while True:
        kind, value = lines.get()
        yield msgspec.json.encode({kind: value}) + b"\n"
        if kind in ("answer", "error"):
            return
