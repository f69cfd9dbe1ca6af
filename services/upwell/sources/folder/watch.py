"""Waiting for a folder to change: the system's own notices where there are some, looking again and again where not.

    with FolderWatch(source.root, stop, excluded=source.excluded) as watch:
        evidence = frozenset()
        while evidence is not None:
            for diff in source.scan(evidence=evidence):
                ...  # save it; keep diff.recheck_at
            evidence = watch.wait(recheck_at)

A notice only says where to look harder: each scan compares the whole folder, so a notice that is lost or comes late
costs time at most until the next scan, never a change.
"""

import time
from collections.abc import Generator, Iterable
from pathlib import Path
from threading import Event
from types import TracebackType
from typing import Self
from unicodedata import normalize

from watchfiles import Change, watch

from upwell.clock import Clock, now_us
from upwell.sources.folder.ignores import NEVER_ENTERED, is_passing
from upwell.sources.folder.records import Notice

STEP_MS = 20
DEBOUNCE_MS = 60
TICK_MS = 40
POLL_S = 0.5
RESCAN_S = 600.0
# The queue of the system's notices holds 16,384 by default: after so many at once some may be missing.
MANY_NOTICES = 4_000
AFTER_MANY_S = 2.0

Changed = set[tuple[Change, str]]


class FolderWatch:
    """Watches the folder `root` (a real path) until `stop` is set; `excluded` are folders below it to leave out.

    Watching begins with the object, so a scan made after that misses nothing. `polling` looks every POLL_S without
    notices, as the watch does by itself, and says so in `notices`, when the system gives none.
    """

    def __init__(
        self,
        root: Path,
        stop: Event,
        *,
        excluded: Iterable[Path] = (),
        rescan_s: float = RESCAN_S,
        polling: bool = False,
        clock: Clock = now_us,
    ) -> None:
        self._root = str(root)
        self._stop = stop
        self._excluded = tuple(f"{path}/" for path in excluded)
        self._rescan_s = rescan_s
        self._clock = clock
        self._polling = polling
        self._watched: tuple[int, int] | None = None
        self._changes: Generator[Changed, None, None] | None = None
        self._rescan_at = time.monotonic() + rescan_s
        self.notices: tuple[Notice, ...] = ()
        self._begin()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()

    def close(self) -> None:
        """Stop watching."""
        changes, self._changes = self._changes, None
        if changes is not None:
            changes.close()

    def wait(self, until: int | None = None) -> frozenset[str] | None:
        """The doc_ids noticed to have changed, as soon as some have; None once `stop` is set.

        Nothing noticed, but a scan due, is an empty set: at `until` (us), every `rescan_s`, or when the folder has
        gone or come back.
        """
        while not self._stop.is_set():
            if _identity(self._root) != self._watched:
                self._begin()
                return frozenset()
            changed = self._next()
            if changed:
                if len(changed) >= MANY_NOTICES:
                    self._rescan_at = min(self._rescan_at, time.monotonic() + AFTER_MANY_S)
                return frozenset(self._doc_id(path) for _, path in changed)
            if time.monotonic() >= self._rescan_at or (until is not None and self._clock() >= until):
                self._rescan_at = time.monotonic() + self._rescan_s
                return frozenset()
            if self._polls and not self._stop.wait(POLL_S):
                return frozenset()
        return None

    @property
    def _polls(self) -> bool:
        return self._changes is None and self._watched is not None

    def _begin(self) -> None:
        self.close()
        self._watched = _identity(self._root)
        if self._watched is None or self._polling:
            return
        self._changes = watch(
            self._root,
            watch_filter=self._matters,
            debounce=DEBOUNCE_MS,
            step=STEP_MS,
            rust_timeout=TICK_MS,
            yield_on_timeout=True,
            stop_event=self._stop,
            ignore_permission_denied=True,
        )
        self._next()

    def _next(self) -> Changed:
        """The next changes, an empty set after at most TICK_MS without any."""
        if self._changes is None:
            if self._watched is None:
                self._stop.wait(TICK_MS / 1000)
            return set()
        try:
            changed = next(self._changes, None)
            if changed is not None:
                return changed
            self._watched = None
        except FileNotFoundError:
            self._watched = None
        except (OSError, RuntimeError) as e:
            detail = f"looks for changes every {POLL_S} s, for the system gives no notices of them: {e}"
            self.notices = (Notice(code="watch_polling", path="", detail=detail),)
            self._polling = True
        self._changes = None
        return set()

    def _matters(self, _change: Change, path: str) -> bool:
        inner = path[len(self._root) + 1 :]
        *folders, name = inner.split("/")
        if is_passing(name) or not NEVER_ENTERED.isdisjoint((*folders, name)):
            return False
        return not f"{path}/".startswith(self._excluded)

    def _doc_id(self, path: str) -> str:
        return normalize("NFC", path[len(self._root) + 1 :])


def _identity(root: str) -> tuple[int, int] | None:
    """Which folder is at `root` now; another one there, or none, ends a watch."""
    try:
        found = Path(root).stat()
    except OSError:
        return None
    return (found.st_dev, found.st_ino)
