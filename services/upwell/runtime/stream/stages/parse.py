"""Parse: from a change to blocks."""

import hashlib
import time
from pathlib import Path

from upwell.errors import Reason, Rejected, Retryable
from upwell.lake import decide
from upwell.messages import Change, Message, Parsed
from upwell.metrics import Metrics
from upwell.parse.confined.source_file import read_file
from upwell.parse.failures import Unparsable
from upwell.parse.limits import DEFAULT_LIMITS, Limits
from upwell.ports import Fate, Fetcher, Parser, Registry
from upwell.records import ChangeEvent, Op, Outcome, ParsedDocument, ParseStatus, SourceRef
from upwell.runtime.stream import topics
from upwell.runtime.stream.contract import Outgoing
from upwell.runtime.stream.meter import StageMeter
from upwell.runtime.stream.stages.fates import READ, given_up, onwards, superseded
from upwell.runtime.stream.topics import Role


class ParseStage:
    """Fetches what an upsert refers to and parses it. What the registry has left behind already is not fetched."""

    def __init__(
        self,
        *,
        fetcher: Fetcher,
        parser: Parser,
        registry: Registry,
        limits: Limits = DEFAULT_LIMITS,
        metrics: Metrics | None = None,
    ) -> None:
        self._fetcher = fetcher
        self._parser = parser
        self._registry = registry
        self._limits = limits
        self._meter = StageMeter(metrics)

    def handle(self, message: Change) -> list[Outgoing]:
        """See `contract.Stage`. Rejected `invalid_event` for what is no upsert, and what fetcher and parser raise."""
        with self._meter.timed(Role.PARSE):
            return self._handle(message)

    def reject(self, message: Message, fate: Fate) -> list[Outgoing]:
        return given_up(message, fate)

    def close(self) -> None:
        self._parser.close()

    def _handle(self, message: Change) -> list[Outgoing]:
        event = message.event
        if event.op is not Op.UPSERT:
            raise Rejected(Reason.INVALID_EVENT, f"{event.op} is no change of content")
        row = self._registry.row(event.key)
        if row is not None and decide.overtaken(row, event):
            return superseded(message, Role.PARSE)
        if event.content is None:
            return _unread(message, ParseStatus.UNSUPPORTED, "an event without content")
        try:
            data = self._fetched(event)
        except Unparsable as e:
            return _unread(message, e.status, e.reason)
        if data is None:
            return superseded(message, Role.PARSE)
        started = time.perf_counter()
        parsed = self._parser.parse(data, event.doc_id, event.media_type)
        self._meter.parsed(parsed, time.perf_counter() - started)
        if parsed.status not in READ:
            return _unread(message, parsed.status, parsed.reason or "")
        return _parsed(message, parsed, data)

    def _fetched(self, event: ChangeEvent) -> bytes | None:
        """The content's bytes; None when they are no longer those that the source observed (a newer event follows)."""
        content = self._fetcher.fetch(event)
        data = self._read(content) if isinstance(content, Path) else content
        observed = event.content.sha256 if isinstance(event.content, SourceRef) else None
        if data is None or observed is None:
            return data
        return data if observed == hashlib.sha256(data).hexdigest() else None

    def _read(self, path: Path) -> bytes | None:
        try:
            return read_file(path, self._limits)
        except Retryable:
            if path.exists():
                raise
            return None


def _parsed(message: Change, parsed: ParsedDocument, data: bytes) -> list[Outgoing]:
    sha256 = hashlib.sha256(data).hexdigest()
    return onwards(
        topics.PARSED,
        Parsed(event=message.event, attempts=message.attempts, document=parsed, content_sha256=sha256),
    )


def _unread(message: Change, status: ParseStatus, reason: str) -> list[Outgoing]:
    fate = Fate(outcome=Outcome.DEAD, reason=status, detail=reason, stage=str(Role.PARSE))
    return given_up(message, fate, status)
