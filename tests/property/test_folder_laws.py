"""Whatever is done to a folder, replaying its events gives exactly what is in it, for exactly those who may read it."""

import os
import shutil
import tempfile
from fnmatch import fnmatchcase
from pathlib import Path

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from folder_world import OWNER, World
from upwell.access import admits, reader
from upwell.records import Acl, Op
from upwell.sources.folder.listing import REST_US

FOLDERS = ["", "a", "a/b", "c"]
NAMES = ["x.md", "y.md", "pay.xlsx", "it's é.md"]
WORDS = ["", "one", "two", "a longer text"]
READERS = [
    reader(OWNER),
    reader("user:bob"),
    reader("group:staff"),
    reader("group:hr", "group:staff"),
    reader("group:x"),
]
ACCESS: dict[str, dict | None] = {
    "allow: [everyone]": {"allow": {"everyone"}},
    "allow: [group:staff]": {"allow": {"group:staff"}},
    "allow: [group:hr, group:x]\ndeny: [group:staff]": {"allow": {"group:hr", "group:x"}, "deny": {"group:staff"}},
    "deny: [group:x]": {"deny": {"group:x"}},
    "allow: [everyone]\ninherit: false": {"allow": {"everyone"}, "inherit": False},
    "inherit: false": {"inherit": False},
    "files: {'pay*': {allow: [group:hr]}}": {"files": {"pay*": {"group:hr"}}},
    "allow: [everyone": None,
    "": None,
}

folders = st.sampled_from(FOLDERS)
numbers = st.integers(0, 20)
files = st.builds(lambda folder, name: f"{folder}/{name}".lstrip("/"), folders, st.sampled_from(NAMES))


class FolderMachine(RuleBasedStateMachine):
    """People at work in a folder, scans now and then, and a lake that replays what the scans say."""

    def __init__(self) -> None:
        super().__init__()
        self.base = Path(tempfile.mkdtemp())
        self.world = World(self.base)
        self.evidence: set[str] = set()
        self.lake: dict[str, tuple[bytes, Acl]] = {}
        self.versions: dict[str, int] = {}
        self.acl_versions: dict[str, int] = {}
        self.event_ids: set[str] = set()
        self.marks: dict[str, tuple[int, bool]] = {}
        self.unclear: set[str] = set()

    def teardown(self) -> None:
        self.world.engine.dispose()
        shutil.rmtree(self.base)

    @initialize()
    def begin(self) -> None:
        self.world.write("keep.md", "so that the folder is never empty")

    @rule(path=files, words=st.sampled_from(WORDS), fresh=st.booleans())
    def write(self, path: str, words: str, fresh: bool) -> None:
        self.world.now += 1000
        self.world.write(path, words, fresh=fresh)

    def existing(self, number: int) -> str:
        """One of the documents that are there."""
        there = sorted(self.on_disk())
        return there[number % len(there)]

    @rule(number=numbers)
    def edit_and_put_the_time_back(self, number: int) -> None:
        path = self.existing(number)
        file = self.world.root / path
        at = file.stat().st_mtime_ns
        file.write_bytes(bytes(byte ^ 1 for byte in file.read_bytes()))
        os.utime(file, ns=(at, at))
        self.evidence.add(path)

    @rule(number=numbers, word=st.sampled_from(WORDS))
    def edit(self, number: int, word: str) -> None:
        self.world.write(self.existing(number), word)

    @rule(number=numbers, to=files)
    def rename(self, number: int, to: str) -> None:
        (self.world.root / to).parent.mkdir(parents=True, exist_ok=True)
        self.taken(number).rename(self.world.root / to)

    @rule(number=numbers)
    def delete(self, number: int) -> None:
        self.taken(number).unlink()

    @rule(number=numbers)
    def move_out(self, number: int) -> None:
        self.taken(number).rename(self.base / "out")

    def taken(self, number: int) -> Path:
        """A document that is to leave its place: any but the one that keeps the folder from being empty."""
        path = self.existing(number)
        return self.world.root / path if path != "keep.md" else self.world.write("passing.md", "by")

    @rule(folder=st.sampled_from(["a", "a/b", "c"]), to=st.sampled_from(["c", "a/b", "a"]))
    def move_folder(self, folder: str, to: str) -> None:
        source, target = self.world.root / folder, self.world.root / to
        if source.is_dir() and not target.exists() and target.parent.is_dir() and not target.is_relative_to(source):
            source.rename(target)

    @rule(path=files)
    def move_in(self, path: str) -> None:
        if (self.base / "out").exists():
            (self.world.root / path).parent.mkdir(parents=True, exist_ok=True)
            (self.base / "out").rename(self.world.root / path)

    @rule(folder=folders, text=st.sampled_from(list(ACCESS)), fresh=st.booleans())
    def set_access(self, folder: str, text: str, fresh: bool) -> None:
        self.world.now += 1000
        self.world.write(f"{folder}/.upwell-access.yaml".lstrip("/"), text, fresh=fresh)

    @rule(folder=folders)
    def remove_access(self, folder: str) -> None:
        (self.world.root / folder / ".upwell-access.yaml").unlink(missing_ok=True)

    @rule(by_us=st.sampled_from([1, 30_000, REST_US, -5 * REST_US]))
    def time_passes(self, by_us: int) -> None:
        self.world.now += by_us

    @rule()
    def start_again(self) -> None:
        self.world.reopen()

    @rule()
    def scan(self) -> None:
        self.unclear |= self.marks.keys() - self.access_marks().keys()
        diff = self.world.scan(*self.evidence)
        self.evidence.clear()
        assert diff.faults == ()
        for event in diff.events:
            assert event.event_id not in self.event_ids
            self.event_ids.add(event.event_id)
            acl_before, before = self.acl_versions.get(event.doc_id, -1), self.versions.get(event.doc_id, -1)
            assert (event.version, event.acl_version) >= (before, acl_before)
            match event.op:
                case Op.UPSERT:
                    assert event.version > before
                    if event.previous_doc_id is not None:
                        assert event.version > self.versions[event.previous_doc_id]
                        self.versions[event.previous_doc_id] = event.version
                        assert self.lake.pop(event.previous_doc_id)[0] == event.content.data
                    self.lake[event.doc_id] = (event.content.data, event.acl)
                case Op.DELETE:
                    assert event.version > before
                    del self.lake[event.doc_id]
                case _:
                    assert event.version == before
                    assert event.acl_version > acl_before
                    if not self.may_widen(event.doc_id):
                        earlier = self.lake[event.doc_id][1]
                        assert all(admits(earlier, who) for who in READERS if admits(event.acl, who))
                    self.lake[event.doc_id] = (self.lake[event.doc_id][0], event.acl)
            self.versions[event.doc_id] = event.version
            self.acl_versions[event.doc_id] = event.acl_version
        self.marks = self.access_marks()
        self.check(exactly=diff.recheck_at is None)

    @precondition(lambda self: self.lake)
    @rule()
    def everything_rests(self) -> None:
        self.world.now += 2 * REST_US
        self.scan()
        self.world.now += 2 * REST_US
        self.scan()
        self.check(exactly=True)

    @invariant()
    def stored_state_is_what_was_replayed(self) -> None:
        present = {one.doc_id for one in self.world.source.state.documents.values() if one.present}
        assert present == self.lake.keys()

    def check(self, *, exactly: bool) -> None:
        """The lake holds the files; nobody reads what the rules now forbid; at rest, everybody what they allow."""
        assert {doc_id: data for doc_id, (data, _) in self.lake.items()} == self.on_disk()
        for doc_id, (_, acl) in self.lake.items():
            for who in READERS:
                may = self.may_read(doc_id, who)
                assert may or not admits(acl, who)
                assert admits(acl, who) or not may or not exactly

    def on_disk(self) -> dict[str, bytes]:
        return {
            str(file.relative_to(self.world.root)): file.read_bytes()
            for file in self.world.root.rglob("*")
            if file.is_file() and file.name != ".upwell-access.yaml"
        }

    def may_widen(self, doc_id: str) -> bool:
        """True if an access file above the document came to rest, or went, since the scan before. Files that seemed to
        come from the future (the clock was put back) are left to the unit tests."""
        above = doc_id.split("/")[:-1]
        chain = ["/".join(above[:depth]) for depth in range(len(above) + 1)]
        now = self.access_marks()
        return any(
            folder in self.unclear or (now[folder][1] and now[folder] != self.marks.get(folder))
            for folder in chain
            if folder in now or folder in self.unclear
        )

    def access_marks(self) -> dict[str, tuple[int, bool]]:
        """When each access file was written (ns), and whether it has rested."""
        marks = {}
        for file in self.world.root.rglob(".upwell-access.yaml"):
            folder = str(file.parent.relative_to(self.world.root)).removeprefix(".")
            written = file.stat().st_mtime_ns
            age = self.world.now - written // 1000
            marks[folder] = (written, age >= REST_US)
            if age < 0:
                self.unclear.add(folder)
        return marks

    def may_read(self, doc_id: str, who: frozenset[str]) -> bool:
        """DESIGN.md's words, once more and in another way: from the files as they are now."""
        levels: list[set[str]] = []
        deny: set[str] = set()
        hidden = False
        *above, name = doc_id.split("/")
        for depth in range(len(above) + 1):
            file = self.world.root.joinpath(*above[:depth], ".upwell-access.yaml")
            rules = ACCESS[file.read_text()] if file.exists() else {}
            if rules is None:
                hidden = True
                continue
            if not rules.get("inherit", True):
                levels, deny = [], set()
            levels += [rules["allow"]] if "allow" in rules else []
            levels += [allow for pattern, allow in rules.get("files", {}).items() if fnmatchcase(name, pattern)]
            deny |= rules.get("deny", set())
        if hidden or not levels:
            levels = [*levels, set()]
        return not deny & who and all((level | {OWNER}) & who for level in levels)


TestFolder = FolderMachine.TestCase
TestFolder.settings = settings(
    max_examples=100,
    stateful_step_count=30,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much],
)
