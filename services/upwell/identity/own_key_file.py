"""The file of the lake's own key: a JWK Set (RFC 7517, RFC 8037) with the issuer's name beside it, oldest key first.

It is written whole and moved into place, so a reader never sees a part.
"""

import base64
import fcntl
import hashlib
import os
import secrets
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import msgspec
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey

from upwell.errors import Misconfigured
from upwell.records import Record

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


Mark = tuple[int, int, int, int]
"""Device, inode, and the times of its content and of its mode, in ns."""


class Loaded:
    """The file as it was read when its `mark` was that, with its keys ready for use."""

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


def load(path: Path) -> Loaded:
    """What the file holds. Raises Misconfigured when it is gone, damaged, or others may read it."""
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
    return Loaded(file, _mark_of(about), path)


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


def make(path: Path) -> None:
    """A file with a first key, in a folder that is made if need be; one that is there by now stays."""
    first = new_key()
    file = KeyFile(issuer=f"upwell:{first.kid}", keys=(first,))
    try:
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    except OSError as e:
        raise Misconfigured(f"signing key {path}: {e.strerror} (setting signing_key)") from e
    write(path, file, over=False)


def write(path: Path, file: KeyFile, *, over: bool) -> None:
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
def alone(path: Path) -> Iterator[None]:
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


def mark(path: Path) -> Mark | None:
    """Differs once the file does; None while there is none."""
    try:
        return _mark_of(path.stat())
    except OSError:
        return None


def _mark_of(about: os.stat_result) -> Mark:
    return about.st_dev, about.st_ino, about.st_mtime_ns, about.st_ctime_ns  # ctime: its mode may have been opened


def new_key() -> KeyRecord:
    """A fresh Ed25519 key, named by its thumbprint."""
    private = Ed25519PrivateKey.generate()
    x = _x_of(private)
    return KeyRecord(kty="OKP", crv="Ed25519", kid=_thumbprint(x), x=x, d=_b64(private.private_bytes_raw()))


def _x_of(private: Ed25519PrivateKey) -> str:
    return _b64(private.public_key().public_bytes_raw())


def _thumbprint(x: str) -> str:
    """RFC 7638, as RFC 8037 appendix A.3 has it for Ed25519."""
    canonical = f'{{"crv":"Ed25519","kty":"OKP","x":"{x}"}}'
    return _b64(hashlib.sha256(canonical.encode()).digest())


def _b64(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def _unb64(text: str) -> bytes:
    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))


def _damaged(path: Path) -> Misconfigured:
    return Misconfigured(f"signing key {path}: damaged; put its backup back (a new one voids tokens and certificates)")
