"""Errors of qdrant-client, mapped to ours.

UnexpectedResponse 3xx            Broken           the URL leads elsewhere
UnexpectedResponse 401, 403       Broken           the key
UnexpectedResponse 404            Broken           no such collection
UnexpectedResponse 400, a limit   Broken           the collection's strict mode forbids what we need
UnexpectedResponse 429, for good  Broken           the same: no request is ever small enough for its rate
UnexpectedResponse 413, 400       Rejected         too_large
UnexpectedResponse 400, 422       Rejected         invalid_event
429 with Retry-After              Overloaded       a rate that passes: not before it says
everything else of the client     Retryable        the server is away, busy, full or broken
an answer that is no JSON         Retryable        a proxy's page, most likely
an answer without a result        Retryable        the same; the client asserts that there is one
ValueError of local mode          Rejected         invalid_event
RuntimeError of local mode        Retryable        its folder is in use, or it is closed

Limits are the operator's business and no document's fault. Most of a strict mode's refusals end in a "Help: …" of what
to change; those of a full collection, of long multivectors and of rates do not. All of them hold names and numbers
alone, nothing of a document. A rate that passes comes with Retry-After, a request above a whole minute's rate without.
A body above the server's `max_request_size_mb` is a 400, one above a proxy's limit a 413. 503 (a leader that is away),
507 (a quota of the node) and every other 5xx pass. From lib/collection/src/operations/verification, src/actix/mod.rs
and src/actix/helpers.rs of https://github.com/qdrant/qdrant.
"""

import json
import re
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager

import httpx
from qdrant_client.common.client_exceptions import QdrantException, ResourceExhaustedResponse
from qdrant_client.http.exceptions import ApiException, UnexpectedResponse

from upwell.errors import Broken, Overloaded, Reason, Rejected, Retryable, UpwellError

REFUSALS = {400: Reason.INVALID_EVENT, 422: Reason.INVALID_EVENT, 413: Reason.TOO_LARGE}
LIMIT = re.compile(
    r"[^\n]+ Help: [^\n]+"
    r"|Max [a-z ]+ limit of \S+ reached!"
    r"|(Multivector|Sparse vector) '[a-z]+' has a limit of [^\n]+"
    r"|[A-Za-z]+ rate limit exceeded, request larger than rate limiter capacity"
)
OVERSIZE = b" is larger than allowed (limit: "
SAID = 200
"""So many characters of what a limit says of itself are told."""
NO_JSON = (json.JSONDecodeError, UnicodeDecodeError)
VENDOR_ERRORS = (ApiException, QdrantException, httpx.HTTPError, OSError, RuntimeError, ValueError, AssertionError)


def mapped(error: Exception) -> UpwellError:
    """Our error for one of the client's. Its text never repeats what was sent (the server's answer may)."""
    if isinstance(error, UnexpectedResponse):
        return _answered(error.status_code or 0, error.content or b"")
    if isinstance(error, ResourceExhaustedResponse):
        return Overloaded("the vector store takes no more requests for now", error.retry_after_s)
    if isinstance(error, NO_JSON):
        return Retryable("what answers for the Qdrant server does not speak its language")
    if isinstance(error, ValueError):
        return Rejected(Reason.INVALID_EVENT, "qdrant-client refused the request")
    return Retryable(f"the Qdrant store is not available ({type(error).__name__})")


def _answered(status: int, content: bytes) -> UpwellError:
    """The error for an answer that is no success."""
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
    if 300 <= status < 400:
        return Broken(f"the Qdrant server's URL leads elsewhere (HTTP {status}): check setting store (UPWELL_STORE)")
    if status in {400, 429} and (limit := LIMIT.search(_text_of(content))):
        return Broken(f"the strict mode of the Qdrant collection refuses what Upwell needs: {limit[0][:SAID]}")
    if status == 400 and OVERSIZE in content:
        status = 413
    if status in REFUSALS:
        return Rejected(REFUSALS[status], f"the Qdrant server refused the request (HTTP {status})")
    return Retryable(f"the Qdrant server failed (HTTP {status})")


def _text_of(content: bytes) -> str:
    """What the server says in its `{"status": {"error": …}}`, or nothing."""
    try:
        said = json.loads(content)["status"]["error"]
    except (ValueError, KeyError, TypeError):
        return ""
    return said if isinstance(said, str) else ""


@contextmanager
def vendor_errors(held: AbstractContextManager[object]) -> Iterator[None]:
    """Run the block while `held`, with the client's errors mapped."""
    try:
        with held:
            yield
    except VENDOR_ERRORS as error:
        raise mapped(error) from error
