"""`PUT` and `DELETE /v1/principals/{id}`: what a tenant's directory says of its principals."""

import asyncio
from concurrent.futures import ThreadPoolExecutor
from typing import Annotated, Literal

from fastapi import FastAPI, Query, Request
from fastapi.concurrency import run_in_threadpool
from fastapi.responses import Response

from upwell.errors import UpwellError
from upwell.records import Membership
from upwell.runtime.bodies import Room
from upwell.runtime.gateway import openapi
from upwell.runtime.gateway.answers import answer, refuse
from upwell.runtime.gateway.door import Door
from upwell.runtime.gateway.feeding import Feeding, taken
from upwell.sources.memberships import GONE, told

BODY_BYTES = 16 * 1024 * 1024
BODY_WITHIN_S = 60.0
WAIT_LIMIT_S = 60.0
WAITERS = 20
ROUTE = "principals"

Wait = Annotated[Literal["applied"] | None, Query(description="Answer when it is in force.")]
Timeout = Annotated[float, Query(ge=0, le=WAIT_LIMIT_S, description="How long to wait, in seconds.")]


def add_principals(app: FastAPI, door: Door, feeding: Feeding, room: Room) -> None:
    """Both routes; `door` counts their answers, `room` holds their bodies."""
    waiters = ThreadPoolExecutor(WAITERS, "wait-for-memberships")

    async def answered(member: Membership, wait: str | None, timeout_s: float) -> Response:
        if wait is None:
            return answer(door, ROUTE, 202, taken(member))
        waited = await asyncio.get_running_loop().run_in_executor(waiters, feeding.waited, member, timeout_s)
        return answer(door, ROUTE, 200 if waited.effective else 202, waited)

    @app.put("/v1/principals/{principal:path}", status_code=202, openapi_extra=openapi.PRINCIPALS)
    async def put(request: Request, principal: str, wait: Wait = None, timeout_s: Timeout = 30.0) -> Response:
        """Take what is told of a principal: the groups that it is directly in, or that it is gone."""
        try:
            tenant = feeding.admit(request.headers.get("authorization", ""))
            async with room.body(request, BODY_BYTES, BODY_WITHIN_S) as body:
                member = await run_in_threadpool(_tell, feeding, tenant, principal, body)
            del body  # nobody who waits holds it
            return await answered(member, wait, timeout_s)
        except UpwellError as e:
            return refuse(door, ROUTE, e)

    @app.delete("/v1/principals/{principal:path}", status_code=202, openapi_extra=openapi.GONE)
    async def delete(request: Request, principal: str, wait: Wait = None, timeout_s: Timeout = 30.0) -> Response:
        """The directory knows the principal no more: whoever reads as it sees nothing."""
        try:
            tenant = feeding.admit(request.headers.get("authorization", ""))
            member = await run_in_threadpool(feeding.tell, tenant, principal, GONE)
            return await answered(member, wait, timeout_s)
        except UpwellError as e:
            return refuse(door, ROUTE, e)


def _tell(feeding: Feeding, tenant: str, principal: str, body: bytes) -> Membership:
    return feeding.tell(tenant, principal, told(body))
