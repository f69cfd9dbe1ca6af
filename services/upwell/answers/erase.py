"""Erasures: what is meant, what was removed, what stays, and the certificate of it."""

from enum import StrEnum

from upwell.records import SCHEMA_VERSION, Record


class Scope(StrEnum):
    """What an erasure is about."""

    DOCUMENT = "document"
    SOURCE = "source"
    TENANT = "tenant"
    PRINCIPAL = "principal"


class EraseWish(Record, frozen=True, kw_only=True):
    """What to erase in one tenant: the document `name` (of `source`, where two have one of that id), the source `name`,
    the tenant itself, or what is known of the principal `name`, `with_documents` that nobody else could read.

    `dry_run` only says what would be removed. Without `names` the certificate holds digests instead of ids and names.
    """

    scope: Scope
    name: str
    tenant: str = "default"
    source: str | None = None
    with_documents: bool = False
    dry_run: bool = False
    names: bool = True


class ErasedDocument(Record, frozen=True, kw_only=True, omit_defaults=False):
    """A document that was erased: the digest of its key, its id where names are kept, and the version up to which
    nothing of it comes back."""

    digest: str
    source: str | None
    doc_id: str | None
    version: int


class Remainder(Record, frozen=True, kw_only=True, omit_defaults=False):
    """What an erasure cannot take out of a place, and what bounds it: `until` where the lake knows the date."""

    place: str
    what: str
    until: str | None
    bound: str


class Certificate(Record, frozen=True, kw_only=True, omit_defaults=False):
    """That documents were erased, and all their earlier events had ended: what was removed by place, which places were
    searched again and held nothing, what remains. Times are RFC 3339, UTC.

    `signature` is Ed25519 (RFC 8032) by the lake's key `kid`, in base64url, over the JSON of everything else in ASCII,
    keys sorted, no blanks. `events` counts the documents' earlier events, all of them `ended`.
    """

    id: str
    issued_at: str
    lake: str
    scope: Scope
    name: str
    tenant: str
    documents: tuple[ErasedDocument, ...]
    events: dict[str, int]
    removed: dict[str, int]
    searched: tuple[str, ...]
    remaining: tuple[Remainder, ...]
    kid: str
    signature: str = ""
    schema: int = SCHEMA_VERSION


class EraseAnswer(Record, frozen=True, kw_only=True, omit_defaults=False):
    """What an erasure removed, by kind of place, and what could not be removed (with the reason).

    `doc_id` and `source` are those of a single document, empty else. A dry run has removed nothing: its counts are of
    what would go. `listed` are documents that were found and left alone. There is a `certificate` when nothing remains
    but what it says itself.
    """

    doc_id: str
    source: str
    removed: dict[str, int]
    remaining: tuple[str, ...]
    tenant: str = "default"
    scope: Scope = Scope.DOCUMENT
    name: str = ""
    documents: int = 1
    dry_run: bool = False
    listed: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    certificate: Certificate | None = None


class VerifyAnswer(Record, frozen=True, kw_only=True, omit_defaults=False):
    """Whether a certificate is what a lake's key has signed; `reason` says why not."""

    valid: bool
    reason: str
    id: str
    kid: str
    issued_at: str
