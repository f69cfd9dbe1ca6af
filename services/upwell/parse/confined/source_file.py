"""Reads a document from a path that is not trusted: no links followed, nothing but plain files, never too much."""

import os
import stat
from pathlib import Path

from upwell.errors import Reason, Rejected, Retryable
from upwell.parse.failures import too_large
from upwell.parse.letters.encoding import looks_binary
from upwell.parse.limits import Limits

HEAD_BYTES = 64 * 1024


def read_file(path: Path, limits: Limits) -> bytes:
    """The bytes of a plain file.

    Raises `Unparsable` (too large; of a text that is, only the head is read), Rejected `unreadable`, and Retryable when
    the file is gone.
    """
    try:
        fd = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except FileNotFoundError as e:
        raise Retryable("the file is gone") from e
    except OSError as e:
        raise Rejected(Reason.UNREADABLE, f"the file cannot be opened: {e.strerror}") from e
    status = os.fstat(fd)
    if not stat.S_ISREG(status.st_mode):
        os.close(fd)
        raise Rejected(Reason.UNREADABLE, "not a plain file")
    with os.fdopen(fd, "rb") as file:
        try:
            head = file.read(HEAD_BYTES)
            if status.st_size > limits.file_bytes:
                raise too_large(f"{status.st_size} bytes; at most {limits.file_bytes} are read")
            if status.st_size > limits.text_bytes and not looks_binary(head) and not head.startswith(b"%PDF-"):
                raise too_large(f"{status.st_size} bytes of text; at most {limits.text_bytes} are read")
            return head + file.read(limits.file_bytes + 1 - len(head))
        except OSError as e:
            raise Rejected(Reason.UNREADABLE, f"the file cannot be read: {e.strerror}") from e
