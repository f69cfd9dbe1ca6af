"""A folder as a source: scan it, and get the events that bring a lake from what was remembered to what is there."""

from collections.abc import Iterable, Iterator
from pathlib import Path
from unicodedata import normalize

from msgspec.structs import replace
from sqlalchemy import Connection

from upwell.clock import Clock, now_us
from upwell.errors import Misconfigured
from upwell.records import Lane
from upwell.sources.folder import diff as steps
from upwell.sources.folder import state as tables
from upwell.sources.folder.content import FileReader
from upwell.sources.folder.diff import Origin
from upwell.sources.folder.listing import is_lake, list_folder
from upwell.sources.folder.records import Changes, Diff, Held, State, Verdict
from upwell.sources.folder.scan import BATCH_EVENTS, Scan
from upwell.sources.folder.shrink import SHRINK_LIMIT


class FolderSource:
    """One folder of one lake. `excluded` are folders never entered: the lake's own.

    Raises Misconfigured when `folder` is no folder, is a lake or inside one, or its path is not UTF-8.
    """

    def __init__(
        self,
        folder: Path,
        *,
        owner: str,
        tenant: str = "default",
        source: str | None = None,
        excluded: Iterable[Path] = (),
        clock: Clock = now_us,
        reader: FileReader | None = None,
        shrink_limit: float = SHRINK_LIMIT,
    ) -> None:
        self.root = folder.resolve()
        try:
            str(self.root).encode()
        except UnicodeEncodeError:
            raise Misconfigured("the folder's path is not UTF-8: rename it") from None
        self.tenant = tenant
        self.source = source or normalize("NFC", self.root.name)
        if not self.source:
            raise Misconfigured(f"the folder {self.root} has no name: give it one with --source")
        self.owner = owner
        self.excluded = tuple(path.resolve() for path in excluded)
        if any(self.root.is_relative_to(lake) for lake in self.excluded) or is_lake(self.root):
            raise Misconfigured(f"{self.root} is a lake's own folder: give the folder that holds the documents")
        self.reader = reader or FileReader(self.root, clock=clock)
        self.state = State()
        self._clock = clock
        self._shrink_limit = shrink_limit

    def open(self, conn: Connection) -> None:
        """Bind the name to the folder and read what is remembered (again, after a transaction has failed).

        Raises Misconfigured when the name belongs to another folder, or the folder was never there.
        """
        tables.bind(conn, self.tenant, self.source, str(self.root), self.owner)
        self.state = tables.load(conn, self.tenant, self.source)
        if not self.state.documents and not self.root.is_dir():
            raise Misconfigured(f"{self.root} is not a folder")

    def save(self, conn: Connection, diff: Diff) -> None:
        """Write a batch's changes; append its events in the same transaction."""
        tables.save(conn, self.tenant, self.source, diff.changes)

    def forget(self, conn: Connection, doc_id: str) -> None:
        """Take nothing for known of a document's file: the next scan reads it, and accepts whatever it finds."""
        known = self.state.documents.get(doc_id)
        if known is not None and known.present:
            blank = Changes(documents=(replace(known, signature=(0, 0, 0), sha256=""),))
            tables.save(conn, self.tenant, self.source, blank)
            self.state.apply(blank)

    def refresh(self, conn: Connection) -> None:
        """Read again what has been said of the deletes that wait."""
        self.state.held = tables.load_held(conn, self.tenant, self.source)

    def let_pass(self) -> Iterator[Diff]:
        """The deletes that somebody has let pass, whatever the folder holds now. Save as in `scan`."""
        approved = sorted(doc_id for doc_id, held in self.state.held.items() if held.verdict is Verdict.PASSES)
        origin = self._origin(Lane.LIVE, self._clock())
        for start in range(0, len(approved), BATCH_EVENTS):
            some = approved[start : start + BATCH_EVENTS]
            known = [self.state.documents.get(doc_id) for doc_id in some]
            gone = [steps.deleted(origin, before) for before in known if before is not None and before.present]
            held: dict[str, Held | None] = dict.fromkeys(some, None)
            documents = tuple(document for step in gone for document in step.documents)
            diff = Diff(
                events=tuple(step.event for step in gone if step.event is not None),
                changes=Changes(documents=documents, held=held),
            )
            yield diff
            self.state.apply(diff.changes)

    def scan(self, *, lane: Lane = Lane.LIVE, evidence: frozenset[str] = frozenset()) -> Iterator[Diff]:
        """The batches that bring what is remembered to what is there; the last has `last` set, and always comes.

        Save each batch before asking for the next: asking means that it is saved. Leaving the loop early is safe; what
        was not saved is found again. `evidence` are doc_ids known to have changed, whatever their times say.
        Raises Retryable when there is no room to open files.
        """
        now = self._clock()
        listing = list_folder(self.root, now, self.excluded)
        scan = Scan(self.state, listing, self._origin(lane, now), self.owner, self.reader, evidence, self._shrink_limit)
        for diff in scan.batches():
            yield diff
            self.state.apply(diff.changes)

    def _origin(self, lane: Lane, now: int) -> Origin:
        return Origin(tenant=self.tenant, source=self.source, lane=lane, now=now, root=str(self.root))
