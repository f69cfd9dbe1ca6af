"""Reaching a Qdrant server: its URL, its key, its version, and what that version can do.

From https://qdrant.tech/documentation: insert-only upserts exist from 1.17 on; the datatype turbo4 and term statistics
of one tenant from 1.19 on (release notes of 1.19.0). Below that, late vectors are float16, and words weigh alike, for
how rare a word is in the whole collection would tell a tenant what others write.
"""

import re
from urllib.parse import urlsplit

import httpx
from qdrant_client import QdrantClient
from qdrant_client.http.exceptions import ResponseHandlingException, UnexpectedResponse

from upwell.errors import Misconfigured
from upwell.lake.store.qdrant_errors import NO_JSON
from upwell.records import Record

TIMEOUT_S = 60
"""Of one request. A waited write may stand behind others, an index behind a full collection."""
KEEP_ALIVE_S = 2.0
"""For how long an idle connection is used again. A server closes it after 5 s (actix-web's default), and so long the
client would keep it: a request that goes out at that moment finds nobody.
https://github.com/qdrant/qdrant/issues/6481"""
KEPT_CONNECTIONS = 20
LOOPBACK = {"localhost", "127.0.0.1"}
"""For these the client keeps no connection at all."""
NOT_FOUND = 404
OLDEST = 1, 18
TURBO4_SINCE = TENANT_TERMS_SINCE = 1, 19


class Abilities(Record, frozen=True, kw_only=True):
    """What a server can do that an older one cannot."""

    turbo4: bool
    tenant_terms: bool


def connected(url: str, api_key: str | None) -> QdrantClient:
    """A client of the server at `url` (http or https; without a port 6333 is meant; a path before the API is kept).

    Nothing is sent yet. Raises Misconfigured for a URL that cannot be one.
    """
    try:
        parts = urlsplit(url)
        usable = parts.scheme in {"http", "https"} and bool(parts.hostname) and parts.port != 0
    except ValueError:
        usable = False
    if not usable:
        raise Misconfigured("setting store (UPWELL_STORE): not a URL of a Qdrant server, such as http://qdrant:6333")
    # As a header, since the client warns of a key without TLS: a private network may well do without.
    headers = {"api-key": api_key} if api_key else None
    kept = httpx.Limits(max_keepalive_connections=KEPT_CONNECTIONS, keepalive_expiry=KEEP_ALIVE_S)
    limits = None if parts.hostname in LOOPBACK else kept
    return QdrantClient(url=url, headers=headers, timeout=TIMEOUT_S, limits=limits, check_compatibility=False)


def abilities(client: QdrantClient) -> Abilities:
    """Ask the server for its version.

    Raises Misconfigured when it is older than 1.18 or no Qdrant server at all, and what the client raises.
    """
    try:
        answered = client.info().version
    except (ResponseHandlingException, UnexpectedResponse, *NO_JSON) as error:
        if isinstance(getattr(error, "source", None), httpx.HTTPError | OSError):
            raise
        if isinstance(error, UnexpectedResponse) and error.status_code != NOT_FOUND:
            raise
        raise Misconfigured(
            "setting store (UPWELL_STORE): what answers there is not a Qdrant server; check host, port and path"
        ) from error
    version = version_of(answered)
    if version < OLDEST:
        raise Misconfigured(f"the Qdrant server is version {answered[:40]}; {OLDEST[0]}.{OLDEST[1]} or newer is needed")
    return Abilities(turbo4=version >= TURBO4_SINCE, tenant_terms=version >= TENANT_TERMS_SINCE)


def version_of(text: str) -> tuple[int, int]:
    """(major, minor) of `1.19.2`, `v1.20.0-dev`. Raises Misconfigured for what is no version."""
    found = re.match(r"v?(\d+)\.(\d+)", text)
    if found is None:
        raise Misconfigured("the Qdrant server does not say its version; check setting store (UPWELL_STORE)")
    return int(found[1]), int(found[2])
