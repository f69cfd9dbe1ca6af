"""A folder to change and scan in tests: real files, a real database, a clock set by hand."""

import os
from collections.abc import Callable
from pathlib import Path

from sqlalchemy import create_engine

from upwell.records import ChangeEvent, Lane
from upwell.sources.folder.content import FileReader, open_inside
from upwell.sources.folder.records import Diff
from upwell.sources.folder.shrink import SHRINK_LIMIT
from upwell.sources.folder.source import FolderSource
from upwell.sources.folder.state import METADATA

LONG_AGO = 1_500_000_000
OWNER = "user:ana"


class World:
    """A folder, a lake's database and a clock. Files are written long ago unless `fresh`."""

    def __init__(self, tmp_path: Path) -> None:
        self.root = tmp_path / "docs"
        self.root.mkdir()
        self.engine = create_engine("sqlite://")
        METADATA.create_all(self.engine)
        self.now = 1_700_000_000_000_000
        self.owner = OWNER
        self.shrink_limit = SHRINK_LIMIT
        self.writes = 0
        self.opener = open_inside
        self.reopen()

    def reopen(self) -> None:
        reading = FileReader(self.root, clock=lambda: self.now, pause_s=0, opener=self._opened)
        self.source = FolderSource(
            self.root,
            owner=self.owner,
            clock=lambda: self.now,
            reader=reading,
            excluded=[self.root / "lake"],
            shrink_limit=self.shrink_limit,
        )
        with self.engine.begin() as conn:
            self.source.open(conn)

    def _opened(self, root: str, path: str) -> int:
        return self.opener(root, path)

    def write(self, path: str, text: str | bytes = "words", *, fresh: bool = False) -> Path:
        file = self.root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(text if isinstance(text, bytes) else text.encode())
        self.writes += 1
        at_ns = self.now * 1000 if fresh else LONG_AGO * 10**9 + self.writes
        os.utime(file, ns=(at_ns, at_ns))
        return file

    def scan(self, *evidence: str, lane: Lane = Lane.LIVE) -> Diff:
        """All batches of a scan as one."""
        self.now += 1000
        events: list[ChangeEvent] = []
        last = Diff()
        for last in self.source.scan(lane=lane, evidence=frozenset(evidence)):
            events += last.events
            with self.engine.begin() as conn:
                self.source.save(conn, last)
        assert last.last
        return Diff(
            events=tuple(events),
            faults=last.faults,
            healed=last.healed,
            counts=last.counts,
            notices=last.notices,
            held=last.held,
            recheck_at=last.recheck_at,
            last=True,
        )


def ops(diff: Diff) -> list[tuple[str, str]]:
    return [(event.op.value, event.doc_id) for event in diff.events]


def codes(diff: Diff) -> list[tuple[str, str]]:
    return [(notice.code, notice.path) for notice in diff.notices]


def refusing(*names: str) -> Callable[[str, str], int]:
    """An opener that may not open these names, as another user's files."""

    def refuse(root: str, path: str) -> int:
        if path in names:
            raise PermissionError(13, "Permission denied")
        return open_inside(root, path)

    return refuse
