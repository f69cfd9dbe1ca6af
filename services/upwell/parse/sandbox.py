"""Parsing in processes that may die: a pool of warm, confined children that parse, chunk and prefix."""

import os
import threading
from collections.abc import Mapping
from pathlib import Path

import msgspec

from upwell.child import Child, ChildDied, ChildTimedOut
from upwell.errors import Reason, Rejected, Retryable
from upwell.parse.confine import Confinement
from upwell.parse.explanation import unparsed
from upwell.parse.limits import DEFAULT_LIMITS, Limits
from upwell.parse.prepare import failed
from upwell.parse.sandbox_child import Request
from upwell.records import ENCODER, JSON_ENCODER, ParsedDocument, ParseStatus, PreparedDocument

CHILD_MODULE = "upwell.parse.sandbox_child"
START_S = 60.0
GRACE_S = 2.0
RECYCLE_AFTER = 1000
PREPARED = msgspec.msgpack.Decoder(PreparedDocument)


class _Warm:
    """A child and how many documents it has seen."""

    def __init__(self, child: Child) -> None:
        self.child = child
        self.seen = 0


class SandboxPreparer:
    """`ports.Preparer` on a pool of `workers` children; as many callers work in parallel, more wait.

    A child is replaced after `recycle_after` documents, and when a document ends it: that document is tried once more
    in a fresh child, alone, so that a neighbour's leftovers are not held against it.
    """

    def __init__(
        self,
        embedder: str,
        fingerprint: str,
        *,
        workers: int = 2,
        limits: Limits = DEFAULT_LIMITS,
        recycle_after: int = RECYCLE_AFTER,
    ) -> None:
        self._arguments = (embedder, fingerprint, JSON_ENCODER.encode(limits).decode())
        self._limits, self._recycle_after = limits, recycle_after
        self._places = threading.BoundedSemaphore(workers)
        self._lock = threading.Lock()
        self._idle: list[_Warm] = []
        self._busy: set[_Warm] = set()
        self._closed = False

    def prepare(self, content: bytes | Path, name: str, media_type: str | None = None) -> PreparedDocument:
        """Everything of a version but its vectors, or the status that says why not.

        Raises Rejected (`parser_crashed`, `unreadable`) and Retryable (no child could be started, the file is gone).
        """
        try:
            return PREPARED.decode(self._ask(_request("prepare", content, name, media_type)))
        except ChildTimedOut:
            return failed(ParseStatus.TIMED_OUT, f"not parsed within {self._limits.wall_s:g} s")

    def explain(self, content: bytes | Path, name: str, media_type: str | None = None) -> bytes:
        """The same as JSON of what was parsed and chunked (`explanation`). Raises as `prepare` does."""
        try:
            return self._ask(_request("explain", content, name, media_type))
        except ChildTimedOut:
            reason = f"not parsed within {self._limits.wall_s:g} s"
            return JSON_ENCODER.encode(unparsed(ParsedDocument(status=ParseStatus.TIMED_OUT, reason=reason)))

    def strength(self) -> Confinement:
        """What confines a child on this system, as a child found it."""
        return msgspec.msgpack.decode(self._ask(ENCODER.encode(Request(op="strength"))), type=Confinement)

    def warm(self) -> None:
        """Import the heavy parsers in one idle child, so that the first office file does not wait for them."""
        self._ask(ENCODER.encode(Request(op="warm")))

    def close(self) -> None:
        """End the children; calls in flight fail as Retryable."""
        with self._lock:
            self._closed = True
            idle, self._idle = self._idle, []
            busy = list(self._busy)
        for warm in idle:
            warm.child.close()
        for warm in busy:
            warm.child.kill()

    def _ask(self, request: bytes) -> bytes:
        with self._places:
            try:
                return self._ask_child(request, fresh=False)
            except ChildTimedOut:
                raise
            except ChildDied:
                pass
            try:
                return self._ask_child(request, fresh=True)
            except ChildTimedOut:
                raise
            except ChildDied as e:
                raise Rejected(Reason.PARSER_CRASHED, f"the parser ended twice on it: {e}") from e

    def _ask_child(self, request: bytes, *, fresh: bool) -> bytes:
        warm = self._take(fresh=fresh)
        try:
            answer = warm.child.call(request, self._limits.wall_s + GRACE_S)
        finally:
            self._give_back(warm)
        return answer

    def _take(self, *, fresh: bool) -> _Warm:
        with self._lock:
            if self._closed:
                raise Retryable("the parsers are closed")
            warm = self._idle.pop() if self._idle and not fresh else None
        if warm is None or not warm.child.alive:
            warm = _Warm(self._started())
        with self._lock:
            self._busy.add(warm)
        return warm

    def _started(self) -> Child:
        """A child that has answered once: its start does not count against a document."""
        child = Child(CHILD_MODULE, self._arguments, child_environment())
        try:
            child.call(ENCODER.encode(Request(op="strength")), START_S)
        except ChildDied as e:
            raise Retryable(f"no parser could be started: {e}") from e
        return child

    def _give_back(self, warm: _Warm) -> None:
        warm.seen += 1
        keep = warm.child.alive and warm.seen < self._recycle_after
        with self._lock:
            self._busy.discard(warm)
            keep = keep and not self._closed
            if keep:
                self._idle.append(warm)
        if not keep:
            warm.child.close()


def _request(op: str, content: bytes | Path, name: str, media_type: str | None) -> bytes:
    if isinstance(content, bytes):
        return ENCODER.encode(Request(op=op, data=content, name=name, media_type=media_type))
    return ENCODER.encode(Request(op=op, path=str(content), name=name, media_type=media_type))


def child_environment() -> Mapping[str, str]:
    """Nothing of ours but what Python needs: no secrets, no working folder on the import path, no downloads."""
    return {
        "PATH": os.defpath,
        "LANG": "C.UTF-8",
        "PYTHONPATH": str(Path(__file__).parents[2]),
        "PYTHONSAFEPATH": "1",
        "PYTHONDONTWRITEBYTECODE": "1",
        "PYTHONWARNINGS": "ignore",
        "PYTHONHASHSEED": "0",
        "HF_HUB_OFFLINE": "1",
        "OMP_NUM_THREADS": "1",
        "OPENBLAS_NUM_THREADS": "1",
        "TOKENIZERS_PARALLELISM": "false",
        "MALLOC_ARENA_MAX": "2",
    }


def sandbox_strength() -> Confinement:
    """What confines a parser's child on this system; starts one to know. For `upwell doctor`."""
    preparer = SandboxPreparer("hash", "", workers=1)
    try:
        return preparer.strength()
    finally:
        preparer.close()
