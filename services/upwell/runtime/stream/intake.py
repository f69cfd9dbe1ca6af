"""A folder's scan in a distributed lake: events go to the log, what the folder remembers stays on this machine."""

import fcntl
import os
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Protocol

import sqlalchemy as sa
from msgspec.structs import replace

from upwell.database import open_database, transaction
from upwell.errors import Misconfigured, Overloaded
from upwell.ports import Blobs, EventSink
from upwell.records import BlobRef, ChangeEvent, Inline
from upwell.runtime import looks
from upwell.runtime.intake import Burying, Refusals, write_refusals
from upwell.runtime.replaying import Transactions
from upwell.runtime.stream.waiting import Waiting
from upwell.sources.folder import state

CARRIED_BYTES = 64 * 1024
"""Content up to this size travels in the event; larger goes by the blob store."""
PATIENCE_S = 600.0
"""How long a log that is full is waited for."""


class Ledger(Transactions, Burying, Protocol):
    """The ledger, as far as a scan writes to it."""


class Memory:
    """What the folder sources of this machine remember, in one SQLite file. One process at a time."""

    def __init__(self, path: Path) -> None:
        self._engine = open_database(path)
        with self.transaction() as connection:
            for metadata in (state.METADATA, looks.METADATA):
                metadata.create_all(connection)

    @contextmanager
    def transaction(self, *, read_only: bool = False) -> Iterator[sa.Connection]:
        """One transaction over it."""
        with transaction(self._engine, "folders' memory", read_only=read_only) as connection:
            yield connection

    def close(self) -> None:
        self._engine.dispose()


class Scanned(Misconfigured):
    """Another process of this machine scans a folder of the lake just now."""


@contextmanager
def alone(folder: Path) -> Iterator[None]:
    """Two scans from one memory would number the same changes twice. Raises Scanned while another runs."""
    held = os.open(folder / "folders.lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        try:
            fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise Scanned(f"{folder}: another ingest runs here; wait for it, or name another --lake") from None
        yield
    finally:
        os.close(held)


class StreamIntake:
    """Implements `runtime.intake.Intake`. An event is in the log before the folder remembers it: what a crash leaves
    between the two is found again, and a repeated event changes nothing.
    """

    def __init__(self, memory: Memory, ledger: Ledger, sink: EventSink, blobs: Blobs, waiting: Waiting) -> None:
        self._memory = memory
        self._ledger = ledger
        self._sink = sink
        self._blobs = blobs
        self._waiting = waiting

    @contextmanager
    def transaction(self) -> Iterator[sa.Connection]:
        with self._memory.transaction() as connection:
            yield connection

    def take(self, events: Sequence[ChangeEvent], save: Callable[[sa.Connection], None], refusals: Refusals) -> None:
        light = tuple(self._lightened(events))
        if light:
            self._waiting.expect(light)
            self._accept(light)
        if refusals != Refusals():
            with self._ledger.transaction() as connection:
                write_refusals(self._ledger, connection, refusals)
        with self._memory.transaction() as connection:
            save(connection)

    def _lightened(self, events: Iterable[ChangeEvent]) -> Iterator[ChangeEvent]:
        for event in events:
            content: Inline | BlobRef
            match event.content:
                case Inline(data=data) if len(data) > CARRIED_BYTES:
                    content = self._blobs.put(event.key, data, event.version)
                    yield replace(event, content=content)
                case _:
                    yield event

    def _accept(self, events: Sequence[ChangeEvent]) -> None:
        deadline = time.monotonic() + PATIENCE_S
        while True:
            try:
                return self._sink.accept(events)
            except Overloaded as e:
                if time.monotonic() > deadline:
                    raise
                time.sleep(e.retry_after_s)
