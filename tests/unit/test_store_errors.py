"""Vendors' errors at the store's edge: none is unmapped, none repeats what was sent."""

import inspect
import json
from contextlib import nullcontext

import httpx
import pytest
import qdrant_client.common.client_exceptions as common
import qdrant_client.http.exceptions as http

from lake_samples import DIM, point
from upwell.errors import Broken, Misconfigured, Reason, Rejected, Retryable, UpwellError
from upwell.lake.store import edge_child
from upwell.lake.store import edge_requests as ask
from upwell.lake.store.qdrant import QdrantStore
from upwell.lake.store.qdrant_errors import VENDOR_ERRORS, mapped, vendor_errors


def exceptions_of(module):
    return [kind for _, kind in inspect.getmembers(module, inspect.isclass) if issubclass(kind, Exception)]


MISUSE = (httpx.InvalidURL, httpx.CookieConflict, httpx.StreamError)
"""Faults of how httpx is called, which only the client does; none comes from a server."""

CLIENT_ERRORS = [
    kind
    for kind in (*exceptions_of(common), *exceptions_of(http), *exceptions_of(httpx))
    if not issubclass(kind, MISUSE)
]


def made(kind):
    """An instance, without the vendor's constructor."""
    error = kind.__new__(kind)
    error.status_code, error.content, error.retry_after_s = 500, b"", 1
    return error


@pytest.mark.parametrize("kind", CLIENT_ERRORS)
def test_every_error_of_the_client_is_mapped(kind):
    """A new class in a new release of the client fails here, not in production."""
    assert issubclass(kind, VENDOR_ERRORS)
    assert isinstance(mapped(made(kind)), UpwellError)


def refusal(status, body=b"the text of a document"):
    return http.UnexpectedResponse(status, "reason", body, httpx.Headers())


@pytest.mark.parametrize(
    ("status", "kind", "reason"),
    [
        (301, Broken, None),
        (307, Broken, None),
        (400, Rejected, Reason.INVALID_EVENT),
        (422, Rejected, Reason.INVALID_EVENT),
        (413, Rejected, Reason.TOO_LARGE),
        (401, Broken, None),
        (403, Broken, None),
        (404, Broken, None),
        (408, Retryable, None),
        (409, Retryable, None),
        (429, Retryable, None),
        (500, Retryable, None),
        (503, Retryable, None),
        (507, Retryable, None),
        (None, Retryable, None),
    ],
)
def test_the_server_s_statuses(status, kind, reason):
    """What to try again, what to give up, what to tell the operator; never what was sent."""
    error = mapped(refusal(status))
    assert type(error) is kind
    assert getattr(error, "reason", None) == reason
    assert "document" not in str(error)


@pytest.mark.parametrize(
    ("status", "said"),
    [
        (400, 'Bad request: Limit exceeded 9 > 5 for "limit". Help: Reduce the "limit" parameter to or below 5.'),
        (400, 'Bad request: Index required but not found for "doc". Help: Create an index for this key.'),
        (400, "Bad request: Max vector storage size limit of 12.5MB reached!"),
        (400, "Bad request: Max points count limit of 1000 reached!"),
        (400, "Bad request: Multivector 'late' has a limit of 100 vectors, but 210 were provided!"),
        (400, "Bad request: Sparse vector 'sparse' has a limit of 10 indices, but 90 were provided!"),
        (429, "Rate limiting exceeded: Write rate limit exceeded, request larger than rate limiter capacity, please"),
    ],
)
def test_a_limit_of_the_operator_s_is_no_fault_of_a_document(status, said):
    """Every document would end as a dead letter; the line says which limit it was."""
    error = mapped(refusal(status, json.dumps({"status": {"error": said}, "time": 0.0}).encode()))
    assert type(error) is Broken
    assert "limit" in str(error) or "Index" in str(error)


@pytest.mark.parametrize("body", [b"", b"Help: ", b"[]", b'{"status": "error"}', b'{"status": {"error": 3}}', b"\xff"])
def test_a_refusal_that_says_nothing_of_a_limit_is_the_input_s(body):
    """Whatever stands in its place."""
    assert type(mapped(refusal(400, body))) is Rejected


def test_a_rate_that_passes_is_retryable():
    """Without Retry-After, from a proxy."""
    said = {"status": {"error": "Rate limiting exceeded: Write rate limit exceeded, retry later"}}
    assert type(mapped(refusal(429, json.dumps(said).encode()))) is Retryable


def test_a_body_above_the_server_s_limit_is_too_large():
    """Said with 400, as actix does."""
    said = "Payload error: JSON payload (40013689 bytes) is larger than allowed (limit: 33554432 bytes)."
    error = mapped(refusal(400, json.dumps({"status": {"error": said}, "time": 0.0}).encode()))
    assert isinstance(error, Rejected)
    assert error.reason is Reason.TOO_LARGE


def test_our_own_errors_pass_unchanged():
    """The edge maps vendors' errors only."""
    with pytest.raises(Misconfigured, match="mine"), vendor_errors(nullcontext()):
        raise Misconfigured("mine")


def test_local_mode_s_errors():
    """A folder in use or a closed client may work later; a refused value never will."""
    assert type(mapped(RuntimeError("Storage folder is already accessed"))) is Retryable
    assert type(mapped(ValueError("Vector with name TEXT"))) is Rejected
    assert "TEXT" not in str(mapped(ValueError("Vector with name TEXT")))


def test_a_server_that_is_away_is_retryable():
    """Nothing listens there."""
    with pytest.raises(Retryable):
        QdrantStore("http://127.0.0.1:9", collection="lake", dim=DIM)


def test_a_closed_store_is_retryable():
    """Calls that come late say so."""
    store = QdrantStore(":memory:", collection="lake", dim=DIM)
    store.close()
    with pytest.raises(Retryable):
        store.insert([point("a")])


@pytest.mark.parametrize(
    ("error", "kind"),
    [
        (ValueError("failed to parse TEXT as UUID"), Rejected),
        (TypeError("TEXT"), Rejected),
        (Exception("Vector dimension error: expected dim: 384, got 1"), Misconfigured),
        (Exception("Service runtime error: No space left on device"), Retryable),
        (OSError("No space left on device"), Retryable),
    ],
)
def test_edge_s_errors(error, kind):
    """Edge raises bare exceptions; texts of refused values stay out of ours."""
    ours = edge_child.mapped(error)
    assert type(ours) is kind
    assert "TEXT" not in str(ours)


def test_every_request_has_an_answer():
    """A request that the child does not know would end it."""
    assert set(edge_child.ANSWERS) == set(ask.Request.__args__)
