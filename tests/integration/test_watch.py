"""Following a folder for real: the system's notices, a real clock, real files."""

import os
import resource
import subprocess
import sys
import time
from contextlib import contextmanager
from pathlib import Path
from threading import Event, Thread

import pytest
from sqlalchemy import create_engine

from upwell.access import admits, reader
from upwell.records import ChangeEvent
from upwell.sources.folder.source import FolderSource
from upwell.sources.folder.state import METADATA
from upwell.sources.folder.watch import FolderWatch

pytestmark = pytest.mark.integration


class Follower:
    """Scans whenever the watch says so, in a thread, and keeps each event with the time it was made."""

    def __init__(self, tmp_path: Path, *, polling: bool = False) -> None:
        self.root = tmp_path / "docs"
        self.root.mkdir()
        self.engine = create_engine(f"sqlite:///{tmp_path / 'events.sqlite'}")
        METADATA.create_all(self.engine)
        self.source = FolderSource(self.root, owner="user:ana", excluded=[self.root / "lake"])
        self.stop = Event()
        self.events: list[tuple[float, ChangeEvent]] = []
        self.notices: list[str] = []
        self.scans = 0
        self.polling = polling

    def run(self) -> None:
        with self.engine.begin() as conn:
            self.source.open(conn)
        with FolderWatch(self.root, self.stop, excluded=self.source.excluded, polling=self.polling) as watch:
            evidence: frozenset[str] | None = frozenset()
            while evidence is not None:
                recheck_at = None
                for diff in self.source.scan(evidence=evidence):
                    with self.engine.begin() as conn:
                        self.source.save(conn, diff)
                    self.events += [(time.monotonic(), event) for event in diff.events]
                    self.notices += [notice.code for notice in diff.notices]
                    recheck_at = diff.recheck_at
                self.scans += 1
                evidence = watch.wait(recheck_at)

    def until(self, found, timeout_s: float = 10.0):
        """What `found` returns once it is true."""
        end = time.monotonic() + timeout_s
        while time.monotonic() < end:
            if answer := found():
                return answer
            time.sleep(0.002)
        pytest.fail(f"not within {timeout_s} s; events: {[(e.op.value, e.doc_id) for _, e in self.events]}")
        return None

    def event(self, op: str, doc_id: str, after: int = 0):
        """The first such event from number `after` on, once it is there."""
        return self.until(
            lambda: next((pair for pair in self.events[after:] if (pair[1].op, pair[1].doc_id) == (op, doc_id)), None)
        )


@contextmanager
def following(tmp_path: Path, **options):
    follower = Follower(tmp_path, **options)
    thread = Thread(target=follower.run)
    thread.start()
    try:
        follower.until(lambda: follower.scans)
        yield follower
    finally:
        follower.stop.set()
        thread.join(5)
        follower.engine.dispose()
        assert not thread.is_alive()


def test_an_edit_is_noticed_within_a_fraction_of_a_second(tmp_path):
    with following(tmp_path) as follower:
        waited = []
        for number in range(10):
            start = len(follower.events)
            (follower.root / "a.md").write_text(f"text {number}")
            closed = time.monotonic()
            waited.append(follower.event("upsert", "a.md", start)[0] - closed)
        assert sorted(waited)[5] < 0.3


def test_an_atomic_save_is_one_changed_document(tmp_path):
    with following(tmp_path) as follower:
        (follower.root / "a.md").write_text("one")
        follower.event("upsert", "a.md")
        start = len(follower.events)
        (follower.root / "a.md.new").write_text("two")
        (follower.root / "a.md.new").rename(follower.root / "a.md")
        follower.event("upsert", "a.md", start)
        (follower.root / "z.md").write_text("a sign that the rest has been seen")
        follower.event("upsert", "z.md")
        assert [event.doc_id for _, event in follower.events[start:]] == ["a.md", "z.md"]


def test_renames_deletes_and_new_folders_are_followed(tmp_path):
    with following(tmp_path) as follower:
        (follower.root / "x/y").mkdir(parents=True)
        (follower.root / "x/y/a.md").write_text("one")
        follower.event("upsert", "x/y/a.md")
        (follower.root / "x").rename(follower.root / "z")
        moved = follower.event("upsert", "z/y/a.md")[1]
        assert moved.previous_doc_id == "x/y/a.md"
        (follower.root / "keep.md").write_text("two")
        follower.event("upsert", "keep.md")
        (follower.root / "z/y/a.md").unlink()
        follower.event("delete", "z/y/a.md")


def test_an_edit_that_puts_size_and_time_back_is_noticed(tmp_path):
    with following(tmp_path) as follower:
        file = follower.root / "a.md"
        file.write_text("one")
        os.utime(file, (1e9, 1e9))
        follower.event("upsert", "a.md")
        start = len(follower.events)
        file.write_text("two")
        os.utime(file, (1e9, 1e9))
        assert follower.event("upsert", "a.md", start)[1].content.data == b"two"


def test_a_narrowed_access_file_is_noticed_at_once_and_a_widened_one_after_its_rest(tmp_path):
    with following(tmp_path) as follower:
        (follower.root / ".upwell-access.yaml").write_text("allow: [everyone]")
        (follower.root / "a.md").write_text("one")
        follower.until(lambda: any(admits(e.acl, reader("user:bob")) for _, e in follower.events if e.acl))
        start = len(follower.events)
        (follower.root / ".upwell-access.yaml").write_text("allow: [group:staff]")
        closed = time.monotonic()
        at, event = follower.event("acl", "a.md", start)
        assert at - closed < 1
        assert not admits(event.acl, reader("user:bob"))
        start = len(follower.events)
        (follower.root / ".upwell-access.yaml").write_text("allow: [everyone]")
        written = (follower.root / ".upwell-access.yaml").stat().st_mtime
        offset = time.time() - time.monotonic()
        at, event = follower.until(
            lambda: next((p for p in follower.events[start:] if admits(p[1].acl, reader("user:bob"))), None)
        )
        assert at + offset - written >= 1.99


def test_a_folder_that_goes_away_deletes_nothing_and_is_followed_again_when_it_is_back(tmp_path):
    with following(tmp_path) as follower:
        (follower.root / "a.md").write_text("one")
        (follower.root / "b.md").write_text("two")
        follower.event("upsert", "b.md")
        start = len(follower.events)
        follower.root.rename(tmp_path / "away")
        follower.until(lambda: "source_missing" in follower.notices)
        (tmp_path / "away").rename(follower.root)
        scans = follower.scans
        follower.until(lambda: follower.scans > scans)
        (follower.root / "c.md").write_text("three")
        follower.event("upsert", "c.md")
        assert [event.doc_id for _, event in follower.events[start:]] == ["c.md"]


def test_what_is_never_indexed_wakes_nobody(tmp_path):
    with following(tmp_path) as follower:
        for folder in ("lake", ".git", ".upwell"):
            (follower.root / folder).mkdir()
        (follower.root / "a.md").write_text("one")
        follower.event("upsert", "a.md")
        follower.until(lambda: follower.scans >= 2)
        scans = follower.scans
        for path in ("lake/x", ".git/index", ".upwell/y", ".a.md.swp", "a.md~"):
            (follower.root / path).write_text("noise")
        start = time.monotonic()
        follower.until(lambda: time.monotonic() - start > 0.4)
        assert follower.scans == scans


def test_scanning_wakes_nobody(tmp_path):
    with following(tmp_path) as follower:
        (follower.root / "a.md").write_text("one")
        follower.event("upsert", "a.md")
        start = time.monotonic()
        follower.until(lambda: time.monotonic() - start > 0.4)
        assert follower.scans <= 4


def test_without_notices_the_folder_is_looked_at_again_and_again(tmp_path):
    with following(tmp_path, polling=True) as follower:
        (follower.root / "a.md").write_text("one")
        follower.event("upsert", "a.md")


def test_a_system_that_gives_no_notices_is_said_and_polled(tmp_path):
    code = f"""
import os, resource
from pathlib import Path
from threading import Event
from upwell.sources.folder.watch import FolderWatch
hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
resource.setrlimit(resource.RLIMIT_NOFILE, (64, hard))
held = []
try:
    while True:
        held.append(os.open("/dev/null", os.O_RDONLY))
except OSError:
    pass
watch = FolderWatch(Path({str(tmp_path)!r}), Event())
assert watch.wait() == frozenset()
print([notice.code for notice in watch.notices])
"""
    assert resource.getrlimit(resource.RLIMIT_NOFILE)[1] >= 64
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=30, check=False)
    assert done.stdout.strip() == "['watch_polling']", done.stderr


def test_stopping_ends_the_wait(tmp_path):
    stop = Event()
    with FolderWatch(tmp_path, stop) as watch:
        Thread(target=lambda: (time.sleep(0.05), stop.set())).start()
        start = time.monotonic()
        assert watch.wait() is None
        assert time.monotonic() - start < 20, "long before a scan falls due"


def test_a_scan_falls_due_without_any_notice(tmp_path):
    with FolderWatch(tmp_path, Event(), rescan_s=0.1) as watch:
        assert watch.wait() == frozenset()
