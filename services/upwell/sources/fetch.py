"""Bringing an event's content: what it carries, what a blob holds, or what its source's connector reads.

A connector is an fsspec filesystem, made when it is first needed with the source's own options, and reads only below
the source's roots. What the settings do not name is not fetched, whatever an event says.
"""

import threading
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from upwell.config import SourceSettings
from upwell.errors import Misconfigured, Reason, Rejected
from upwell.ports import Blobs
from upwell.records import BlobRef, ChangeEvent, Inline, SourceRef
from upwell.sources.fetch_errors import translated
from upwell.sources.terms import LOCAL, terms_of, within

FOLDER = "folder"
"""The connector of folders that this machine follows itself: content is read where it lies."""
READ_BYTES = 1024 * 1024
BLOCK_BYTES = 4 * 1024 * 1024
WEB = frozenset({"http", "https"})


class Fetching:
    """`ports.Fetcher` over the sources of the settings. `blobs` None: no event may refer to a blob.

    `folders`: events of the folders that this very process follows name files of this machine. Where events come out of
    a log that others write to, they may not.
    """

    def __init__(
        self,
        sources: Mapping[str, SourceSettings],
        blobs: Blobs | None,
        *,
        limit_bytes: int,
        folders: bool = False,
    ) -> None:
        self._sources = sources
        self._folders = folders
        self._blobs = blobs
        self._limit_bytes = limit_bytes
        self._connectors: dict[str, Any] = {}
        self._lock = threading.Lock()

    def fetch(self, event: ChangeEvent) -> bytes | Path:
        """See `ports.Fetcher.fetch`; Misconfigured when a connector's library is not installed.

        Access refused by the store is `unreadable`, for S3 answers so for objects that are not there; credentials that
        have expired or are unknown are Retryable, for they are no document's fault.
        """
        match event.content:
            case Inline(data=data):
                return self._bounded(data)
            case BlobRef() as ref if self._blobs is not None and ref.belongs_to(event.key):
                self._refuse_above(ref.size)
                return self._blobs.get(ref)
            case SourceRef(connector=connector, uri=uri) if connector == FOLDER and self._folders:
                return Path(uri)
            case SourceRef() as ref:
                return self._read(event, ref)
            case _:
                raise Rejected(Reason.INVALID_EVENT, f"nothing brings the content of {event.source!r}")

    def _read(self, event: ChangeEvent, ref: SourceRef) -> bytes:
        terms = terms_of(event.source, self._sources.get(event.source), event.tenant)
        if ref.connector != terms.connector or ref.connector in LOCAL or not within(ref.uri, terms.roots):
            raise Rejected(Reason.INVALID_EVENT, f"the source {event.source!r} may not fetch that")
        self._refuse_above(ref.size or 0)
        try:
            return self._stream(self._connector(event.source), ref)
        except Rejected:
            raise
        except Exception as e:
            raise translated(e, ref.connector) from e

    def _stream(self, connector: Any, ref: SourceRef) -> bytes:
        """At most the limit and one block are ever held. An object replaced meanwhile is read again (its ETag)."""
        web = ref.connector in WEB
        found = bytearray()
        with connector.open(ref.uri, "rb", block_size=0 if web else BLOCK_BYTES) as stream:
            if web and stream.r.status >= 300:
                raise Rejected(Reason.UNREADABLE, f"{ref.connector}: redirections are not followed")
            while block := stream.read(READ_BYTES):
                found += block
                self._refuse_above(len(found))
        return bytes(found)

    def _connector(self, source: str) -> Any:
        with self._lock:
            if source not in self._connectors:
                self._connectors[source] = _made(source, self._sources[source])
            return self._connectors[source]

    def _bounded(self, data: bytes) -> bytes:
        self._refuse_above(len(data))
        return data

    def _refuse_above(self, size: int) -> None:
        if size > self._limit_bytes:
            raise Rejected(Reason.TOO_LARGE, f"larger than {self._limit_bytes} bytes")


def _made(source: str, settings: SourceSettings) -> Any:
    """The source's filesystem. Redirections could lead anywhere, so the web's connectors follow none."""
    import fsspec  # noqa: PLC0415 an embedded lake that follows a folder need not pay for it

    assert settings.connector is not None
    more = {"allow_redirects": False} if settings.connector in WEB else {}
    try:
        return fsspec.filesystem(settings.connector, skip_instance_cache=True, **{**settings.options, **more})
    except ImportError as e:
        raise Misconfigured(
            f"sources.{source}.connector: {settings.connector} needs a library that is not installed (S3: upwell[s3])"
        ) from e
    except (ValueError, TypeError) as e:
        raise Misconfigured(f"sources.{source}: the connector {settings.connector} refuses its options") from e
