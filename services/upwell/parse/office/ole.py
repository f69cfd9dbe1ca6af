"""OLE compound files (MS-CFB) through olefile, bounded: streams may overlap, so that reading all could take more."""

import io
from typing import Any

from upwell.parse.failures import corrupt, too_large

SPARE_BYTES = 1024 * 1024


class Compound:
    """The streams of a compound file by their path. Raises Unparsable when it is damaged or overlaps itself."""

    def __init__(self, data: bytes) -> None:
        import olefile  # noqa: PLC0415 - few documents need it

        self._left = 2 * len(data) + SPARE_BYTES
        try:
            self._ole: Any = olefile.OleFileIO(io.BytesIO(data))
            entries = self._ole.listdir(streams=True, storages=True)
        except (OSError, ValueError, IndexError, KeyError, TypeError, AttributeError, OverflowError) as e:
            raise corrupt(f"the container is damaged: {' '.join(str(e).split())[:200]}") from e
        self.paths: tuple[tuple[str, ...], ...] = tuple(tuple(entry) for entry in entries)
        self._known = {tuple(part.lower() for part in path) for path in self.paths}

    def folders(self, under: tuple[str, ...], prefix: str) -> list[tuple[str, ...]]:
        """The storages right below `under` whose names begin so, in the order of their names."""
        depth = len(under)
        found = {p[: depth + 1] for p in self.paths if len(p) > depth + 1 and p[:depth] == under}
        return sorted(path for path in found if path[depth].startswith(prefix))

    def has(self, path: tuple[str, ...]) -> bool:
        return tuple(part.lower() for part in path) in self._known

    def read(self, path: tuple[str, ...]) -> bytes | None:
        """A stream's bytes, None when there is none of that name."""
        if not self.has(path):
            return None
        try:
            data = bytes(self._ole.openstream(list(path)).read())
        except (OSError, ValueError, IndexError, KeyError, TypeError, AttributeError, OverflowError) as e:
            raise corrupt(f"a stream is damaged: {' '.join(str(e).split())[:200]}") from e
        self._left -= len(data)
        if self._left < 0:
            raise too_large("its streams overlap to more than the file holds")
        return data
