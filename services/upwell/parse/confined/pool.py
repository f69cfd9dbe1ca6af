"""Processes that may die: a pool of warm, confined children that a document can do nothing to but end."""

import os
import signal
import threading
from collections.abc import Mapping
from pathlib import Path

import psutil  # type: ignore[import-untyped]

from upwell.child import Child, ChildAnsweredTooMuch, ChildDied, ChildTimedOut
from upwell.errors import Reason, Rejected, Retryable
from upwell.parse.confined.asked import Request
from upwell.parse.confined.confine import OVER_MEMORY_STATUS
from upwell.parse.failures import Unparsable, too_large
from upwell.parse.limits import Limits
from upwell.parse.policy import ParsePolicy
from upwell.records import ENCODER, JSON_ENCODER, ParseStatus

CHILD_MODULE = "upwell.parse.confined.child"
START_S = 60.0
GRACE_S = 2.0


class _Warm:
    """A child and how many documents it has seen."""

    def __init__(self, child: Child) -> None:
        self.child = child
        self.seen = 0


class ChildPool:
    """As many callers as `workers` are served in parallel, more wait.

    A child is replaced after `recycle_after` documents, when it keeps much memory, and when a document ends it: that
    document is tried once more in a fresh child, alone, so that a neighbour's leftovers are not held against it.
    `deaths` counts the children that documents ended. The children chunk with the tokenizer of `embedder`; with an
    empty name they only parse.
    """

    def __init__(
        self,
        embedder: str,
        fingerprint: str,
        *,
        workers: int,
        limits: Limits,
        policy: ParsePolicy,
        recycle_after: int,
    ) -> None:
        self._arguments = (
            embedder,
            fingerprint,
            *(JSON_ENCODER.encode(record).decode() for record in (limits, policy)),
        )
        self._limits, self._recycle_after = limits, recycle_after
        self._places = threading.BoundedSemaphore(workers)
        self._lock = threading.Lock()
        self._idle: list[_Warm] = []
        self._busy: set[_Warm] = set()
        self._closed = False
        self.deaths = 0

    def ask(self, request: Request) -> bytes:
        """A child's answer.

        Raises Unparsable (`timed_out` after the limits' time on the wall's clock or the processor's, `too_large` for
        too much memory or too long an answer), Rejected (`parser_crashed`, or what the child refused) and Retryable
        (no child could be started, the pool is closed).
        """
        body = ENCODER.encode(request)
        with self._places:
            try:
                return self._ask_child(body, fresh=False)
            except ChildDied:
                pass
            try:
                return self._ask_child(body, fresh=True)
            except ChildDied as e:
                raise Rejected(Reason.PARSER_CRASHED, f"the parser ended twice on it: {e}") from e

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

    def _ask_child(self, request: bytes, *, fresh: bool) -> bytes:
        """Raises Unparsable where the manner of a child's death says why for certain, else ChildDied."""
        warm = self._take(fresh=fresh)
        try:
            return warm.child.call(request, self._limits.wall_s + GRACE_S, self._limits.answer_bytes)
        except ChildDied as e:
            with self._lock:
                self.deaths += not self._closed
            if isinstance(e, ChildTimedOut) or e.exit_status == -signal.SIGXCPU:
                raise Unparsable(ParseStatus.TIMED_OUT, f"not parsed within {self._limits.wall_s:g} s") from e
            if isinstance(e, ChildAnsweredTooMuch):
                raise too_large(f"what is in it is too much: {e}") from e
            if e.exit_status == OVER_MEMORY_STATUS and not warm.seen:  # else what it kept of others took its part
                raise too_large("needs more memory than allowed") from e
            raise
        finally:
            self._give_back(warm)

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
        keep = warm.child.alive and warm.seen < self._recycle_after and _kept_bytes(warm) <= self._limits.kept_bytes
        with self._lock:
            self._busy.discard(warm)
            keep = keep and not self._closed
            if keep:
                self._idle.append(warm)
        if not keep:
            warm.child.close()


def _kept_bytes(warm: _Warm) -> int:
    try:
        return int(psutil.Process(warm.child.process.pid).memory_info().rss)
    except psutil.Error:
        return 0


def child_environment() -> Mapping[str, str]:
    """Nothing of ours but what Python needs: no secrets, no working folder on the import path, no downloads."""
    return {
        "PATH": os.defpath,
        "LANG": "C.UTF-8",
        "HOME": "/nonexistent",
        "PYTHONPATH": str(Path(__file__).parents[3]),
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
