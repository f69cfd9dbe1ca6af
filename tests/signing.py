"""Issuers for tests: key pairs of every kind, and tokens that are signed right, wrong or not at all."""

import base64
import hashlib
import hmac
import json
from functools import cache
from typing import Any

from cryptography.hazmat.primitives.asymmetric import ec, ed25519, rsa
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat
from jwt.algorithms import get_default_algorithms

NOW_S = 1_800_000_000
NOW_US = NOW_S * 1_000_000
ISSUER, AUDIENCE = "https://id.example", "upwell-search"
CLAIMS = {
    "iss": ISSUER,
    "aud": AUDIENCE,
    "sub": "ana",
    "exp": NOW_S + 600,
    "iat": NOW_S,
    "groups": ["eng"],
    "jti": "t1",
}
VENDOR = get_default_algorithms()
KEYS = {
    "RS256": lambda: rsa.generate_private_key(65537, 2048),
    "ES256": lambda: ec.generate_private_key(ec.SECP256R1()),
    "ES384": lambda: ec.generate_private_key(ec.SECP384R1()),
    "EdDSA": ed25519.Ed25519PrivateKey.generate,
}


def b64(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def part(value: Any) -> str:
    return b64(value if isinstance(value, bytes) else json.dumps(value).encode())


@cache
def private(algorithm: str, number: int) -> Any:
    """The same key for the same question: making RSA keys takes time."""
    return KEYS[algorithm]()


def jwk(algorithm: str, kid: str, number: int = 0, **more: Any) -> dict[str, Any]:
    public = VENDOR[algorithm].to_jwk(private(algorithm, number).public_key(), as_dict=True)
    public.pop("key_ops", None)
    return {**public, "kid": kid, **more}


def key_set(*keys: dict[str, Any]) -> bytes:
    return json.dumps({"keys": keys}).encode()


def pem(algorithm: str, number: int = 0) -> bytes:
    return private(algorithm, number).public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)


def token(
    claims: Any = None, *, algorithm: str = "EdDSA", kid: Any = "one", number: int = 0, header: Any = None
) -> str:
    """Signed by that key; `claims` and `header` as they are if they are bytes."""
    if not isinstance(header, bytes):
        header = {"alg": algorithm, "kid": kid, "typ": "JWT", **(header or {})}
    signed = f"{part(header)}.{part(CLAIMS if claims is None else claims)}"
    return f"{signed}.{b64(VENDOR[algorithm].sign(signed.encode(), private(algorithm, number)))}"


def hmac_token(secret: bytes, *, kid: str = "one", claims: Any = None) -> str:
    """What a confused verifier would take: HS256 with a public text as the secret."""
    signed = f"{part({'alg': 'HS256', 'kid': kid, 'typ': 'JWT'})}.{part(claims or CLAIMS)}"
    return f"{signed}.{b64(hmac.digest(secret, signed.encode(), hashlib.sha256))}"


def without(name: str) -> dict[str, Any]:
    return {claim: value for claim, value in CLAIMS.items() if claim != name}
