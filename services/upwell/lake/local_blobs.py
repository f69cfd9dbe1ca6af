"""Writing a file so that it is whole and there after a power cut, or not there at all."""

import os
import secrets
from pathlib import Path

TRIES = 3


def write_durably(path: str, data: bytes) -> None:
    """Write beside the target, sync, rename, sync the folders. Only the owner may read. Raises OSError."""
    target = Path(path)
    for attempt in range(TRIES):
        try:
            _write(target, data)
        except FileNotFoundError:  # the folder was forgotten between its making and the rename
            if attempt == TRIES - 1:
                raise
        else:
            return


def _write(target: Path, data: bytes) -> None:
    target.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    beside = target.with_name(f".{target.name}.{secrets.token_hex(8)}")
    try:
        with os.fdopen(os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        beside.replace(target)
    except BaseException:
        beside.unlink(missing_ok=True)
        raise
    _sync(target.parent)
    _sync(target.parent.parent)


def _sync(folder: Path) -> None:
    number = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(number)
    finally:
        os.close(number)
