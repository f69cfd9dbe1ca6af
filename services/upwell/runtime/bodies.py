"""Reading a request's body: never more of it than a limit, and never longer than its client may take."""

import asyncio

from fastapi import Request

from upwell.errors import Reason, Rejected, UpwellError


class TooSlow(UpwellError):
    """The body did not come in time."""


async def read_body(request: Request, limit_bytes: int, within_s: float) -> bytes:
    """The whole body. Raises Rejected `too_large` as soon as that is known, and TooSlow."""
    declared = request.headers.get("content-length", "0")
    if declared.isdecimal() and int(declared) > limit_bytes:
        raise _too_large(limit_bytes)
    body = bytearray()
    try:
        async with asyncio.timeout(within_s):
            async for part in request.stream():
                body += part
                if len(body) > limit_bytes:
                    raise _too_large(limit_bytes)
    except TimeoutError:
        raise TooSlow(f"the body did not come within {within_s:g} s") from None
    return bytes(body)


def _too_large(limit_bytes: int) -> Rejected:
    return Rejected(Reason.TOO_LARGE, f"a body of more than {limit_bytes} bytes")
