"""Errors of qdrant-client, mapped to ours.

UnexpectedResponse 401, 403     Broken           the key
UnexpectedResponse 404          Broken           no such collection
UnexpectedResponse 400 "Help:"  Broken           the collection's strict mode forbids what we need
UnexpectedResponse 413          Rejected         too_large
UnexpectedResponse 400, 422     Rejected         invalid_event
everything else of the client   Retryable        the server is away, busy, full or broken
an answer that is no JSON       Retryable        a proxy's page, most likely
ValueError of local mode        Rejected         invalid_event
RuntimeError of local mode      Retryable        its folder is in use, or it is closed

A strict mode's refusals all end in a "Help: …" of what to change, which is the operator's business and no document's
fault. 429 (its rate limits), 503 (a leader that is away) and every 5xx pass.
"""

import json
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager

import httpx
from qdrant_client.common.client_exceptions import QdrantException
from qdrant_client.http.exceptions import ApiException, UnexpectedResponse

from upwell.errors import Broken, Reason, Rejected, Retryable, UpwellError

REFUSALS = {400: Reason.INVALID_EVENT, 422: Reason.INVALID_EVENT, 413: Reason.TOO_LARGE}
STRICT = b" Help: "
NO_JSON = (json.JSONDecodeError, UnicodeDecodeError)
VENDOR_ERRORS = (ApiException, QdrantException, httpx.HTTPError, OSError, RuntimeError, ValueError)


def mapped(error: Exception) -> UpwellError:
    """Our error for one of the client's. Its text never repeats what was sent (the server's answer may)."""
    if isinstance(error, UnexpectedResponse):
        status = error.status_code or 0
        if status in {401, 403}:
            return Broken(
                f"the Qdrant server refused the API key (HTTP {status}): check setting store_api_key "
                "(UPWELL_STORE_API_KEY), which must be allowed to write"
            )
        if status == 404:
            return Broken(
                "the Qdrant server does not know this collection (HTTP 404): run `upwell init`, or check setting store "
                "(UPWELL_STORE)"
            )
        if status == 400 and STRICT in (error.content or b""):
            return Broken(
                "the strict mode of the Qdrant collection refuses what Upwell needs: raise its limits, which the "
                "server's log names"
            )
        if status in REFUSALS:
            return Rejected(REFUSALS[status], f"the Qdrant server refused the request (HTTP {status})")
        return Retryable(f"the Qdrant server failed (HTTP {status})")
    if isinstance(error, NO_JSON):
        return Retryable("what answers for the Qdrant server does not speak its language")
    if isinstance(error, ValueError):
        return Rejected(Reason.INVALID_EVENT, "qdrant-client refused the request")
    return Retryable(f"the Qdrant store is not available ({type(error).__name__})")


@contextmanager
def vendor_errors(held: AbstractContextManager[object]) -> Iterator[None]:
    """Run the block while `held`, with the client's errors mapped."""
    try:
        with held:
            yield
    except VENDOR_ERRORS as error:
        raise mapped(error) from error
