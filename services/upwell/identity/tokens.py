"""From a bearer token to a reader.

All that a token says is checked here, in this order, and the first doubt refuses it: form, issuer, algorithm, key,
signature, times, audience, names (RFC 7519 and its best practice, RFC 8725).
"""

import hashlib
from collections.abc import Sequence
from typing import Protocol

from upwell.access import Asker
from upwell.clock import Clock
from upwell.config import IssuerSettings
from upwell.errors import KeyLookupFailed, Misconfigured, Refusal, Unauthorized
from upwell.identity.claims import ClaimRules, Named, named
from upwell.identity.issue import OWN_LEEWAY_S, TENANT_CLAIM
from upwell.identity.jwks import Jwks
from upwell.identity.keys import ASYMMETRIC, PublicKey, key_of
from upwell.identity.own_key import ALGORITHM, LakeKey
from upwell.identity.token_form import MAX_TOKEN_BYTES, Unverified, malformed, taken_apart
from upwell.reading import Reader
from upwell.records import Record

SCHEME = "bearer "


class Caller(Record, frozen=True, kw_only=True):
    """Who sent a request, proven. `subject` as the token has it, `token_id` its `jti` or a hash of it; `expires_at` in
    us."""

    reader: Reader
    tenant: str
    subject: str
    issuer: str
    token_id: str
    expires_at: int
    scopes: tuple[str, ...]


class Keys(Protocol):
    """Who knows an issuer's keys: None for an unknown id, KeyLookupFailed if that cannot be known now."""

    def find(self, kid: str) -> PublicKey | None: ...


class _Trusted(Record, frozen=True, kw_only=True):
    issuer: str
    keys: Keys
    algorithms: frozenset[str]
    rules: ClaimRules


class Verifier:
    """Verifies tokens of the issuers that the settings name, and those of the lake's own key. Safe between threads."""

    def __init__(self, issuers: Sequence[IssuerSettings], own: LakeKey | None, audience: str, clock: Clock) -> None:
        """`audience` is that of the lake's own tokens. Nothing is fetched yet.

        Raises Misconfigured for an issuer named twice, an algorithm that is not asymmetric, keys that cannot be had.
        """
        self._clock = clock
        self._own = own
        self._own_rules = ClaimRules(
            audience=audience,
            leeway_s=OWN_LEEWAY_S,
            user_claim="sub",
            groups_claim="groups",
            tenant_claim=TENANT_CLAIM,
            tenant="",
        )
        self._trusted: dict[str, _Trusted] = {}
        for settings in issuers:
            if settings.issuer in self._trusted or (own is not None and settings.issuer == own.issuer):
                raise Misconfigured(f"setting issuers: {settings.issuer} stands there twice, or is the lake itself")
            self._trusted[settings.issuer] = _trusted(settings, clock)

    def verify(self, token: str, *, via: str = "http") -> Caller:
        """Whose token this is, given without its scheme.

        Raises Unauthorized with its reason (for the audit alone), KeyLookupFailed while an issuer's keys are away.
        """
        form = taken_apart(token)
        trusted = self._issuer_of(form)
        if form.algorithm not in trusted.algorithms:
            raise Unauthorized(Refusal.BAD_ALGORITHM, "an algorithm that this issuer does not use")
        key = trusted.keys.find(form.kid)
        if key is None:
            raise Unauthorized(Refusal.UNKNOWN_KEY, "a key that this issuer does not have")
        if form.algorithm not in key.algorithms:
            raise Unauthorized(Refusal.BAD_ALGORITHM, "an algorithm that does not go with the key")
        if not key.verifies(form.algorithm, form.signed, form.signature):
            raise Unauthorized(Refusal.BAD_SIGNATURE, "not signed by that key")
        return _caller(named(form.claims, trusted.rules, self._clock()), trusted.issuer, form, via)

    def _issuer_of(self, form: Unverified) -> _Trusted:
        issuer = form.claims.get("iss")
        if not isinstance(issuer, str):
            raise malformed("no issuer")
        trusted = self._trusted.get(issuer)
        if trusted is not None:
            return trusted
        if self._own is not None and issuer == _own_issuer(self._own):
            return _Trusted(
                issuer=issuer, keys=_OwnKeys(self._own), algorithms=frozenset({ALGORITHM}), rules=self._own_rules
            )
        raise Unauthorized(Refusal.UNKNOWN_ISSUER, "an issuer that is not trusted")


def bearer_of(authorization: str | None) -> str:
    """The token in an Authorization header's value (RFC 6750). Raises Unauthorized (no_token, malformed)."""
    if authorization is None or not authorization.strip():
        raise Unauthorized(Refusal.NO_TOKEN, "no token")
    if len(authorization) > MAX_TOKEN_BYTES + len(SCHEME):
        raise malformed(f"longer than {MAX_TOKEN_BYTES} bytes")
    if authorization[: len(SCHEME)].lower() != SCHEME:
        raise Unauthorized(Refusal.NO_TOKEN, "not a bearer token")
    return authorization[len(SCHEME) :].strip(" ")


class _OwnKeys:
    def __init__(self, own: LakeKey) -> None:
        self._own = own

    def find(self, kid: str) -> PublicKey | None:
        try:
            jwk = self._own.public_jwk(kid)
        except Misconfigured as e:
            raise KeyLookupFailed(str(e)) from e
        return None if jwk is None else key_of(jwk)


def _own_issuer(own: LakeKey) -> str:
    try:
        return own.issuer
    except Misconfigured as e:
        raise KeyLookupFailed(str(e)) from e


def _trusted(settings: IssuerSettings, clock: Clock) -> _Trusted:
    wrong = sorted(set(settings.algorithms) - ASYMMETRIC)
    if wrong or not settings.algorithms:
        raise Misconfigured(
            f"setting issuers.algorithms: {', '.join(wrong) or 'none'}: name some of {', '.join(sorted(ASYMMETRIC))}"
        )
    return _Trusted(
        issuer=settings.issuer,
        keys=Jwks.at(settings.jwks, clock),
        algorithms=frozenset(settings.algorithms),
        rules=ClaimRules(
            audience=settings.audience,
            leeway_s=settings.leeway_s,
            user_claim=settings.user_claim,
            groups_claim=settings.groups_claim,
            tenant_claim=settings.tenant_claim,
            tenant=settings.tenant,
        ),
    )


def _caller(who: Named, issuer: str, form: Unverified, via: str) -> Caller:
    user = f"user:{who.subject}"
    asker = Asker(tenant=who.tenant, principals=frozenset({user}), claimed=who.groups)
    return Caller(
        reader=Reader(asker=asker, actor=user, via=via),
        tenant=who.tenant,
        subject=who.subject,
        issuer=issuer,
        token_id=who.token_id or hashlib.sha256(form.signed).hexdigest()[:32],
        expires_at=who.expires_at,
        scopes=who.scopes,
    )
