"""MCP over streamable HTTP at `/mcp`: one request, one answer, no sessions, and a token with each request."""

import time
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from typing import Any

from fastapi import FastAPI, Request
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from mcp.server.transport_security import TransportSecuritySettings
from starlette.routing import Route
from starlette.types import Message, Receive, Scope, Send

from upwell.reading import Reader
from upwell.runtime.bodies import read_body
from upwell.runtime.refusing import plain_refusal, refusal_of, refuse, status_of
from upwell.runtime.serve.desk import Desk, known
from upwell.runtime.serve.mcp.server import Context, build
from upwell.search.questions import QUESTION_BYTES, Question

PATH = "/mcp"
BODY_WITHIN_S = 10.0
READER = "upwell.reader"
LOOPBACK = ("127.0.0.1", "localhost", "[::1]")


def add_mcp(app: FastAPI, desk: Desk, *, loopback: bool) -> None:
    """Serve MCP on the application. `loopback`: it listens on this machine alone, so that a request whose Host is
    another name comes from a page in a browser that was led here (DNS rebinding), and is refused.
    """
    server = build(_asking(desk), _reader_of)
    manager = StreamableHTTPSessionManager(
        server,
        json_response=True,
        stateless=True,
        security_settings=_security(loopback=loopback),
        max_request_body_size=QUESTION_BYTES,
    )
    app.router.routes.append(Route(PATH, endpoint=Door(desk, manager)))
    app.router.lifespan_context = _running(manager)


class Door:
    """The ASGI application in front of the protocol: who asks, and how much they may send, comes first."""

    def __init__(self, desk: Desk, manager: StreamableHTTPSessionManager) -> None:
        self._desk = desk
        self._manager = manager

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        started = time.monotonic()
        status = 500

        async def counted(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
            await send(message)

        await self._serve(scope, receive, counted)
        self._desk.answered("mcp", status, started)

    async def _serve(self, scope: Scope, receive: Receive, send: Send) -> None:
        request = Request(scope, receive)
        if request.method != "POST":  # without sessions there is nothing to listen to, and none to end
            await refuse(plain_refusal(405), 405, {"Allow": "POST"})(scope, receive, send)
            return
        try:
            reader = await self._desk.admit(request.headers.get("authorization", ""), "mcp")
            body = await read_body(request, QUESTION_BYTES, BODY_WITHIN_S)
        except Exception as e:  # noqa: BLE001  the edge: whatever comes, an answer that says no more than it may
            error = known(e, "mcp")
            await refuse(refusal_of(error), *status_of(error))(scope, receive, send)
            return
        await self._manager.handle_request({**scope, READER: reader}, _again(body, receive), send)


def _again(body: bytes, receive: Receive) -> Receive:
    """The body that was read, then whatever comes (that the client has gone)."""
    left: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]

    async def next_message() -> Message:
        return left.pop() if left else await receive()

    return next_message


def _reader_of(context: Context) -> Reader:
    assert context.request is not None
    reader = context.request.scope[READER]
    assert isinstance(reader, Reader)
    return reader


def _asking(desk: Desk) -> Callable[[str, Question, Reader], Any]:
    async def ask(name: str, question: Question, reader: Reader) -> Any:
        started = time.monotonic()
        status = 200
        try:
            return await desk.answer(question, reader)
        except Exception as e:
            error = known(e, f"mcp.{name}")
            status = status_of(error)[0]
            raise error from e
        finally:
            desk.answered(f"mcp.{name}", status, started)

    return ask


def _running(manager: StreamableHTTPSessionManager) -> Callable[[Any], AbstractAsyncContextManager[None]]:
    return lambda _app: manager.run()


def _security(*, loopback: bool) -> TransportSecuritySettings:
    if not loopback:
        return TransportSecuritySettings(enable_dns_rebinding_protection=False)
    names = [*LOOPBACK, *(f"{name}:*" for name in LOOPBACK)]
    return TransportSecuritySettings(
        enable_dns_rebinding_protection=True,
        allowed_hosts=names,
        allowed_origins=[f"http://{name}" for name in names],
    )
