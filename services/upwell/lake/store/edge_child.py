"""The process of the Qdrant Edge shard: `python -m upwell.lake.store.edge_child SOCKET LIFELINE FOLDER DIM`.

Its calls hold the GIL, so they live here. Imports stay light: it starts in well under half a second.
"""

import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from upwell.child import serve
from upwell.errors import Misconfigured, Reason, Rejected, Retryable, UpwellError
from upwell.lake.store import edge_requests as ask
from upwell.lake.store.edge_shard import Shard

ANSWERS: dict[type[ask.Request], Callable[[Shard, Any], object]] = {
    ask.Insert: Shard.insert,
    ask.Flush: lambda shard, _: shard.flush(),
    ask.Stamp: Shard.stamp,
    ask.Prune: Shard.prune,
    ask.Present: Shard.present,
    ask.Texts: Shard.texts,
    ask.StoredVectors: Shard.vectors,
    ask.Search: Shard.search,
    ask.Count: lambda shard, _: shard.count(),
    ask.Compact: lambda shard, _: shard.compact(),
    ask.PadLog: lambda shard, _: shard.pad_log(),
}


class Handler:
    """Answers requests. The shard is opened by the first one, so that what is wrong with it reaches the caller."""

    def __init__(self, folder: Path, dim: int) -> None:
        self._folder, self._dim = folder, dim
        self._shard: Shard | None = None

    def __call__(self, body: bytes) -> bytes:
        """The encoded answer. Raises only `upwell.errors`."""
        request = ask.decode_request(body)
        try:
            if self._shard is None:
                self._shard = Shard(self._folder, self._dim)
            return ask.encode(ANSWERS[type(request)](self._shard, request))
        except UpwellError:
            raise
        except Exception as error:
            # Edge raises bare Exceptions, and this is the edge of a process: each becomes one of ours.
            raise mapped(error) from error

    def close(self) -> None:
        """Let the shard end in order."""
        if self._shard is not None:
            self._shard.close()


def mapped(error: Exception) -> UpwellError:
    """Our error for one of Edge's. Texts of refused values are left out: they may quote a document."""
    text = str(error)
    if isinstance(error, (ValueError, TypeError, KeyError)):
        return Rejected(Reason.INVALID_EVENT, f"the vector store refused the request ({type(error).__name__})")
    if "dimension" in text or "incompatible" in text.lower() or "mismatch" in text.lower():
        return Misconfigured("the vector store was made for vectors of another number of numbers or of another kind")
    return Retryable(f"the vector store failed: {text[:200]}")


def main(arguments: list[str]) -> None:
    """Serve until the owner is gone."""
    socket_fd, lifeline_fd, folder, dim = arguments
    handler = Handler(Path(folder), int(dim))
    try:
        serve(handler, int(socket_fd), int(lifeline_fd))
    finally:
        handler.close()


if __name__ == "__main__":
    os.umask(0o077)  # what the shard writes is for its owner alone
    main(sys.argv[1:])
