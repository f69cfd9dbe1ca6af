"""Blobs over fsspec: a local folder, memory, S3 and whatever else fsspec speaks. One folder a document.

A blob's path is `{document digest}/{version}-{sha256 of its bytes}` below the configured URL, so that an erasure leaves
newer versions alone, and a reference can name nothing else: whatever does not look like that is refused before any file
is touched.
"""

import hashlib
import re
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import fsspec
from fsspec.implementations.local import LocalFileSystem

from upwell.errors import Misconfigured, Reason, Rejected, Retryable, UpwellError
from upwell.lake.local_blobs import write_durably
from upwell.records import MAX_VERSION, BlobRef, DocKey

NAME = re.compile(r"[0-9a-f]{32}/([0-9]{1,16})-[0-9a-f]{64}")


class FsspecBlobs:
    """Implements `ports.Blobs`. `options` go to the fsspec filesystem as they are.

    Raises Misconfigured for a URL whose protocol or options cannot be used; reaches for the store only when asked to.
    """

    def __init__(self, url: str, options: dict[str, Any] | None = None) -> None:
        try:
            # No cache of listings: other processes write and remove blobs too.
            found = fsspec.core.url_to_fs(url, **{"use_listings_cache": False, **(options or {})})
        except ImportError as e:  # fsspec's own words: which package speaks the protocol
            raise Misconfigured(f"setting blobs: {e}") from e
        except (ValueError, TypeError) as e:
            raise Misconfigured(f"setting blobs: unusable URL or options ({type(e).__name__})") from e
        self._fs: Any = found[0]
        self._root: str = found[1].rstrip("/")
        self._local = isinstance(self._fs, LocalFileSystem)
        if not self._root or not url.rpartition("://")[2]:
            raise Misconfigured("setting blobs: the URL names no folder or bucket")

    def put(self, key: DocKey, data: bytes, version: int) -> BlobRef:
        """Written anew even when it is there: that heals a damaged blob and keeps a reused one from expiring."""
        ref = BlobRef.of(key, data, version)
        path = f"{self._root}/{ref.uri}"
        with _errors():
            if self._local:
                write_durably(path, data)
            else:
                self._fs.pipe_file(path, data)
        return ref

    def get(self, ref: BlobRef) -> bytes:
        if NAME.fullmatch(ref.uri) is None or not ref.uri.endswith(f"-{ref.sha256}"):
            raise Rejected(Reason.INVALID_EVENT, "a blob reference that names nothing in the blob store")
        path = f"{self._root}/{ref.uri}"
        with _errors():
            try:
                size = self._fs.info(path)["size"]
                data = bytes(self._fs.cat_file(path)) if size == ref.size else None
            except FileNotFoundError:
                self._raise_missing()
        if data is None or len(data) != ref.size or hashlib.sha256(data).hexdigest() != ref.sha256:
            raise Rejected(Reason.BLOB_MISSING, "the blob is not what it was: size or digest differ")
        return data

    def remove(self, ref: BlobRef) -> None:
        if NAME.fullmatch(ref.uri) is not None:
            with _errors():
                self._removed(f"{self._root}/{ref.uri}")

    def held(self, key: DocKey, through: int = MAX_VERSION) -> int:
        with _errors():
            return len(self._found(key, through))

    def forget(self, key: DocKey, through: int = MAX_VERSION) -> int:
        """On a store that keeps old versions of objects, those must be set to expire there."""
        with _errors():
            return sum(self._removed(path) for path in self._found(key, through))

    def expire(self, before: int) -> int:
        removed = 0
        with _errors():
            for path, entry in self._fs.find(self._root, detail=True).items():
                if _written_us(entry) >= before:
                    continue
                removed += self._removed(path)
        return removed

    def close(self) -> None:
        """Nothing is held open."""

    def _found(self, key: DocKey, through: int) -> list[str]:
        """The document's files up to a version, and what a crash has left half written."""
        try:
            found = list(self._fs.find(f"{self._root}/{key.digest}"))
        except FileNotFoundError:
            return []
        names = ((path, NAME.search(path)) for path in found)
        return [path for path, name in names if name is None or int(name[1]) <= through]

    def _removed(self, path: str) -> bool:
        """Remove a file; whether it was there, and a blob."""
        try:
            self._fs.rm_file(path)
        except FileNotFoundError:  # somebody else was faster
            return False
        if self._local:
            with suppress(OSError):  # others are in it
                Path(path).parent.rmdir()
        return NAME.search(path) is not None

    def _raise_missing(self) -> None:
        """A blob that is gone is final; a store that is gone (an unmounted folder, another bucket) is not."""
        home = self._root if self._local else self._root.split("/", maxsplit=1)[0]
        if self._fs.protocol != "memory" and not self._fs.exists(home):
            raise Retryable("the blob store is not there")
        raise Rejected(Reason.BLOB_MISSING, "the blob is gone from the blob store")


@contextmanager
def _errors() -> Iterator[None]:
    try:
        yield
    except UpwellError:
        raise
    except Exception as e:  # each filesystem raises its vendor's errors, and fsspec has no common base for them
        raise Retryable(f"the blob store cannot be used now ({type(e).__name__})") from e


def _written_us(entry: dict[str, Any]) -> int:
    """When it was written; what does not say so never expires."""
    for name in ("mtime", "LastModified", "created"):  # local, S3, memory
        when = entry.get(name)
        if isinstance(when, datetime):
            return int((when if when.tzinfo else when.replace(tzinfo=UTC)).timestamp() * 1_000_000)
        if isinstance(when, (int, float)):
            return int(when * 1_000_000)
    return 2**63
