"""The lake's own key: Ed25519, in one private file, for tokens without an identity provider and for certificates.

The file is a JWK Set (RFC 7517, RFC 8037) with the issuer's name beside it, oldest key first. The newest key signs; of
the older ones only the public half is kept, so that what they signed still verifies. It is written whole and moved into
place, so a reader never sees a part; it is read again when it changes, so a rotation needs no restart.
"""

import base64
import fcntl
import hashlib
import os
import secrets
import stat
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import msgspec
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey

from upwell.config import Settings
from upwell.errors import Misconfigured
from upwell.records import Record

FILE_NAME = "signing-key.json"
ALGORITHM = "EdDSA"
MAX_FILE_BYTES = 256 * 1024


class KeyRecord(Record, frozen=True, kw_only=True, omit_defaults=True):
    """One key in the file (RFC 8037); `d`, the private half, stands in the newest alone."""

    kty: str
    crv: str
    kid: str
    x: str
    d: str | None = None


class KeyFile(Record, frozen=True, kw_only=True):
    """What the file holds. `issuer` is fixed when the file is made: `upwell:` and the first key's thumbprint."""

    issuer: str
    keys: tuple[KeyRecord, ...]


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
        self._loaded = _load(path)

    @classmethod
    def at(cls, path: Path) -> "LakeKey":
        """The keys in `path`; where no file is, one is made with mode 0600 (of processes that race one makes it)."""
        if not os.path.lexists(path):
            _make(path)
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
        with _alone(self._path):
            file = _load(self._path).file
            fresh = _new_key()
            kept = tuple(msgspec.structs.replace(key, d=None) for key in file.keys)
            _write(self._path, msgspec.structs.replace(file, keys=(*kept, fresh)), over=True)
        return fresh.kid

    def _current(self) -> "_Loaded":
        loaded = self._loaded
        if _mark(self._path) != loaded.mark:
            loaded = self._loaded = _load(self._path)
        return loaded


def signing_key_of(settings: Settings) -> Path:
    """Where the lake's key is: the setting `signing_key`, else `signing-key.json` in the lake's folder."""
    return settings.signing_key or settings.lake / FILE_NAME


Mark = tuple[int, int, int, int]


class _Loaded:
    def __init__(self, file: KeyFile, mark: Mark, where: Path) -> None:
        self.file = file
        self.mark = mark
        try:
            self.public = {key.kid: Ed25519PublicKey.from_public_bytes(_unb64(key.x)) for key in file.keys}
            self.private = Ed25519PrivateKey.from_private_bytes(_unb64(file.keys[-1].d or ""))
        except (ValueError, IndexError):
            raise _damaged(where) from None
        sound = all(key.kty == "OKP" and key.crv == "Ed25519" for key in file.keys) and file.issuer
        if not sound or len(self.public) != len(file.keys) or _x_of(self.private) != file.keys[-1].x:
            raise _damaged(where)


def _load(path: Path) -> _Loaded:
    try:
        with path.open("rb") as opened:
            about = os.fstat(opened.fileno())
            _check_private(about, path)
            data = opened.read(MAX_FILE_BYTES + 1)
    except OSError as e:
        raise Misconfigured(f"signing key {path}: {e.strerror or 'not readable'} (setting signing_key)") from e
    if len(data) > MAX_FILE_BYTES:
        raise _damaged(path)
    try:
        file = msgspec.json.decode(data, type=KeyFile)
    except msgspec.DecodeError:
        raise _damaged(path) from None  # the cause would quote the file
    return _Loaded(file, _mark_of(about), path)


def _check_private(about: os.stat_result, path: Path) -> None:
    """As PostgreSQL holds it for its own key: 0600 of ours, or 0640 of root (how a mounted secret reaches a pod)."""
    if not stat.S_ISREG(about.st_mode):
        raise Misconfigured(f"signing key {path}: not a file (setting signing_key)")
    me = os.geteuid()
    if about.st_uid not in {me, 0}:
        raise Misconfigured(f"signing key {path}: belongs to another user; chown it")
    shared = 0o077 if about.st_uid == me else 0o037
    if stat.S_IMODE(about.st_mode) & shared:
        raise Misconfigured(f"signing key {path}: others may read or change it; chmod 600 it, and rotate the key")


def _make(path: Path) -> None:
    first = _new_key()
    file = KeyFile(issuer=f"upwell:{first.kid}", keys=(first,))
    try:
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    except OSError as e:
        raise Misconfigured(f"signing key {path}: {e.strerror} (setting signing_key)") from e
    _write(path, file, over=False)


def _write(path: Path, file: KeyFile, *, over: bool) -> None:
    """All of it or nothing, on the disk when this returns. Not `over`: the first of several writers wins."""
    beside = path.with_name(f".{path.name}.{secrets.token_hex(8)}")
    try:
        with os.fdopen(os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as made:
            made.write(msgspec.json.format(msgspec.json.encode(file), indent=2) + b"\n")
            made.flush()
            os.fsync(made.fileno())
        if over:
            beside.replace(path)
        else:
            with suppress(FileExistsError):
                os.link(beside, path)
        _sync_folder(path.parent)
    except OSError as e:
        raise Misconfigured(f"signing key {path}: cannot be written: {e.strerror} (setting signing_key)") from e
    finally:
        with suppress(OSError):
            beside.unlink(missing_ok=True)


def _sync_folder(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


@contextmanager
def _alone(path: Path) -> Iterator[None]:
    """One rotation at a time, so that none loses the key of another."""
    try:
        descriptor = os.open(path.parent, os.O_RDONLY | os.O_CLOEXEC)
    except OSError as e:
        raise Misconfigured(f"signing key {path}: {e.strerror} (setting signing_key)") from e
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)


def _mark(path: Path) -> Mark | None:
    try:
        return _mark_of(path.stat())
    except OSError:
        return None


def _mark_of(about: os.stat_result) -> Mark:
    return about.st_dev, about.st_ino, about.st_mtime_ns, about.st_ctime_ns  # ctime: its mode may have been opened


def _new_key() -> KeyRecord:
    private = Ed25519PrivateKey.generate()
    x = _x_of(private)
    return KeyRecord(kty="OKP", crv="Ed25519", kid=_thumbprint(x), x=x, d=_b64(private.private_bytes_raw()))


def _x_of(private: Ed25519PrivateKey) -> str:
    return _b64(private.public_key().public_bytes_raw())


def _thumbprint(x: str) -> str:
    """RFC 7638, as RFC 8037 appendix A.3 has it for Ed25519."""
    canonical = f'{{"crv":"Ed25519","kty":"OKP","x":"{x}"}}'
    return _b64(hashlib.sha256(canonical.encode()).digest())


def _public_jwk(key: KeyRecord) -> dict[str, str]:
    return {"kty": key.kty, "crv": key.crv, "kid": key.kid, "x": key.x, "alg": ALGORITHM, "use": "sig"}


def _b64(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def _unb64(text: str) -> bytes:
    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))


def _damaged(path: Path) -> Misconfigured:
    return Misconfigured(f"signing key {path}: damaged; put its backup back (a new one voids tokens and certificates)")
