"""How the gateway's routes answer and refuse."""

import msgspec
from fastapi.responses import Response

from upwell import logs
from upwell.errors import Misconfigured, Rejected, UpwellError
from upwell.runtime.gateway.door import Door
from upwell.runtime.gateway.keys import Stranger
from upwell.runtime.refusing import status_of
from upwell.sources.offers import NotYours

OURS = {
    503: "this cannot be taken now; send it again after the seconds in Retry-After",
    500: "the gateway cannot take this as it is set up; its log says why",
}
"""What is told where the fault is ours."""


def answer(door: Door, route: str, status: int, value: object) -> Response:
    """An answer, counted."""
    door.answered(route, status)
    return Response(msgspec.json.encode(value), status, media_type="application/json")


def refuse(door: Door, route: str, error: UpwellError, **named: str) -> Response:
    """A refusal, counted and logged, with the status of its kind. Which part of the lake is away or refuses us, and
    where it is, are for the operator's log alone. `named` goes there, too.
    """
    status, headers = _status_of(error)
    door.answered(route, status)
    reason = str(error.reason) if isinstance(error, Rejected) else None
    ours = OURS.get(status)
    why = {"why": str(error)} if ours else {}
    logs.warn("refused", route=route, **named, status=status, reason=reason or type(error).__name__, **why)
    body = {"error": type(error).__name__, "reason": reason, "detail": ours or str(error)}
    return Response(msgspec.json.encode(body), status, headers, "application/json")


def _status_of(error: UpwellError) -> tuple[int, dict[str, str]]:
    match error:
        case Stranger():
            return 401, {"WWW-Authenticate": "Bearer"}
        case NotYours():
            return 403, {}
        case Misconfigured():  # the gateway's own settings, never what was sent
            return 500, {}
        case _:
            return status_of(error)
