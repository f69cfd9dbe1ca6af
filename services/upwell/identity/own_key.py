"""The lake's own key: Ed25519, in one private file, for tokens without an identity provider and for certificates.

The newest key signs; of the older ones only the public half is kept, so that what they signed still verifies. The file
is read again when it changes, so a rotation needs no restart.
"""

import os
from collections.abc import Callable
from pathlib import Path

import msgspec
from cryptography.exceptions import InvalidSignature

from upwell.config import Settings
from upwell.identity.own_key_file import KeyRecord, Loaded, alone, load, make, mark, new_key, write
from upwell.records import Record

FILE_NAME = "signing-key.json"
ALGORITHM = "EdDSA"


class SigningKey(Record, frozen=True, kw_only=True):
    """The newest key at one moment: what `sign` makes verifies under this `kid`, however often keys rotate."""

    kid: str
    issuer: str
    sign: Callable[[bytes], bytes]


class LakeKey:
    """The keys in one file. Every method reads the file again when it has changed; all are safe between threads.

    Raises Misconfigured, naming the file, when it is gone, unreadable, damaged or readable by others.
    """

    def __init__(self, path: Path) -> None:
        """Use `at`, which makes the file if need be."""
        self._path = path
        self._loaded = load(path)

    @classmethod
    def at(cls, path: Path) -> "LakeKey":
        """The keys in `path`; where no file is, one is made with mode 0600 (of processes that race one makes it)."""
        if not os.path.lexists(path):
            make(path)
        return cls(path)

    @property
    def kid(self) -> str:
        """The id of the key that signs now. To name it beside a signature take `signing_key` once for both."""
        return self.signing_key().kid

    @property
    def issuer(self) -> str:
        """`upwell:` and the thumbprint of the lake's first key; stays through rotations."""
        return self._current().file.issuer

    def signing_key(self) -> SigningKey:
        """The newest key, to name and to use."""
        loaded = self._current()
        newest = loaded.file.keys[-1]
        return SigningKey(kid=newest.kid, issuer=loaded.file.issuer, sign=loaded.private.sign)

    def sign(self, data: bytes) -> bytes:
        """64 bytes: the newest key's Ed25519 signature (RFC 8032)."""
        return self.signing_key().sign(data)

    def verify(self, kid: str, data: bytes, signature: bytes) -> bool:
        """True if the key of that id, newest or older, signed `data`. False for an unknown id too."""
        public = self._current().public.get(kid)
        if public is None:
            return False
        try:
            public.verify(signature, data)
        except InvalidSignature:
            return False
        return True

    def public_jwks(self) -> dict[str, list[dict[str, str]]]:
        """The public halves of all keys, as a JWK Set that others may hold."""
        return {"keys": [_public_jwk(key) for key in self._current().file.keys]}

    def public_jwk(self, kid: str) -> dict[str, str] | None:
        """The public half of one key, None for an unknown id."""
        return next((_public_jwk(key) for key in self._current().file.keys if key.kid == kid), None)

    def rotate(self) -> str:
        """Add a new key, which signs from now on, and drop the private half of the older ones; return its id."""
        with alone(self._path):
            file = load(self._path).file
            fresh = new_key()
            kept = tuple(msgspec.structs.replace(key, d=None) for key in file.keys)
            write(self._path, msgspec.structs.replace(file, keys=(*kept, fresh)), over=True)
        return fresh.kid

    def _current(self) -> Loaded:
        loaded = self._loaded
        if mark(self._path) != loaded.mark:
            loaded = self._loaded = load(self._path)
        return loaded


def signing_key_of(settings: Settings) -> Path:
    """Where the lake's key is: the setting `signing_key`, else `signing-key.json` in the lake's folder."""
    return settings.signing_key or settings.lake / FILE_NAME


def _public_jwk(key: KeyRecord) -> dict[str, str]:
    return {"kty": key.kty, "crv": key.crv, "kid": key.kid, "x": key.x, "alg": ALGORITHM, "use": "sig"}
