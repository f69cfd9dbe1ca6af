"""Certificates: the bytes that are signed, the signature, and whether it holds. Anybody can check one with the public
half of the lake's key and the JSON alone.

    signed = json.dumps({all but "signature"}, sort_keys=True, separators=(",", ":"))    # ASCII
"""

import base64
import binascii
import json
from collections.abc import Callable, Mapping
from typing import Any

import msgspec

from upwell.answers import Certificate, VerifyAnswer
from upwell.ports import Signer

SIGNATURE = "signature"
INSIDE = "certificate"
"""Where `upwell erase --json` has it."""
MOST_BYTES = 64 * 1024 * 1024

Verifier = Callable[[str, bytes, bytes], bool]
"""(key id, what was signed, signature) -> whether that key has signed it; False for a key that is not known."""


def signed(certificate: Certificate, signer: Signer) -> Certificate:
    """The certificate with the key's name and its signature."""
    named = msgspec.structs.replace(certificate, kid=signer.kid, signature="")
    signature = base64.urlsafe_b64encode(signer.sign(signed_bytes(msgspec.to_builtins(named))))
    return msgspec.structs.replace(named, signature=signature.rstrip(b"=").decode())


def signed_bytes(fields: Mapping[str, Any]) -> bytes:
    """What the signature is over: every field but itself, those that this code does not know too."""
    kept = {name: value for name, value in fields.items() if name != SIGNATURE}
    return json.dumps(kept, sort_keys=True, separators=(",", ":")).encode()


def verified(data: bytes, verifier: Verifier) -> VerifyAnswer:
    """Whether `data`, a certificate in JSON or an answer that has one inside, is what a known key has signed."""
    fields = _fields(data)
    if fields is None:
        return VerifyAnswer(valid=False, reason="no certificate in JSON", id="", kid="", issued_at="")
    named = {name: str(fields.get(name, "")) for name in ("id", "kid", "issued_at")}
    signature = _unpacked(fields.get(SIGNATURE))
    if signature is None:
        return VerifyAnswer(valid=False, reason="there is no signature", **named)
    try:
        holds = verifier(named["kid"], signed_bytes(fields), signature)
    except UnicodeEncodeError:
        holds = False
    if not holds:
        reason = f"no key here named {named['kid'][:64]!r} has signed this text"
        return VerifyAnswer(valid=False, reason=reason, **named)
    return VerifyAnswer(valid=True, reason="", **named)


def jwks_verifier(jwks: bytes) -> Verifier:
    """A verifier over the Ed25519 keys of a JWK Set (RFC 8037). Raises ValueError for what is none."""
    from cryptography.exceptions import InvalidSignature  # noqa: PLC0415 only who verifies needs it
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey  # noqa: PLC0415

    found = json.loads(jwks)
    listed = found.get("keys") if isinstance(found, dict) else None
    if not isinstance(listed, list):
        raise ValueError("not a JWK Set")  # noqa: TRY004 what is wrong is the value
    keys = {
        str(key.get("kid")): Ed25519PublicKey.from_public_bytes(_unpacked(key.get("x")) or b"")
        for key in listed
        if isinstance(key, dict) and key.get("kty") == "OKP" and key.get("crv") == "Ed25519"
    }

    def verify(kid: str, data: bytes, signature: bytes) -> bool:
        if kid not in keys:
            return False
        try:
            keys[kid].verify(signature, data)
        except InvalidSignature:
            return False
        return True

    return verify


def _fields(data: bytes) -> dict[str, Any] | None:
    """The certificate's fields; a name that comes twice makes it none, for readers would differ on what it says."""
    if len(data) > MOST_BYTES:
        return None
    try:
        found = json.loads(data, object_pairs_hook=_once, parse_constant=_refused)
    except (ValueError, RecursionError):
        return None
    inner = found.get(INSIDE, found) if isinstance(found, dict) else None
    return inner if isinstance(inner, dict) and "kid" in inner else None


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("a name comes twice")
    return found


def _refused(name: str) -> Any:
    raise ValueError(f"{name} is no JSON")


def _unpacked(text: object) -> bytes | None:
    if not isinstance(text, str) or not text:
        return None
    try:
        return base64.b64decode(text + "=" * (-len(text) % 4), altchars=b"-_", validate=True)
    except (binascii.Error, ValueError):
        return None
