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
from fastapi.responses import PlainTextResponse, Response, StreamingResponse
from prometheus_client import CONTENT_TYPE_LATEST
from pydantic import BaseModel, ConfigDict, Field

from upwell import __version__
from upwell.answers import DeadFilter, EraseWish, LakeApi, Scope
from upwell.errors import Misconfigured, NotFound, Rejected, Retryable, UpwellError
from upwell.reading import ReadableLake
from upwell.search.reads import add_reads

STATUS_OF: dict[type[UpwellError], int] = {Misconfigured: 400, NotFound: 404, Rejected: 422, Retryable: 503}


class SearchBody(BaseModel):
    """Whom to search as is the caller's word here: the socket is the operator's."""

    query: str
    principals: list[str] = Field(min_length=1)
    k: int = 5
    tenant: str = "default"
    sources: list[str] = []


class IngestBody(BaseModel):
    """`folder` is an absolute path on the owner's machine."""

    folder: str
    owner: str
    source: str | None = None
    tenant: str = "default"


class WhichBody(BaseModel):
    """Which dead letters (see `answers.DeadFilter`); all of them when nothing is said, and no word may be misspelt."""

    model_config = ConfigDict(extra="forbid")

    ids: list[int] = []
    tenant: str | None = None
    source: str | None = None
    doc: str | None = None
    stage: str | None = None
    reason: str | None = None
    since: int | None = None
    before: int | None = None
    limit: int | None = Field(None, ge=0)

    @property
    def filter(self) -> DeadFilter:
        return DeadFilter(**{**self.model_dump(), "ids": tuple(self.ids)})


class WishBody(BaseModel):
    """What to erase (see `answers.EraseWish`); no word may be misspelt."""

    model_config = ConfigDict(extra="forbid")

    scope: Scope
    name: str
    tenant: str = "default"
    source: str | None = None
    with_documents: bool = False
    dry_run: bool = False
    names: bool = True


class EraseBody(BaseModel):
    """Which document to erase."""

    doc_id: str
    tenant: str = "default"
    source: str | None = None


class MemberBody(BaseModel):
    """What to tell the tenant's directory of a principal."""

    model_config = ConfigDict(extra="forbid")

    principal: str
    member_of: list[str] = []
    gone: bool = False
    tenant: str = "default"


class ApproveBody(BaseModel):
    """Of which deletes that wait, and whether their documents stay (`discard`)."""

    model_config = ConfigDict(extra="forbid")

    tenant: str = "default"
    source: str | None = None
    discard: bool = False


def build(lake: ReadableLake, exposition: Callable[[], bytes]) -> FastAPI:
    """The application over one lake; `exposition` gives its metrics page."""
    app = FastAPI(title="Upwell", version=__version__, description="A governed context lake.")
    app.add_exception_handler(UpwellError, _refuse)
    _add_health(app, lake, exposition)
    _add_reading(app, lake)
    _add_operating(app, lake)
    add_reads(app, lake.reading())
    return app


def error_body(error: UpwellError) -> dict[str, str | None]:
    """The JSON form of an error; `client.error_of` reads it back."""
    reason = str(error.reason) if isinstance(error, Rejected) else None
    kind = next((k for k in STATUS_OF if isinstance(error, k)), Retryable)
    return {"error": kind.__name__, "reason": reason, "detail": str(error)}


def _refuse(_request: Request, error: Exception) -> Response:
    assert isinstance(error, UpwellError)
    status = next((code for kind, code in STATUS_OF.items() if isinstance(error, kind)), 500)
    return Response(msgspec.json.encode(error_body(error)), status, media_type="application/json")


def _answer(value: Any) -> Response:
    return Response(msgspec.json.encode(value), media_type="application/json")


def _add_health(app: FastAPI, lake: LakeApi, exposition: Callable[[], bytes]) -> None:
    @app.get("/healthz", response_class=PlainTextResponse)
    def healthz() -> str:
        return "ok\n"

    @app.get("/readyz", response_class=PlainTextResponse)
    def readyz() -> str:
        lake.status()
        return "ok\n"

    @app.get("/metrics")
    def metrics_page() -> Response:
        return Response(exposition(), media_type=CONTENT_TYPE_LATEST)


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

    @app.get("/v1/dead")
    def dead(which: Annotated[WhichBody, Query()]) -> Response:
        return _answer(lake.dead_list(which.filter))

    @app.get("/v1/dead/{dead_id}")
    def dead_show(dead_id: int) -> Response:
        return _answer(lake.dead_show(dead_id))


def _add_operating(app: FastAPI, lake: LakeApi) -> None:
    @app.post("/v1/dead/replay")
    def replay(body: WhichBody) -> Response:
        return _answer(lake.dead_replay(body.filter))

    @app.post("/v1/dead/discard")
    def discard(body: WhichBody) -> Response:
        return _answer(lake.dead_discard(body.filter))

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
