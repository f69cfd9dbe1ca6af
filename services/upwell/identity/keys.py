"""Public keys that verify tokens: which algorithm goes with which kind of key, and nothing else.

A key is usable by its kind and curve alone, never by what a token says: a public key can therefore not serve as the
secret of an HMAC (RFC 8725, section 2.1). Symmetric and private keys in a set are passed over.
"""

from typing import Any

import msgspec
from cryptography.hazmat.primitives.asymmetric.rsa import RSAPublicKey
from jwt.algorithms import get_default_algorithms
from jwt.exceptions import PyJWTError

from upwell.records import Record

ALGORITHMS = {
    ("RSA", None): frozenset({"RS256", "RS384", "RS512", "PS256", "PS384", "PS512"}),
    ("EC", "P-256"): frozenset({"ES256"}),
    ("EC", "P-384"): frozenset({"ES384"}),
    ("EC", "P-521"): frozenset({"ES512"}),
    ("OKP", "Ed25519"): frozenset({"EdDSA"}),
}
ASYMMETRIC = frozenset().union(*ALGORITHMS.values())
MEMBERS = ("kty", "crv", "kid", "n", "e", "x", "y")
RSA_BITS = (2048, 8192)  # below: broken; above: an expensive way to say no
MAX_RSA_EXPONENT = 2**32
MAX_KEYS = 100
MAX_KID_CHARS = 256
_VENDOR = get_default_algorithms()


class PublicKey(Record, frozen=True, kw_only=True):
    """One key of a set. `algorithms` are those that its kind, and its own `alg` if it has one, leave."""

    kid: str
    algorithms: frozenset[str]
    members: tuple[tuple[str, str], ...]
    key: Any

    def verifies(self, algorithm: str, signed: bytes, signature: bytes) -> bool:
        """True if this key made `signature` over `signed`. False for an algorithm that is not one of its own."""
        if algorithm not in self.algorithms:
            return False
        return bool(_VENDOR[algorithm].verify(signed, self.key, signature))


class _KeySet(Record, frozen=True, kw_only=True):
    keys: list[dict[str, Any]]


def keys_of(data: bytes) -> dict[str, PublicKey]:
    """The usable keys of a JWK Set (RFC 7517) by their id; of two different ones with one id neither.

    Raises ValueError, in one line that quotes nothing, for what is no JWK Set. A set without a usable key is one.
    """
    try:
        listed = msgspec.json.decode(data, type=_KeySet).keys
    except (msgspec.DecodeError, RecursionError, UnicodeDecodeError):
        raise ValueError("not a JWK Set") from None
    if len(listed) > MAX_KEYS:
        raise ValueError(f"more than {MAX_KEYS} keys")
    found: dict[str, PublicKey] = {}
    ambiguous = set()
    for jwk in listed:
        key = key_of(jwk)
        if key is None:
            continue
        if key.kid in found and found[key.kid].members != key.members:
            ambiguous.add(key.kid)
        found[key.kid] = key
    return {kid: key for kid, key in found.items() if kid not in ambiguous}


def key_of(jwk: dict[str, Any]) -> PublicKey | None:
    """The public key that a JWK holds; None if it is of no use here (no id, not for signatures, weak, secret)."""
    members = {name: jwk[name] for name in MEMBERS if name in jwk}
    if not all(isinstance(value, str) for value in members.values()):
        return None
    kid = members.get("kid", "")
    if not 0 < len(kid) <= MAX_KID_CHARS or not _for_signatures(jwk):
        return None
    algorithms = ALGORITHMS.get((members.get("kty", ""), members.get("crv")), frozenset())
    if "alg" in jwk:
        algorithms = algorithms & {name for name in (jwk["alg"],) if isinstance(name, str)}
    if not algorithms:
        return None
    try:
        key = _VENDOR[min(algorithms)].from_jwk(members)
    except (PyJWTError, ValueError, TypeError, OverflowError):
        return None
    if isinstance(key, RSAPublicKey) and not _sound(key):
        return None
    return PublicKey(kid=kid, algorithms=algorithms, members=tuple(sorted(members.items())), key=key)


def _for_signatures(jwk: dict[str, Any]) -> bool:
    if "d" in jwk or "k" in jwk:  # a secret that was published is nobody's proof
        return False
    operations = jwk.get("key_ops", ["verify"])
    return jwk.get("use", "sig") == "sig" and isinstance(operations, list) and "verify" in operations


def _sound(key: RSAPublicKey) -> bool:
    least, most = RSA_BITS
    return least <= key.key_size <= most and key.public_numbers().e < MAX_RSA_EXPONENT
