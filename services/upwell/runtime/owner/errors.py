"""Errors on the lake's socket: one JSON object, `{"error", "reason", "detail"}`, and the error that it stands for."""

from typing import Any

import msgspec

from upwell.errors import Misconfigured, NotFound, Reason, Rejected, Retryable, UpwellError

STATUS_OF: dict[type[UpwellError], int] = {Misconfigured: 400, NotFound: 404, Rejected: 422, Retryable: 503}


def error_body(error: UpwellError) -> dict[str, str | None]:
    """The JSON form of an error; `error_of` reads it back."""
    reason = str(error.reason) if isinstance(error, Rejected) else None
    kind = next((k for k in STATUS_OF if isinstance(error, k)), Retryable)
    return {"error": kind.__name__, "reason": reason, "detail": str(error)}


def status_of(error: UpwellError) -> int:
    """The HTTP status of its kind."""
    return next((code for kind, code in STATUS_OF.items() if isinstance(error, kind)), 500)


def error_of(body: bytes, status: int = 500) -> UpwellError:
    """The error that the owner's JSON stands for."""
    try:
        found = msgspec.json.decode(body, type=dict[str, Any])
        kind, reason, detail = found["error"], found.get("reason"), str(found["detail"])
    except (msgspec.DecodeError, KeyError):
        return Retryable(f"the lake's owner answered with status {status}")
    if kind == "Rejected" and reason in set(Reason):
        return Rejected(Reason(reason), detail)
    return {"Misconfigured": Misconfigured, "NotFound": NotFound}.get(kind, Retryable)(detail)
