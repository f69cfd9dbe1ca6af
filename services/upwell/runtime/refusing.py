"""What an error looks like over HTTP: its status, its headers, and one JSON shape, `{"error", "reason", "detail"}`."""

import math
from http import HTTPStatus

import msgspec
from fastapi.responses import Response

from upwell.errors import Misconfigured, NotFound, Overloaded, Reason, Rejected, Retryable, Unauthorized, UpwellError
from upwell.records import Record
from upwell.runtime.bodies import TooSlow

RETRY_AFTER_S = 1.0


class Refused(Record, frozen=True, kw_only=True, omit_defaults=False):
    """Why there is no answer: `error` is the kind, `reason` a code where the kind has several, `detail` one line."""

    error: str
    reason: str | None
    detail: str


def status_of(error: UpwellError) -> tuple[int, dict[str, str]]:
    """The status of an error, and the headers that go with it."""
    match error:
        case Unauthorized():
            return 401, {"WWW-Authenticate": "Bearer"}
        case NotFound():
            return 404, {}
        case TooSlow():
            return 408, {"Connection": "close"}
        case Rejected(reason=Reason.TOO_LARGE):
            return 413, {}
        case Rejected() | Misconfigured():
            return 422, {}
        case Overloaded(retry_after_s=retry_after_s):
            return 429, {"Retry-After": str(math.ceil(retry_after_s))}
        case Retryable():
            return 503, {"Retry-After": str(math.ceil(RETRY_AFTER_S))}
        case _:
            return 500, {}


def refusal_of(error: UpwellError) -> Refused:
    """What a client is told. Why a token proves nothing is for the audit alone."""
    reason = str(error.reason) if isinstance(error, Rejected) else None
    return Refused(error=type(error).__name__, reason=reason, detail=str(error))


def plain_refusal(status: int) -> Refused:
    """What there is to say of a status alone (no such route, not that method)."""
    return Refused(
        error=HTTPStatus(status).phrase.title().replace(" ", ""), reason=None, detail=HTTPStatus(status).phrase
    )


def refuse(refusal: Refused, status: int, headers: dict[str, str]) -> Response:
    return Response(msgspec.json.encode(refusal), status, headers, "application/json")
