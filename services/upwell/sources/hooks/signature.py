"""Is a delivery from whoever knows the secret? Always over the raw bytes, always in constant time.

HMAC-SHA256 of the body in the source's header, as hex or base64, `sha256=` before it or not (GitHub's form, RFC 2104).
S3 (MinIO's `auth_token`) and CloudEvents senders that cannot sign may show the secret itself in Authorization.
"""

import base64
import binascii
import hashlib
import hmac

from upwell.sources.hooks.delivery import Delivery

SHOWS_SECRET = frozenset({"s3", "cloudevents"})
"""Hooks whose senders may put the secret into Authorization, `Bearer SECRET` or bare."""


def genuine(delivery: Delivery, hook: str, secret: str, header: str) -> bool:
    """True if the delivery proves that its sender knows the secret. An empty secret proves nothing."""
    key = secret.encode()
    expected = hmac.digest(key, delivery.body, "sha256")
    signed = hmac.compare_digest(_signature(delivery.headers.get(header.lower(), "")), expected)
    shown = hook in SHOWS_SECRET and _same(_token(delivery.headers.get("authorization", "")), secret)
    return bool(secret) and (signed or shown)


def _signature(value: str) -> bytes:
    """The 32 bytes that a header's value stands for; nothing for what is no signature."""
    text = value.strip()
    if text[:7].lower() == "sha256=":
        text = text[7:]
    try:
        return bytes.fromhex(text) if len(text) == 64 else base64.b64decode(text, validate=True)
    except (ValueError, binascii.Error):
        return b""


def _token(value: str) -> str:
    scheme, _, token = value.strip().partition(" ")
    return token.strip() if token and scheme.lower() == "bearer" else value.strip()


def _same(given: str, wanted: str) -> bool:
    """Equal, in a time that says nothing of where they differ."""
    digests = (hashlib.sha256(text.encode("utf-8", "surrogateescape")).digest() for text in (given, wanted))
    return hmac.compare_digest(*digests)
