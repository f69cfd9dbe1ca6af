"""What the stages ask for: tokenizers and models, the sandboxed parsers, and where content is fetched from and kept."""

from collections.abc import Sequence
from pathlib import Path
from typing import Protocol

from upwell.ports.store import QueryVectors
from upwell.records import MAX_VERSION, BlobRef, ChangeEvent, DocKey, ParsedDocument, PreparedDocument, Vectors


class Tokenizer(Protocol):
    """The embedder's own tokenizer. `max_tokens` is how many tokens of a text it takes, special tokens not counted."""

    max_tokens: int

    def starts(self, text: str) -> Sequence[int]:
        """At which characters the tokens begin, in order, without special tokens."""
        ...


class Embedder(Protocol):
    """One model. `fingerprint` changes when equal text could give other vectors."""

    name: str
    fingerprint: str
    dim: int
    tokenizer: Tokenizer

    def embed(self, texts: Sequence[str], *, urgent: bool = False) -> list[Vectors]:
        """Vectors of passages, in order; `urgent` (the live lane) goes before other callers between two batches.

        Never truncates silently: a text over max_tokens is Rejected."""
        ...

    def embed_query(self, text: str) -> QueryVectors:
        """Vectors of a query, truncated to max_tokens."""
        ...


class Preparer(Protocol):
    """Parse, chunk and prefix in a sandbox. A document that will not parse is a status, never an exception."""

    def prepare(self, content: bytes | Path, name: str, media_type: str | None = None) -> PreparedDocument:
        """Rejected `parser_crashed` for a document that ended two children in a row, `unreadable` for a path that may
        not be read; Retryable when the sandbox itself failed for a reason that is not the document's."""
        ...

    def close(self) -> None: ...


class Parser(Protocol):
    """Parse alone, in a sandbox; chunk and prefix are stages of their own. Errors as `Preparer.prepare` has them."""

    def parse(self, content: bytes | Path, name: str, media_type: str | None = None) -> ParsedDocument: ...

    def close(self) -> None: ...


class Fetcher(Protocol):
    """Brings the content of an event: what it carries, what a blob holds, or what its source's connector fetches."""

    def fetch(self, event: ChangeEvent) -> bytes | Path:
        """Retryable while the source is away; Rejected `unreadable` when it has no such object (any more), `too_large`
        over the limit, `blob_missing` for a lost blob, `invalid_event` when no connector is configured for it."""
        ...


class Blobs(Protocol):
    """Content that is too large for a message, by document, so that an erasure finds all of it."""

    def put(self, key: DocKey, data: bytes, version: int) -> BlobRef:
        """Durable when it returns. Equal bytes of one version of a document are stored once."""
        ...

    def get(self, ref: BlobRef) -> bytes:
        """Retryable while the store is away; Rejected `blob_missing` when the blob is gone or is not what it was."""
        ...

    def remove(self, ref: BlobRef) -> None:
        """Remove one blob; nothing happens when it is gone, or the reference names none."""
        ...

    def held(self, key: DocKey, through: int = MAX_VERSION) -> int:
        """How many blobs of a document there are up to this version."""
        ...

    def forget(self, key: DocKey, through: int = MAX_VERSION) -> int:
        """Remove a document's blobs up to this version; how many there were."""
        ...

    def expire(self, before: int) -> int:
        """Remove blobs written before this time (us since the epoch); how many."""
        ...

    def close(self) -> None: ...
