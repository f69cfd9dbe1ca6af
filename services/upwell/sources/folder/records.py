"""What the folder source sees and remembers. Paths are `/`-separated, below the folder; times are microseconds."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from upwell.answers import DocumentCounts
from upwell.errors import Reason
from upwell.records import Acl, ChangeEvent, Record
from upwell.sources.folder.access import Rules

Signature = tuple[int, int, int]
"""(size in bytes, mtime in ns, inode): while it stands, a file is not opened."""


class Entry(Record, frozen=True, kw_only=True):
    """A file that is a document. `path` is its spelling on disk (`doc_id` is that in NFC).

    `target` is the doc_id of the file that a symbolic link leads to, and `path` then the target's.
    `waits_until` is when a `.gitignore` above it will have rested: a new document waits for that.
    """

    doc_id: str
    path: str
    signature: Signature
    target: str | None = None
    waits_until: int = 0


class Fault(Record, frozen=True, kw_only=True):
    """A file that cannot be a document now, and why: a dead letter of this source."""

    doc_id: str
    reason: Reason
    detail: str


class Notice(Record, frozen=True, kw_only=True):
    """Something `status` should say. Codes: source_missing, source_empty, deletes_held, folder_unreadable,
    access_hidden, access_name, link_outside, link_skipped, special_file, ignores_unreadable, restless,
    watch_polling."""

    code: str
    path: str
    detail: str


class AccessSeen(Record, frozen=True, kw_only=True):
    """An access file as the listing found it: where, and its signature or why it cannot be read."""

    path: str
    signature: Signature | None = None
    error: str | None = None


class Listing(Record, frozen=True, kw_only=True):
    """What the folder holds now.

    `unlisted` are folders that could not be listed ("" is the root): nothing below them may be taken for deleted.
    `empty` means that there was nothing at all but folders, access files and what is never indexed.
    `missing` says why the folder itself could not be listed.
    """

    entries: tuple[Entry, ...] = ()
    faults: tuple[Fault, ...] = ()
    notices: tuple[Notice, ...] = ()
    unlisted: frozenset[str] = frozenset()
    access: dict[str, AccessSeen] = {}
    empty: bool = False
    missing: str | None = None


class AccessState(Record, frozen=True, kw_only=True):
    """What one folder's access file said. `trail` holds every reading since it last rested, the newest last: all of
    them must admit a reader. `since` is when the newest came about; `error` why it hides its folder."""

    folder: str
    trail: tuple[Rules, ...]
    since: int
    observed_at: int
    signature: Signature | None = None
    error: str | None = None


class Observed(Record, frozen=True, kw_only=True):
    """A document as it was last accepted, or its tombstone (`present` is False): its numbers only ever grow."""

    doc_id: str
    path: str
    signature: Signature
    observed_at: int
    sha256: str
    version: int
    acl_version: int
    acl: Acl
    present: bool = True
    target: str | None = None


class Verdict(StrEnum):
    """What is to become of a document that is gone from its folder, where that is not for a scan to say."""

    WAITS = "waits"
    PASSES = "passes"
    STAYS = "stays"


class Held(Record, frozen=True, kw_only=True):
    """A delete that waits for a person, since when (us), and what the person has said: it passes, or the document
    stays."""

    doc_id: str
    since: int
    verdict: Verdict = Verdict.WAITS


class Changes(Record, frozen=True, kw_only=True):
    """What to save: documents, access states and held deletes by key (None: forget it), and all faults (None: as
    before)."""

    documents: tuple[Observed, ...] = ()
    access: dict[str, AccessState | None] = {}
    held: dict[str, Held | None] = {}
    faults: frozenset[Fault] | None = None

    @property
    def any(self) -> bool:
        return bool(self.documents or self.access or self.held or self.faults is not None)


@dataclass
class State:
    """What the source remembers between scans."""

    documents: dict[str, Observed] = field(default_factory=dict)
    access: dict[str, AccessState] = field(default_factory=dict)
    faults: frozenset[Fault] = frozenset()
    held: dict[str, Held] = field(default_factory=dict)

    def apply(self, changes: Changes) -> None:
        """Take in what has been saved."""
        self.documents.update((document.doc_id, document) for document in changes.documents)
        for folder, access in changes.access.items():
            if access is None:
                self.access.pop(folder, None)
            else:
                self.access[folder] = access
        for doc_id, held in changes.held.items():
            if held is None:
                self.held.pop(doc_id, None)
            else:
                self.held[doc_id] = held
        if changes.faults is not None:
            self.faults = changes.faults

    @property
    def trails(self) -> Mapping[str, tuple[Rules, ...]]:
        return {folder: access.trail for folder, access in self.access.items()}

    @property
    def waiting(self) -> list[str]:
        """The documents whose deletion waits for a person, sorted."""
        return sorted(doc_id for doc_id, held in self.held.items() if held.verdict is Verdict.WAITS)


class Diff(Record, frozen=True, kw_only=True):
    """One batch of a scan: append `events` and save `changes` in one transaction.

    `faults` are new dead letters, `healed` those that no longer hold. The last batch of a scan carries the notices, and
    `recheck_at`: scan again then, for something has yet to rest. Counts of the batches add up. `held` is how many
    deletes wait for a person after it.
    """

    events: tuple[ChangeEvent, ...] = ()
    changes: Changes = Changes()
    faults: tuple[Fault, ...] = ()
    healed: tuple[Fault, ...] = ()
    counts: DocumentCounts = DocumentCounts()
    held: int = 0
    notices: tuple[Notice, ...] = ()
    recheck_at: int | None = None
    last: bool = False
