"""What the claims of a verified token say: until when it holds, for whom it is meant, and who its bearer is.

Names become principals by a prefix of ours (`user:` and the subject, `group:` and a group), whatever they hold: a
subject `group:admin` is `user:group:admin`, and `everyone` is `user:everyone`.
"""

import unicodedata
from typing import Any, TypeGuard

from upwell.errors import Refusal, Unauthorized
from upwell.records import Record

MAX_NAME_CHARS = 256
MAX_GROUPS = 1000
MAX_SCOPES = 100
MAX_SECONDS = 2**40  # some 30,000 years: beyond is no date


class ClaimRules(Record, frozen=True, kw_only=True):
    """How one issuer's claims are read. Times in seconds; `tenant_claim` None: always `tenant`."""

    audience: str
    leeway_s: float
    user_claim: str
    groups_claim: str
    tenant_claim: str | None
    tenant: str


class Named(Record, frozen=True, kw_only=True):
    """Who a token names. `groups` are principals already (`group:…`); `expires_at` in us."""

    tenant: str
    subject: str
    groups: frozenset[str]
    scopes: tuple[str, ...]
    token_id: str | None
    expires_at: int


def named(claims: dict[str, Any], rules: ClaimRules, now_us: int) -> Named:
    """Raises Unauthorized (expired, not_yet_valid, wrong_audience, bad_claim): a claim that is not understood refuses
    the token, it is never skipped."""
    expires_s = _check_times(claims, rules.leeway_s, now_us / 1_000_000)
    _check_audience(claims.get("aud"), rules.audience)
    return Named(
        tenant=rules.tenant if rules.tenant_claim is None else name(claims.get(rules.tenant_claim), "tenant"),
        subject=name(claims.get(rules.user_claim), "user"),
        groups=_groups(claims.get(rules.groups_claim, [])),
        scopes=_scopes(claims.get("scope", claims.get("scp", []))),
        token_id=name(claims["jti"], "jti") if "jti" in claims else None,
        expires_at=int(expires_s * 1_000_000),
    )


def name(value: object, what: str) -> str:
    """The claim's value as a name. Raises Unauthorized (bad_claim) for what is none."""
    if not is_name(value):
        raise _bad(what)
    return value


def is_name(value: object) -> TypeGuard[str]:
    """True for a name that a person can see whole and that has one spelling: printable, NFC, no blanks at its ends.

    What looks like another name but is none (another script) is another name; what is invisible is no name.
    """
    if not isinstance(value, str) or not 0 < len(value) <= MAX_NAME_CHARS:
        return False
    return value.isprintable() and value == value.strip() and unicodedata.is_normalized("NFC", value)


def _check_times(claims: dict[str, Any], leeway_s: float, now_s: float) -> float:
    if "exp" not in claims:
        raise _bad("exp")
    expires_s = _seconds(claims["exp"], "exp")
    if expires_s + leeway_s <= now_s:
        raise Unauthorized(Refusal.EXPIRED, "expired")
    for claim in ("nbf", "iat"):
        if claim in claims and _seconds(claims[claim], claim) - leeway_s > now_s:
            raise Unauthorized(Refusal.NOT_YET_VALID, f"not yet valid by {claim}")
    return expires_s


def _seconds(value: object, what: str) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise _bad(what)
    if not 0 <= value <= MAX_SECONDS:  # no NaN is, and no integer that is too large for a float
        raise _bad(what)
    return float(value)


def _check_audience(value: object, audience: str) -> None:
    given = [value] if isinstance(value, str) else value
    if not isinstance(given, list) or not all(isinstance(one, str) for one in given) or audience not in given:
        raise Unauthorized(Refusal.WRONG_AUDIENCE, "meant for another audience")


def _groups(value: object) -> frozenset[str]:
    if not isinstance(value, list) or len(value) > MAX_GROUPS:
        raise _bad("groups")
    return frozenset(f"group:{name(one, 'groups')}" for one in value)


def _scopes(value: object) -> tuple[str, ...]:
    """RFC 8693: one string, parted by blanks; some issuers write a list."""
    given = value.split(" ") if isinstance(value, str) and value else value
    if given == "":
        return ()
    if not isinstance(given, list) or len(given) > MAX_SCOPES:
        raise _bad("scope")
    return tuple(name(one, "scope") for one in given)


def _bad(what: str) -> Unauthorized:
    return Unauthorized(Refusal.BAD_CLAIM, f"claim for {what} missing or not understood")
