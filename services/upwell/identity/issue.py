"""Tokens that the lake signs itself, so that one person needs no identity provider."""

import base64
import math
import secrets

import msgspec

from upwell.errors import Misconfigured
from upwell.identity.claims import MAX_GROUPS, MAX_NAME_CHARS, is_name
from upwell.identity.own_key import ALGORITHM, LakeKey
from upwell.identity.token_form import MAX_TOKEN_BYTES
from upwell.records import Record

TENANT_CLAIM = "tenant"
OWN_LEEWAY_S = 30.0
MAX_TTL_S = 366 * 86_400.0
FEED = "feed a directory instead (upwell principals set)"


class Issued(Record, frozen=True, kw_only=True):
    """A token, and what is to be known of it without reading it. `expires_at` in us."""

    token: str
    expires_at: int
    kid: str
    token_id: str


class Grant(Record, frozen=True, kw_only=True):
    """What a token is to say of its bearer: `subject` (without `user:`) of `tenant`, in `groups` (without `group:`).

    It says so for `ttl_s` seconds from when it is signed.
    """

    subject: str
    tenant: str
    groups: frozenset[str] = frozenset()
    ttl_s: float


def check(grant: Grant) -> None:
    """Raises Misconfigured for names that no verifier takes, and for a life that is not above 0 and at most a year."""
    for what, value in (("user", grant.subject), ("tenant", grant.tenant), *(("group", one) for one in grant.groups)):
        if not is_name(value):
            raise Misconfigured(
                f"{what} {value[:40]!r}: a name is printable, without blanks around, of {MAX_NAME_CHARS} characters "
                "at most"
            )
    if len(grant.groups) > MAX_GROUPS:
        raise Misconfigured(f"a token names at most {MAX_GROUPS} groups; {FEED}")
    if not 0 < grant.ttl_s <= MAX_TTL_S:
        raise Misconfigured("a token lives for more than nothing and at most 366 days")


def issue(own: LakeKey, grant: Grant, *, audience: str, now_us: int) -> Issued:
    """A token that says what is granted, signed with the lake's newest key.

    Raises Misconfigured as `check` does, and for groups that do not fit into a token.
    """
    check(grant)
    signing = own.signing_key()
    now_s = now_us // 1_000_000
    expires_s = now_s + math.ceil(grant.ttl_s)
    token_id = secrets.token_hex(16)
    header = {"alg": ALGORITHM, "kid": signing.kid, "typ": "JWT"}
    claims = {
        "iss": signing.issuer,
        "aud": audience,
        "sub": grant.subject,
        TENANT_CLAIM: grant.tenant,
        "groups": sorted(grant.groups),
        "iat": now_s,
        "nbf": now_s,
        "exp": expires_s,
        "jti": token_id,
    }
    signed = f"{_part(msgspec.json.encode(header))}.{_part(msgspec.json.encode(claims))}"
    token = f"{signed}.{_part(signing.sign(signed.encode()))}"
    if len(token) > MAX_TOKEN_BYTES:
        raise Misconfigured(f"so many groups fit into no token; {FEED}")
    return Issued(token=token, expires_at=expires_s * 1_000_000, kid=signing.kid, token_id=token_id)


def _part(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()
