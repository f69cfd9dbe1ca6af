"""Getting rid of the shard's write-ahead log without restarting its numbers.

The log is a chain of 32 MB files; a file goes when all in it is flushed and writing has moved well past it. Removing
the log of a shard that is kept is no way out: operation numbers would start again at 0, and every later stamp and
delete of a point that is there would silently be ignored as old (Edge 0.9).
"""

import os
import stat
from contextlib import suppress
from pathlib import Path

HEADER_BYTES = 8
LENGTH_BYTES = 8


class OldLog:
    """The log files of one moment, but for the next one, made in advance, that holds no entry yet.

    They are held open, so that no new file can take an old one's inode and be mistaken for it.
    """

    def __init__(self, folder: Path) -> None:
        self._held: list[int] = []
        for path in folder.iterdir():
            if path.name == "first-index":
                continue
            with suppress(FileNotFoundError):
                opened = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
                if _holds_entries(opened):
                    self._held.append(opened)
                else:
                    os.close(opened)

    def left(self) -> int:
        """How many of them still have a name."""
        gone = [held for held in self._held if os.fstat(held).st_nlink == 0]
        for held in gone:
            os.close(held)
        self._held = [held for held in self._held if held not in gone]
        return len(self._held)

    def close(self) -> None:
        """Look no longer."""
        while self._held:
            os.close(self._held.pop())


def _holds_entries(opened: int) -> bool:
    """Whether it is a log file with an entry in it. A file to come is made in a folder beside, which a kill leaves."""
    if not stat.S_ISREG(os.fstat(opened).st_mode):
        return False
    return any(os.pread(opened, LENGTH_BYTES, HEADER_BYTES))  # the first entry's length
