"""What a folder holds now: one walk with scandir that opens no document and follows no folder link."""

import os
import stat
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from unicodedata import normalize

from upwell.errors import Reason
from upwell.sources.folder.access import ACCESS_FILE
from upwell.sources.folder.content import open_inside, signature_of
from upwell.sources.folder.ignores import IGNORE_FILE, NEVER_ENTERED, Ignores, is_passing, parse_ignores
from upwell.sources.folder.links import Link, resolve
from upwell.sources.folder.records import AccessSeen, Entry, Fault, Listing, Notice

REST_US = 2_000_000
IGNORES_LIMIT_BYTES = 1024 * 1024
LAKE_FILES = frozenset({"lock", "events.sqlite", "registry.sqlite"})
"""A folder that holds all of these is a lake, wherever it lies and whatever its name."""
ACCESS_NAMES = frozenset({".upwell-access.yaml", ".upwell-access.yml"})
SECRET_NAMES = frozenset({"upwell.toml", "signing-key.json"})
"""What holds secrets of a lake, wherever it lies: senders' secrets and passwords of stores, the key that signs."""


@dataclass(frozen=True)
class _Folder:
    """A folder to list: its spelling on disk, its id (NFC), and what is ignored in it."""

    path: str
    folder_id: str
    ignores: Ignores


@dataclass
class _Walk:
    """One walk in the making."""

    root: str
    excluded: frozenset[str]
    now: int
    entries: list[Entry] = field(default_factory=list)
    links: list[Link] = field(default_factory=list)
    faults: list[Fault] = field(default_factory=list)
    notices: list[Notice] = field(default_factory=list)
    unlisted: set[str] = field(default_factory=set)
    access: dict[str, AccessSeen] = field(default_factory=dict)
    found: int = 0

    def folder(self, folder: _Folder) -> list[_Folder]:
        """Take in one folder; returns the folders in it that are to be listed."""
        try:
            with os.scandir(_join(self.root, folder.path)) as scan:
                inside = sorted(scan, key=lambda entry: os.fsencode(entry.name))
        except OSError as e:
            self._leave(folder, "folder_unreadable", f"cannot be listed: {e.strerror}")
            return []
        if {entry.name for entry in inside} >= LAKE_FILES:
            return []
        self._access(folder)
        ignores = self._ignores(folder, {entry.name for entry in inside})
        if ignores is None:
            return []
        below: list[_Folder] = []
        names: set[str] = set()
        for entry in inside:
            named = self._named(folder, entry, ignores, names)
            if named is not None:
                below += self._entry(_Folder(_join(folder.path, entry.name), named, ignores), entry)
        return below

    def _leave(self, folder: _Folder, code: str, detail: str) -> None:
        self.unlisted.add(folder.folder_id)
        self.notices.append(Notice(code=code, path=folder.folder_id, detail=detail))
        if code == "folder_unreadable":
            self._access(folder)

    def _access(self, folder: _Folder) -> None:
        """Anything but a plain file or certain absence is an access file that cannot be read."""
        path = _join(folder.path, ACCESS_FILE)
        try:
            found = os.lstat(_join(self.root, path))
        except FileNotFoundError:
            return
        except OSError as e:
            self.access[folder.folder_id] = AccessSeen(path=path, error=f"cannot be read: {e.strerror}")
            return
        if stat.S_ISREG(found.st_mode):
            self.access[folder.folder_id] = AccessSeen(path=path, signature=signature_of(found))
        else:
            self.access[folder.folder_id] = AccessSeen(path=path, error="is not a plain file")

    def _ignores(self, folder: _Folder, names: set[str]) -> Ignores | None:
        """What is ignored in `folder`; None, and the folder left as it was, when its `.gitignore` cannot be read."""
        if IGNORE_FILE not in names:
            return folder.ignores
        path = _join(folder.path, IGNORE_FILE)
        try:
            if not stat.S_ISREG(os.lstat(_join(self.root, path)).st_mode):
                return folder.ignores  # As git does: a linked .gitignore has no say.
            descriptor = open_inside(self.root, path)
            with os.fdopen(descriptor, "rb") as file:
                age = self.now - os.fstat(descriptor).st_mtime_ns // 1000
                data = file.read(IGNORES_LIMIT_BYTES + 1)
        except OSError as e:
            self._leave(folder, "ignores_unreadable", f"{IGNORE_FILE} cannot be read: {e.strerror}")
            return None
        if len(data) > IGNORES_LIMIT_BYTES:
            self._leave(folder, "ignores_unreadable", f"{IGNORE_FILE} is larger than {IGNORES_LIMIT_BYTES} bytes")
            return None
        try:
            spec = parse_ignores(data.decode("utf-8", "surrogateescape"))
        except ValueError as e:
            self._leave(folder, "ignores_unreadable", f"{IGNORE_FILE}: {e}")
            return None
        return folder.ignores.below(folder.folder_id, spec, self.now - age + REST_US if 0 <= age < REST_US else 0)

    def _named(self, folder: _Folder, entry: os.DirEntry[str], ignores: Ignores, names: set[str]) -> str | None:
        """The id of an entry that counts, or None for one that is never a document."""
        if entry.name.lower() in ACCESS_NAMES:
            if entry.name != ACCESS_FILE:
                detail = f"is not an access file: the name is {ACCESS_FILE}"
                self.notices.append(Notice(code="access_name", path=folder.folder_id, detail=detail))
            return None
        if entry.name in NEVER_ENTERED or entry.name.lower() in SECRET_NAMES or is_passing(entry.name):
            return None
        if not _is_utf8(entry.name):
            self.found += 1
            shown = os.fsencode(entry.name).decode("utf-8", "backslashreplace")
            detail = "its name is not UTF-8"
            self.faults.append(Fault(doc_id=_join(folder.folder_id, shown), reason=Reason.UNSUPPORTED, detail=detail))
            return None
        named = _join(folder.folder_id, normalize("NFC", entry.name))
        if _join(self.root, _join(folder.path, entry.name)) in self.excluded:
            return None
        self.found += 1
        if ignores.name(named, is_folder=_is_folder(entry)):
            return None
        if named in names:
            detail = f"another name here is equal to this one in NFC: {entry.name!a} is left out"
            self.faults.append(Fault(doc_id=named, reason=Reason.NAME_COLLISION, detail=detail))
            return None
        names.add(named)
        return named

    def _entry(self, at: _Folder, entry: os.DirEntry[str]) -> Iterator[_Folder]:
        """Take in one entry (`at` is its place); yields it if it is a folder."""
        try:
            if entry.is_symlink():
                self.links.append(Link(doc_id=at.folder_id, path=at.path, waits_until=at.ignores.fresh_until))
            elif entry.is_dir(follow_symlinks=False):
                self.found -= 1  # An empty folder is not a sign of life: mount points are empty folders.
                yield at
            elif entry.is_file(follow_symlinks=False):
                signature = signature_of(entry.stat(follow_symlinks=False))
                waits = at.ignores.fresh_until
                self.entries.append(Entry(doc_id=at.folder_id, path=at.path, signature=signature, waits_until=waits))
            else:
                detail = "a socket, pipe or device is never opened"
                self.notices.append(Notice(code="special_file", path=at.folder_id, detail=detail))
        except FileNotFoundError:
            return
        except OSError as e:
            detail = f"cannot be read: {e.strerror}"
            self.faults.append(Fault(doc_id=at.folder_id, reason=Reason.UNREADABLE, detail=detail))


def is_lake(folder: Path) -> bool:
    """True for the folder of a lake, this one or another: it holds what others may not read."""
    return all(os.path.lexists(folder / name) for name in LAKE_FILES)


def list_folder(root: Path, now: int, excluded: Iterable[Path] = ()) -> Listing:
    """List `root` (a real path), without the folders in `excluded` (real paths too). Opens `.gitignore` files only.

    A root that is missing, unreadable or no folder gives a listing whose `missing` says so.
    """
    try:
        with os.scandir(root):
            pass
    except OSError as e:
        return Listing(missing=f"{root}: {e.strerror}", unlisted=frozenset({""}))
    walk = _Walk(str(root), frozenset(str(path) for path in excluded), now)
    todo = [_Folder("", "", Ignores())]
    while todo:
        todo += walk.folder(todo.pop())
    linked, notices = resolve(walk.root, walk.links, walk.entries)
    return Listing(
        entries=tuple(sorted([*walk.entries, *linked], key=lambda entry: entry.doc_id)),
        faults=tuple(walk.faults),
        notices=(*walk.notices, *notices),
        unlisted=frozenset(walk.unlisted),
        access=walk.access,
        empty=not walk.found,
    )


def _join(folder: str, name: str) -> str:
    return f"{folder}/{name}" if folder else name


def _is_folder(entry: os.DirEntry[str]) -> bool:
    try:
        return entry.is_dir(follow_symlinks=False)
    except OSError:
        return False


def _is_utf8(name: str) -> bool:
    try:
        name.encode()
    except UnicodeEncodeError:
        return False
    return True
