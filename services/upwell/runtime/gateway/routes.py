"""The gateway's routes: events, hooks, memberships, health and metrics, and nothing else of a lake.

The event loop only reads bodies, within limits; everything that could wait runs in threads, and whoever waits for fates
does so in threads apart, so that a hundred of them hold up no event.
"""

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Annotated, Literal

from fastapi import FastAPI, Query, Request
from fastapi.concurrency import run_in_threadpool
from fastapi.responses import Response

from upwell import __version__
from upwell.errors import UpwellError
from upwell.records import INLINE_LIMIT_BYTES
from upwell.runtime.bodies import Room
from upwell.runtime.gateway.answers import answer, refuse
from upwell.runtime.gateway.door import Door, accepted
from upwell.runtime.gateway.feeding import Feeding
from upwell.runtime.gateway.openapi import EVENTS, HOOKS, add_schemas
from upwell.runtime.gateway.principals import add_principals
from upwell.runtime.operating import add_health
from upwell.sources.hooks import Delivery

MIB = 1024 * 1024
EVENTS_BYTES = 8 * MIB
HOOK_BYTES = MIB + INLINE_LIMIT_BYTES
WAIT_LIMIT_S = 60.0
WAITERS = 100
BODY_WITHIN_S = 60.0
KNOWN_ROOM_BYTES = 128 * MIB
"""Bodies held at once of those who have shown a key."""
HOOKS_ROOM_BYTES = 64 * MIB
"""Bodies held at once of hooks, whose signatures are over what they send: until it has come, they may be anybody."""

Wait = Annotated[Literal["applied"] | None, Query(description="Answer when the events have ended.")]
Timeout = Annotated[float, Query(ge=0, le=WAIT_LIMIT_S, description="How long to wait, in seconds.")]


def build(door: Door, feeding: Feeding, *, ready: Callable[[], object]) -> FastAPI:
    """The application: `ready` raises an UpwellError while it is not."""
    app = FastAPI(
        title="Upwell gateway",
        version=__version__,
        description="Events and hooks into a governed context lake.",
        docs_url=None,
        redoc_url=None,
        redirect_slashes=False,  # to where Host says, without TLS: a client would show its key there
    )
    known = Room(KNOWN_ROOM_BYTES)
    add_events(app, door, known)
    add_hooks(app, door, Room(HOOKS_ROOM_BYTES))
    add_principals(app, door, feeding, known)
    add_health(app, ready)
    add_schemas(app)
    return app


def add_events(app: FastAPI, door: Door, room: Room) -> None:
    """`POST /v1/events`."""
    waiters = ThreadPoolExecutor(WAITERS, "wait-for-fates")

    @app.post("/v1/events", status_code=202, openapi_extra=EVENTS)
    async def events(request: Request, wait: Wait = None, timeout_s: Timeout = 30.0) -> Response:
        """Take one event or a list of them, all or none. Answered when they are durable."""
        try:
            terms = door.admit(request.headers.get("authorization", ""))
            async with room.body(request, EVENTS_BYTES, BODY_WITHIN_S) as body:
                traceparent = request.headers.get("traceparent", "")
                taken = await run_in_threadpool(door.offered, terms, body, traceparent)
            del body  # nobody who waits holds it
            if wait is None:
                return answer(door, "events", 202, accepted(taken))
            loop = asyncio.get_running_loop()
            waited = await loop.run_in_executor(waiters, door.waited, taken, timeout_s)
            return answer(door, "events", 202 if waited.pending else 200, waited)
        except UpwellError as e:
            return refuse(door, "events", e)


def add_hooks(app: FastAPI, door: Door, room: Room) -> None:
    """`POST /v1/hooks/{source}`."""

    @app.post("/v1/hooks/{source}", status_code=202, openapi_extra=HOOKS)
    async def hook(request: Request, source: str) -> Response:
        """Take what another system says has changed: its signature first, then durable, then answered."""
        try:
            headers = {name.lower(): value for name, value in request.headers.items()}
            async with room.body(request, HOOK_BYTES, BODY_WITHIN_S) as body:
                taken = await run_in_threadpool(door.hooked, source, Delivery(headers=headers, body=body))
            return answer(door, "hooks", 202, taken)
        except UpwellError as e:
            return refuse(door, "hooks", e, source=source if door.expects(source) else "unknown")
