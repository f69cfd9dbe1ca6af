"""Where an issuer's keys are read from: a file, or an HTTPS endpoint. One bounded read, no policy."""

import ipaddress
import time
from pathlib import Path
from typing import Protocol
from urllib.parse import unquote, urlsplit

import httpx

from upwell.errors import Misconfigured

MAX_SET_BYTES = 256 * 1024
CONNECT_S = 3.0
TOTAL_S = 5.0


class KeyPlace(Protocol):
    """A place that holds a JWK Set."""

    def mark(self) -> object:
        """Differs once the content does, and costs next to nothing; None where only reading can tell."""
        ...

    def read(self) -> bytes:
        """At most MAX_SET_BYTES. Raises OSError, with a text that may be logged, when it cannot be had."""
        ...


def place_of(location: str) -> KeyPlace:
    """A file's path (or `file:` URL), or an `https:` URL; `http:` only on this machine itself.

    Raises Misconfigured, naming the setting, for anything else and for a file that is not there.
    """
    scheme = location.partition(":")[0].lower() if "://" in location else "file"
    if scheme in {"https", "http"}:
        return HttpKeys(location)
    if scheme != "file":
        raise Misconfigured(f"setting issuers.jwks: {scheme}: is not fetched; give an https URL or a file")
    path = Path(unquote(urlsplit(location).path) if "://" in location else location)
    if not path.is_file():
        raise Misconfigured(f"setting issuers.jwks: {path}: no such file")
    return FileKeys(path)


class FileKeys:
    """A file, known to have changed by its times, size and inode."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def mark(self) -> object:
        try:
            about = self._path.stat()
        except OSError:
            return "gone"
        return about.st_dev, about.st_ino, about.st_mtime_ns, about.st_size

    def read(self) -> bytes:
        with self._path.open("rb") as opened:
            data = opened.read(MAX_SET_BYTES + 1)
        if len(data) > MAX_SET_BYTES:
            raise OSError(f"larger than {MAX_SET_BYTES} bytes")
        return data


class HttpKeys:
    """An endpoint, asked without following redirects and without compression (a small answer cannot unfold).

    Its body has to be there within `total_s` seconds; a wait for any single piece of its answer is no longer either.
    """

    def __init__(self, url: str, *, total_s: float = TOTAL_S) -> None:
        parts = urlsplit(url)
        local = _is_local(parts.hostname or "")
        if not parts.hostname or parts.username is not None or (parts.scheme.lower() == "http" and not local):
            raise Misconfigured("setting issuers.jwks: give an https URL without a password, or a file")
        self._url = url
        self._local = local
        self._total_s = total_s

    def mark(self) -> object:
        return None

    def read(self) -> bytes:
        deadline = time.monotonic() + self._total_s
        limits = httpx.Timeout(self._total_s, connect=min(CONNECT_S, self._total_s))
        headers = {"Accept": "application/json", "Accept-Encoding": "identity"}
        try:
            with (
                httpx.Client(timeout=limits, follow_redirects=False, trust_env=not self._local) as client,
                client.stream("GET", self._url, headers=headers) as response,
            ):
                return _body(response, deadline)
        except (httpx.HTTPError, httpx.InvalidURL) as e:
            raise OSError(type(e).__name__) from e


def _body(response: httpx.Response, deadline: float) -> bytes:
    if response.status_code != httpx.codes.OK:
        raise OSError(f"answered {response.status_code}" + (" (not followed)" if response.is_redirect else ""))
    if response.headers.get("Content-Encoding", "identity") != "identity":
        raise OSError("answered compressed")
    data = bytearray()
    # In pieces as they come: with a chunk_size the vendor collects first, and a drip would outlast the deadline.
    for piece in response.iter_raw():
        data += piece
        if len(data) > MAX_SET_BYTES:
            raise OSError(f"larger than {MAX_SET_BYTES} bytes")
        if time.monotonic() > deadline:
            raise OSError("too slow")
    return bytes(data)


def _is_local(host: str) -> bool:
    if host.lower() == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
