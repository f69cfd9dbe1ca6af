"""What readers browse by, beside searching: a narrow index of documents. It chooses; the last snapshot decides."""

from collections.abc import Iterable, Sequence
from typing import Protocol

from upwell.records import DocKey, Record

NO_PIPELINE = ""
"""The pipeline of a snapshot that needs no chunks: it reads none."""


class Glance(Record, frozen=True, kw_only=True):
    """A document at a glance. `doc` is its key's digest; equal permissions have equal `acl_class`; `changed_at` (us) is
    when what its readers see of it last changed: its content, its permission, its end."""

    doc: str
    source: str
    acl_class: str
    changed_at: int


class Browsing(Protocol):
    """One tenant's. Read after write: what a commit changed is here with it. Erased documents are not."""

    def sources(self) -> list[str]:
        """The sources that hold documents, by name."""
        ...

    def permissions(self, source: str, limit: int) -> list[str]:
        """A document (its digest) of each different permission in a source, at most `limit`."""
        ...

    def changed(self, after: tuple[int, str], *, sources: Iterable[str] = (), limit: int) -> Sequence[Glance]:
        """Documents and tombstones (of `sources` alone, if any) whose (changed_at, doc) comes after
        `after`, in that order."""
        ...

    def named(self, names: Iterable[str]) -> dict[str, list[str]]:
        """The documents (digests) that answer to these names (see `lake.links`), by name."""
        ...

    def callers(self, names: Iterable[str], after: str, limit: int) -> Sequence[str]:
        """Documents (digests, in order, after `after`) whose links call one of these names."""
        ...

    def keys(self, docs: Iterable[str]) -> dict[str, DocKey]:
        """The keys of these digests."""
        ...
