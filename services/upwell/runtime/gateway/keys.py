"""The gateway's bearer keys: known by their digests, and refused without saying why."""

import hashlib
import hmac
from collections.abc import Sequence

from upwell.config import KeySettings
from upwell.errors import UpwellError


class Stranger(UpwellError):
    """No valid key or signature: which of them, and whether the source exists, is not said."""


def key_of(authorization: str, keys: Sequence[KeySettings]) -> KeySettings:
    """The key that an Authorization header shows. Raises Stranger for none that is known."""
    scheme, _, key = authorization.strip().partition(" ")
    digest = hashlib.sha256(key.strip().encode("utf-8", "surrogateescape")).hexdigest()
    found = [known for known in keys if hmac.compare_digest(known.sha256, digest)]
    if scheme.lower() != "bearer" or not key.strip() or not found:
        raise Stranger("no valid key: Authorization: Bearer KEY")
    return found[0]
