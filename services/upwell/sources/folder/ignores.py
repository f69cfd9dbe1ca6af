"""What is never a document: what `.gitignore` files name, and the passing files of editors.

Hidden files and folders are ordinary, as they are to git. `.git` and `.upwell` are not, and no
lake is, whatever its name (see `listing`).
"""

import re
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import lru_cache
from unicodedata import normalize

from pathspec import GitIgnoreSpec

IGNORE_FILE = ".gitignore"
MOST_WILDCARDS = 3
NEVER_ENTERED = frozenset({".git", ".upwell"})
PASSING_FILES = (
    ".#*",  # Emacs: lock
    "#*#",  # Emacs: autosave
    "*~",  # Emacs, vim, gedit: backup; vim: undo
    ".*.sw?",  # vim: swap
    "4913",  # vim: tries whether the folder can be written
    ".goutputstream-*",  # GNOME: half an atomic save
    "*___jb_tmp___",  # JetBrains: half an atomic save
    "*___jb_old___",
    "~$*",  # Microsoft Office: lock
    ".~lock.*#",  # LibreOffice: lock
    "._*",  # macOS: resource fork
    ".DS_Store",
)


def is_passing(name: str) -> bool:
    """True for files that editors and desktops leave about, which are no documents."""
    return any(fnmatchcase(name, pattern) for pattern in PASSING_FILES)


@dataclass(frozen=True)
class Ignores:
    """The `.gitignore` files from the root down to a folder: the deepest that names a path decides.

    `fresh_until` is when the youngest of them will have rested (0: they all have).
    """

    layers: tuple[tuple[str, GitIgnoreSpec], ...] = ()
    fresh_until: int = 0

    def below(self, folder: str, spec: GitIgnoreSpec, fresh_until: int = 0) -> "Ignores":
        """With the `.gitignore` of `folder` ("" is the root) added."""
        return Ignores((*self.layers, (folder, spec)), max(self.fresh_until, fresh_until))

    def name(self, path: str, *, is_folder: bool) -> bool:
        """True if git would ignore `path` (NFC, below the root). Ask for folders first: git does not enter those."""
        for folder, spec in reversed(self.layers):
            inner = path[len(folder) + 1 :] if folder else path
            verdict = spec.check_file(inner + "/" if is_folder else inner).include
            if verdict is not None:
                return bool(verdict)
        return False


@lru_cache(maxsize=64)  # The same files, scan after scan.
def parse_ignores(text: str) -> GitIgnoreSpec:
    """The patterns of a `.gitignore`; lines that are no pattern are left out, as git does.

    Raises ValueError for a pattern with so many wildcards that a name made for it could hold up a scan for minutes.
    """
    lines = [line for line in normalize("NFC", text).split("\n") if _is_pattern(line)]
    for number, line in enumerate(lines, start=1):
        segments = line.split("/")
        if segments.count("**") > MOST_WILDCARDS or any(_stars(segment) > MOST_WILDCARDS for segment in segments):
            raise ValueError(f"pattern {number} has more than {MOST_WILDCARDS} wildcards in one name or path")
    return GitIgnoreSpec.from_lines(lines)


def _stars(segment: str) -> int:
    return len(re.findall(r"\*+", segment))


def _is_pattern(line: str) -> bool:
    if not line.strip() or line.startswith("#"):
        return False
    try:
        GitIgnoreSpec.from_lines([line])
    except ValueError:
        return False
    return True
