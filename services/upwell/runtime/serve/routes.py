"""The routes of the read side. The event loop reads tokens and bodies, within limits; what could wait runs in threads.

Every document has two addresses: its id in the path, for people, and `?doc_id=`, for ids that proxies and clients would
mend on their way (`..`, `//`, line breaks).
"""

import time
from collections.abc import Callable
from typing import Any

import msgspec
from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import Response
from starlette.exceptions import HTTPException
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from upwell import __version__
from upwell.errors import Reason, Rejected
from upwell.records import JSON_ENCODER, Record
from upwell.runtime.bodies import read_body
from upwell.runtime.operating import add_health
from upwell.runtime.refusing import Refused, plain_refusal, refusal_of, refuse, status_of
from upwell.runtime.serve import openapi
from upwell.runtime.serve.desk import Desk, known
from upwell.search.questions import QUESTION_BYTES, QUESTIONS, Question, asked

BODY_WITHIN_S = 10.0
HEADERS = ((b"cache-control", b"no-store"), (b"x-content-type-options", b"nosniff"))


class Route(Record, frozen=True, kw_only=True):
    """One question's address; `by_id`: also with a document's id at the end."""

    name: str
    method: str
    path: str
    says: str
    by_id: bool = False


ROUTES = (
    Route(name="search", method="POST", path="/v1/search", says="The passages that fit a question best, raw."),
    Route(name="context", method="POST", path="/v1/context", says="A context for a model, within a budget of tokens."),
    Route(name="fetch", method="GET", path="/v1/documents", says="A document's words, in parts.", by_id=True),
    Route(name="outline", method="GET", path="/v1/outline", says="A document's headings and parts.", by_id=True),
    Route(name="related", method="GET", path="/v1/related", says="What has to do with a document.", by_id=True),
    Route(name="changes", method="GET", path="/v1/changes", says="What changed since, oldest first."),
    Route(name="list_sources", method="GET", path="/v1/sources", says="The sources that hold something for you."),
    Route(name="freshness", method="GET", path="/v1/freshness", says="How fresh they are, or one of them."),
)


def build(desk: Desk, *, ready: Callable[[], object]) -> FastAPI:
    """The application of the read side alone: `ready` raises while it is not."""
    app = FastAPI(
        title="Upwell",
        version=__version__,
        description="Reading a governed context lake: whatever is shown was allowed to whom the token proves.",
        docs_url=None,
        redoc_url=None,
    )
    add_health(app, ready)
    add_reading(app, desk)
    return app


def add_reading(app: FastAPI, desk: Desk) -> None:
    """All routes of the read side."""
    app.router.redirect_slashes = False  # a document's id may end in one
    for route in ROUTES:
        _add(app, desk, route, route.path, path=False)
        if route.by_id:
            _add(app, desk, route, f"{route.path}/{{doc_id:path}}", path=True)
    openapi.add_schemas(app)
    app.add_exception_handler(HTTPException, _plain)
    app.add_exception_handler(RequestValidationError, _invalid)
    app.add_middleware(Unstored)


def _add(app: FastAPI, desk: Desk, route: Route, path_of: str, *, path: bool) -> None:
    async def answer(request: Request) -> Response:
        return await _answer(desk, route, request)

    app.add_api_route(
        path_of,
        answer,
        methods=[route.method],
        summary=route.says,
        response_class=Response,
        openapi_extra=openapi.operation(route.name, body=route.method == "POST", path=path),
    )


async def _answer(desk: Desk, route: Route, request: Request) -> Response:
    started = time.monotonic()
    try:
        reader = await desk.admit(request.headers.get("authorization", ""), "http")
        question = await _question(route, request)
        found = await desk.answer(question, reader)
        response = Response(JSON_ENCODER.encode(found), media_type="application/json")
    except Exception as e:  # noqa: BLE001  the edge: whatever comes, an answer that says no more than it may
        error = known(e, route.name)
        response = refuse(refusal_of(error), *status_of(error))
    desk.answered(route.name, response.status_code, started)
    return response


async def _question(route: Route, request: Request) -> Question:
    """What is asked. Raises Rejected, saying where it is wrong, and TooSlow."""
    kind = QUESTIONS[route.name]
    try:
        if route.method == "POST":
            if request.query_params:
                raise Rejected(Reason.INVALID_EVENT, "the question stands in the body, nothing in the address")
            return asked(kind, msgspec.json.decode(await read_body(request, QUESTION_BYTES, BODY_WITHIN_S)))
        return msgspec.convert(_parameters(kind, request), kind, strict=False)
    except (msgspec.MsgspecError, RecursionError, UnicodeDecodeError) as e:
        raise Rejected(Reason.INVALID_EVENT, str(e)[:300]) from e


def _parameters(kind: type[Question], request: Request) -> dict[str, Any]:
    """The parameters of a URL as a question's fields; one that is given twice is a list there."""
    lists = {field.name for field in msgspec.structs.fields(kind) if field.name == "sources"}
    query = request.query_params
    found: dict[str, Any] = {}
    for name in query:
        given = query.getlist(name)
        found[name] = given if name in lists or len(given) > 1 else given[0]
    for name, value in request.path_params.items():
        if name in found:
            raise Rejected(Reason.INVALID_EVENT, f"`{name}` stands in the path and again behind it")
        found[name] = value
    return found


async def _plain(_request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    return refuse(plain_refusal(error.status_code), error.status_code, dict(error.headers or {}))


async def _invalid(_request: Request, error: Exception) -> Response:
    assert isinstance(error, RequestValidationError)
    first = error.errors()[0]
    where = ".".join(str(part) for part in first["loc"])
    return refuse(Refused(error="Rejected", reason="invalid_event", detail=f"{where}: {first['msg']}"), 422, {})


class Unstored:
    """Nothing of a lake is kept by caches on the way: each answer was allowed to one reader at one moment."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def unstored(message: Message) -> None:
            if message["type"] == "http.response.start":
                kept = [(k, v) for k, v in message.get("headers", ()) if k.lower() not in dict(HEADERS)]
                message = {**message, "headers": [*kept, *HEADERS]}
            await send(message)

        await self._app(scope, receive, unstored if scope["type"] == "http" else send)
