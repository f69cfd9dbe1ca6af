"""Tokens that the lake signs itself, so that one person needs no identity provider."""

import base64
import math
import secrets
from collections.abc import Iterable

import msgspec

from upwell.errors import Misconfigured
from upwell.identity.own_key import ALGORITHM, LakeKey
from upwell.records import Record

TENANT_CLAIM = "tenant"
OWN_LEEWAY_S = 30.0
MAX_TTL_S = 366 * 86_400.0
MAX_ISSUED_BYTES = 16 * 1024  # more than that no verifier takes


class Issued(Record, frozen=True, kw_only=True):
    """A token, and what is to be known of it without reading it. `expires_at` in us."""

    token: str
    expires_at: int
    kid: str
    token_id: str


def issue(
    own: LakeKey, *, subject: str, groups: Iterable[str], tenant: str, audience: str, ttl_s: float, now_us: int
) -> Issued:
    """A token for `subject` (without `user:`), in `groups` (without `group:`), of `tenant`, for `ttl_s` seconds.

    Raises Misconfigured for a ttl that is not above 0 and at most a year, and for more groups than fit into a token.
    """
    if not (math.isfinite(ttl_s) and 0 < ttl_s <= MAX_TTL_S):
        raise Misconfigured("a token lives for more than nothing and at most 366 days")
    signing = own.signing_key()
    now_s = now_us // 1_000_000
    expires_s = now_s + math.ceil(ttl_s)
    token_id = secrets.token_hex(16)
    header = {"alg": ALGORITHM, "kid": signing.kid, "typ": "JWT"}
    claims = {
        "iss": signing.issuer,
        "aud": audience,
        "sub": subject,
        TENANT_CLAIM: tenant,
        "groups": sorted(set(groups)),
        "iat": now_s,
        "nbf": now_s,
        "exp": expires_s,
        "jti": token_id,
    }
    signed = f"{_part(msgspec.json.encode(header))}.{_part(msgspec.json.encode(claims))}"
    token = f"{signed}.{_part(signing.sign(signed.encode()))}"
    if len(token) > MAX_ISSUED_BYTES:
        raise Misconfigured("so many groups fit into no token; feed a directory instead (upwell principals set)")
    return Issued(token=token, expires_at=expires_s * 1_000_000, kid=signing.kid, token_id=token_id)


def _part(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()
