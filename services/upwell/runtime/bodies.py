"""Reading a request's body: never more of it than a limit, never longer than its client may take, and never more of
all clients' together than there is room for.
"""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

from fastapi import Request
from starlette.requests import ClientDisconnect

from upwell.errors import Overloaded, Reason, Rejected, UpwellError

RETRY_AFTER_S = 1.0


class TooSlow(UpwellError):
    """The body did not come in time, or its client has gone."""


class Room:
    """How many bytes of bodies are held at once, whosever they are: memory is what a crowd of clients uses up first.

    `left_bytes` is what there is room for now. Used on one event loop alone.
    """

    def __init__(self, limit_bytes: int) -> None:
        self.left_bytes = limit_bytes

    @asynccontextmanager
    async def body(self, request: Request, limit_bytes: int, within_s: float) -> AsyncIterator[bytes]:
        """The whole body, which takes room until the block ends. Raises as `read_body` does, and Overloaded."""
        held = 0

        def grown(part_bytes: int) -> None:
            nonlocal held
            if part_bytes > self.left_bytes:
                raise Overloaded("too many bodies are being read at once", RETRY_AFTER_S)
            self.left_bytes -= part_bytes
            held += part_bytes

        try:
            yield await read_body(request, limit_bytes, within_s, grown)
        finally:
            self.left_bytes += held


async def read_body(
    request: Request, limit_bytes: int, within_s: float, grown: Callable[[int], None] = lambda _: None
) -> bytes:
    """The whole body. Raises Rejected `too_large` as soon as that is known, TooSlow, and what `grown` raises, which is
    told of each part's bytes before they are kept.
    """
    declared = request.headers.get("content-length", "0")
    if declared.isdecimal() and int(declared) > limit_bytes:
        raise _too_large(limit_bytes)
    body = bytearray()
    try:
        async with asyncio.timeout(within_s):
            async for part in request.stream():
                if len(body) + len(part) > limit_bytes:
                    raise _too_large(limit_bytes)
                grown(len(part))
                body += part
    except TimeoutError:
        raise TooSlow(f"the body did not come within {within_s:g} s") from None
    except ClientDisconnect:
        raise TooSlow("the client went away before its body had come") from None
    return bytes(body)


def _too_large(limit_bytes: int) -> Rejected:
    return Rejected(Reason.TOO_LARGE, f"a body of more than {limit_bytes} bytes")
