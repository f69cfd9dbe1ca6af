"""The audit as an operator reads it: verified, listed, exported."""

import json
from collections.abc import Callable, Iterator
from typing import Any

from upwell.audit import verify as verifying
from upwell.audit.chain import Verifier
from upwell.audit.expire import expire
from upwell.audit.read import AuditTables, Stored
from upwell.audit.verify import ChainReport
from upwell.clock import Clock, now_us, rfc3339
from upwell.errors import Misconfigured
from upwell.ports import Act, Signer
from upwell.records import Record


class AuditFilter(Record, frozen=True, kw_only=True):
    """Which records are meant: from `since` to before `before` (us), of one act, of one actor, of one tenant."""

    since: int = 0
    before: int | None = None
    act: Act | None = None
    actor: str | None = None
    tenant: str | None = None

    @property
    def narrows(self) -> bool:
        """True if it means acts, not all that stands in the chains."""
        return (self.act, self.actor, self.tenant) != (None, None, None)

    def takes(self, entry: dict[str, Any]) -> bool:
        wanted = {"act": self.act, "actor": self.actor, "tenant": self.tenant}
        return all(value is None or entry.get(name) == value for name, value in wanted.items())


class AuditLine(Record, frozen=True, kw_only=True):
    """A record as it is exported. `entry` is what the writer wrote: as canonical JSON (sorted, no blanks, ASCII) it is
    the body that `hash` is over. None if somebody has made it unreadable.
    """

    writer: str
    seq: int
    at: str
    hash: str
    entry: dict[str, Any] | None


class AuditRecords:
    """Over the tables of one audit. Raises Retryable while the database cannot be used."""

    def __init__(
        self,
        tables: AuditTables,
        *,
        verifier: Verifier | None = None,
        signer: Callable[[], Signer | None] = lambda: None,
        all_signed: bool = False,
    ) -> None:
        self._tables = tables
        self._verifier = verifier
        self._signer = signer
        self._all_signed = all_signed

    def verify(self) -> Iterator[ChainReport]:
        """Each chain's report. See `audit.verify`."""
        return verifying.verify(self._tables, self._verifier, all_signed=self._all_signed)

    def lines(self, which: AuditFilter) -> Iterator[AuditLine]:
        """Those records, by time; a page of them in memory at a time."""
        for stored in self._tables.by_time(which.since, which.before):
            line = _line(stored)
            if not which.narrows or (line.entry is not None and which.takes(line.entry)):
                yield line

    def last(self, most: int) -> list[AuditLine]:
        """The last acts, oldest first."""
        return [_line(stored) for stored in self._tables.last(most)]

    def expire(self, before: int, clock: Clock = now_us) -> int:
        """Let go of sealed records from before `before` (us); how many. See `audit.expire`.

        Raises Misconfigured, with nothing removed, for an audit that does not verify: what is wrong would go with it.
        """
        bad = next((report for report in self.verify() if report.bad is not None), None)
        if bad is not None:
            raise Misconfigured(f"chain {bad.writer} does not verify ({bad.bad}); nothing was removed")
        return expire(self._tables.engine, before, clock=clock, signer=self._signer)

    def close(self) -> None:
        self._tables.close()


def _line(stored: Stored) -> AuditLine:
    try:
        entry = json.loads(stored.body)
    except (ValueError, RecursionError):
        entry = None
    if not isinstance(entry, dict):
        entry = None
    return AuditLine(writer=stored.writer, seq=stored.seq, at=_time(stored.at), hash=stored.hash, entry=entry)


def _time(at: int) -> str:
    try:
        return rfc3339(at) or ""
    except (OverflowError, ValueError, OSError):
        return ""
