"""What is never a document: what `.gitignore` files name, and the passing files of editors.

Hidden files and folders are ordinary, as they are to git. `.git` and `.upwell` (a lake) are not.
"""

from dataclasses import dataclass
from fnmatch import fnmatchcase
from unicodedata import normalize

from pathspec import GitIgnoreSpec

IGNORE_FILE = ".gitignore"
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


def parse_ignores(text: str) -> GitIgnoreSpec:
    """The patterns of a `.gitignore`; lines that are no pattern are left out, as git does."""
    lines = normalize("NFC", text).split("\n")
    return GitIgnoreSpec.from_lines(line for line in lines if _is_pattern(line))


def _is_pattern(line: str) -> bool:
    try:
        GitIgnoreSpec.from_lines([line])
    except ValueError:
        return False
    return True
