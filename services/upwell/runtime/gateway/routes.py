"""The gateway's routes: events, hooks, health and metrics, and nothing else of a lake.

The event loop only reads bodies, within limits; everything that could wait runs in threads, and whoever waits for fates
does so in threads apart, so that a hundred of them hold up no event.
"""

import asyncio
import math
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Annotated, Literal

import msgspec
from fastapi import FastAPI, Query, Request
from fastapi.concurrency import run_in_threadpool
from fastapi.responses import PlainTextResponse, Response
from prometheus_client import CONTENT_TYPE_LATEST

from upwell import __version__, logs
from upwell.errors import Overloaded, Reason, Rejected, Retryable, UpwellError
from upwell.records import INLINE_LIMIT_BYTES
from upwell.runtime.gateway.door import Door, Stranger, accepted
from upwell.runtime.gateway.openapi import EVENTS, HOOKS, add_schemas
from upwell.sources.hooks import Delivery
from upwell.sources.offers import NotYours

MIB = 1024 * 1024
EVENTS_BYTES = 8 * MIB
HOOK_BYTES = MIB + INLINE_LIMIT_BYTES
WAIT_LIMIT_S = 60.0
WAITERS = 100
RETRY_AFTER_S = 1.0

Wait = Annotated[Literal["applied"] | None, Query(description="Answer when the events have ended.")]
Timeout = Annotated[float, Query(ge=0, le=WAIT_LIMIT_S, description="How long to wait, in seconds.")]


def build(door: Door, *, exposition: Callable[[], bytes], ready: Callable[[], object]) -> FastAPI:
    """The application: `exposition` gives the metrics page, `ready` raises an UpwellError while it is not."""
    app = FastAPI(
        title="Upwell gateway",
        version=__version__,
        description="Events and hooks into a governed context lake.",
        docs_url=None,
        redoc_url=None,
    )
    add_events(app, door)
    add_hooks(app, door)
    add_health(app, exposition, ready)
    add_schemas(app)
    return app


def add_events(app: FastAPI, door: Door) -> None:
    """`POST /v1/events`."""
    waiters = ThreadPoolExecutor(WAITERS, "wait-for-fates")

    @app.post("/v1/events", status_code=202, openapi_extra=EVENTS)
    async def events(request: Request, wait: Wait = None, timeout_s: Timeout = 30.0) -> Response:
        """Take one event or a list of them, all or none. Answered when they are durable."""
        try:
            terms = door.admit(request.headers.get("authorization", ""))
            body = await _body(request, EVENTS_BYTES)
            traceparent = request.headers.get("traceparent", "")
            taken = await run_in_threadpool(door.offered, terms, body, traceparent)
            if wait is None:
                return _answer(door, "events", 202, accepted(taken))
            loop = asyncio.get_running_loop()
            waited = await loop.run_in_executor(waiters, door.waited, taken, timeout_s)
            return _answer(door, "events", 202 if waited.pending else 200, waited)
        except UpwellError as e:
            return _refuse(door, "events", e)


def add_hooks(app: FastAPI, door: Door) -> None:
    """`POST /v1/hooks/{source}`."""

    @app.post("/v1/hooks/{source}", status_code=202, openapi_extra=HOOKS)
    async def hook(request: Request, source: str) -> Response:
        """Take what another system says has changed: its signature first, then durable, then answered."""
        try:
            body = await _body(request, HOOK_BYTES)
            delivery = Delivery(headers={name.lower(): value for name, value in request.headers.items()}, body=body)
            taken = await run_in_threadpool(door.hooked, source, delivery)
            return _answer(door, "hooks", 202, taken)
        except UpwellError as e:
            return _refuse(door, "hooks", e)


def add_health(app: FastAPI, exposition: Callable[[], bytes], ready: Callable[[], object]) -> None:
    """`/healthz`: the process lives; `/readyz`: it can take events; `/metrics`."""

    @app.get("/healthz", response_class=PlainTextResponse)
    async def healthz() -> str:
        return "ok\n"

    @app.get("/readyz", response_class=PlainTextResponse)
    def readyz() -> Response:
        try:
            ready()
        except UpwellError as e:
            return PlainTextResponse(f"{e}\n", 503)
        return PlainTextResponse("ok\n")

    @app.get("/metrics")
    def metrics_page() -> Response:
        return Response(exposition(), media_type=CONTENT_TYPE_LATEST)


async def _body(request: Request, limit_bytes: int) -> bytes:
    """The body, never more of it than the limit. Raises Rejected `too_large`."""
    declared = request.headers.get("content-length", "0")
    if declared.isdecimal() and int(declared) > limit_bytes:
        raise _too_large(limit_bytes)
    body = bytearray()
    async for part in request.stream():
        body += part
        if len(body) > limit_bytes:
            raise _too_large(limit_bytes)
    return bytes(body)


def _too_large(limit_bytes: int) -> Rejected:
    return Rejected(Reason.TOO_LARGE, f"a body of more than {limit_bytes} bytes")


def _answer(door: Door, route: str, status: int, value: object) -> Response:
    door.answered(route, status)
    return Response(msgspec.json.encode(value), status, media_type="application/json")


def _refuse(door: Door, route: str, error: UpwellError) -> Response:
    status, headers = _status_of(error)
    door.answered(route, status)
    reason = str(error.reason) if isinstance(error, Rejected) else None
    logs.warn("refused", route=route, status=status, reason=reason or type(error).__name__)
    body = {"error": type(error).__name__, "reason": reason, "detail": str(error)}
    return Response(msgspec.json.encode(body), status, headers, "application/json")


def _status_of(error: UpwellError) -> tuple[int, dict[str, str]]:
    match error:
        case Stranger():
            return 401, {"WWW-Authenticate": "Bearer"}
        case NotYours():
            return 403, {}
        case Rejected(reason=Reason.TOO_LARGE):
            return 413, {}
        case Rejected():
            return 422, {}
        case Overloaded(retry_after_s=retry_after_s):
            return 429, {"Retry-After": str(math.ceil(retry_after_s))}
        case Retryable():
            return 503, {"Retry-After": str(math.ceil(RETRY_AFTER_S))}
        case _:
            return 500, {}
