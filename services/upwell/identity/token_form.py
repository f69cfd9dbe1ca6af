"""A token taken apart: the compact form of RFC 7515, read strictly, before anything in it is believed."""

import base64
import binascii
import json
import re
from typing import Any

from upwell.errors import Refusal, Unauthorized
from upwell.records import Record

MAX_TOKEN_BYTES = 16 * 1024
MAX_HEADER_BYTES = 2 * 1024
MAX_KID_CHARS = 256
COMPACT = re.compile(r"([A-Za-z0-9_-]+)\.([A-Za-z0-9_-]+)\.([A-Za-z0-9_-]+)")
# What would let a token bring its own key, change what is signed, or demand what is not implemented.
REFUSED_HEADERS = frozenset({"crit", "jwk", "jku", "x5u", "x5c", "b64", "zip", "enc"})
TYPES = frozenset({"jwt", "at+jwt"})  # others (logout, proof of possession …) are no access tokens: RFC 8725, 3.11


class Unverified(Record, frozen=True, kw_only=True):
    """What a token says. Nothing of it is true before `signature` over `signed` has been verified."""

    algorithm: str
    kid: str
    claims: dict[str, Any]
    signed: bytes
    signature: bytes


def taken_apart(token: str) -> Unverified:
    """Raises Unauthorized (no_token, malformed) for all that is not one unencrypted, signed, unambiguous token."""
    if not token:
        raise Unauthorized(Refusal.NO_TOKEN, "no token")
    if len(token) > MAX_TOKEN_BYTES:
        raise malformed(f"longer than {MAX_TOKEN_BYTES} bytes")
    parts = COMPACT.fullmatch(token)
    if parts is None:
        raise malformed("not three parts of base64url")
    if len(parts[1]) > MAX_HEADER_BYTES:
        raise malformed(f"header longer than {MAX_HEADER_BYTES} bytes")
    header = _object(_decoded(parts[1]), "header")
    if REFUSED_HEADERS & header.keys():
        raise malformed("a header parameter that is not taken")
    algorithm, kid, kind = header.get("alg"), header.get("kid"), header.get("typ", "JWT")
    if not isinstance(algorithm, str) or not isinstance(kid, str) or not 0 < len(kid) <= MAX_KID_CHARS:
        raise malformed("header without alg or kid")
    if not isinstance(kind, str) or kind.lower().removeprefix("application/") not in TYPES:
        raise malformed("not an access token by its typ")
    return Unverified(
        algorithm=algorithm,
        kid=kid,
        claims=_object(_decoded(parts[2]), "payload"),
        signed=f"{parts[1]}.{parts[2]}".encode(),
        signature=_decoded(parts[3]),
    )


def malformed(detail: str) -> Unauthorized:
    return Unauthorized(Refusal.MALFORMED, detail)


def _decoded(text: str) -> bytes:
    """Base64url in its one canonical form, so that no second token is equal to this one."""
    try:
        data = base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))
    except binascii.Error:
        raise malformed("not base64url") from None
    if base64.urlsafe_b64encode(data).rstrip(b"=").decode() != text:
        raise malformed("not canonical base64url")
    return data


def _object(data: bytes, part: str) -> dict[str, Any]:
    try:
        value = json.loads(data.decode(), object_pairs_hook=_once_each, parse_constant=_no_constant)
    except (ValueError, RecursionError):
        raise malformed(f"{part} is not unambiguous JSON") from None
    if not isinstance(value, dict):
        raise malformed(f"{part} is not an object")
    return value


def _once_each(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """RFC 7519, section 4: of two claims of one name, parsers disagree which counts."""
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("a name stands twice")
    return found


def _no_constant(name: str) -> float:
    raise ValueError(name)
