"""Counting what a stage does, for Prometheus."""

import time
from collections.abc import Iterator
from contextlib import contextmanager

from upwell import metrics as m
from upwell.lake.publish import PublishResult
from upwell.records import ChangeEvent, Op, Outcome, ParsedDocument
from upwell.runtime.parse_meter import count_parse
from upwell.runtime.stream.topics import Role


class StageMeter:
    """Counts into `metrics`; without any, counts nothing."""

    def __init__(self, metrics: m.Metrics | None) -> None:
        self._metrics = metrics

    @contextmanager
    def timed(self, stage: Role) -> Iterator[None]:
        """Time one document in a stage that it goes through to the end."""
        started = time.perf_counter()
        yield
        if self._metrics is not None:
            self._metrics.observe(m.STAGE, time.perf_counter() - started, stage=str(stage))

    def parsed(self, document: ParsedDocument, seconds: float) -> None:
        """Count how a parse that took `seconds` ended."""
        if self._metrics is not None:
            count_parse(self._metrics, document, seconds)

    def embedded(self, tokens: int) -> None:
        """Count tokens that the model has read."""
        if self._metrics is not None:
            self._metrics.count(m.TOKENS_EMBEDDED, tokens)

    def ended(self, event: ChangeEvent, result: PublishResult, now: int) -> None:
        """Count what an event did to the lake, and how long it took if it was applied at `now` (us)."""
        if self._metrics is None:
            return
        for effect in ("kept", "reused", "embedded", "removed"):
            self._metrics.count(m.CHUNKS, getattr(result, effect), effect=effect)
        if result.outcome is Outcome.APPLIED:
            kind = m.EVENT_TO_SEARCHABLE if event.op is Op.UPSERT else m.REVOCATION
            waited_s = max(0.0, (now - event.received_at) / 1e6)
            self._metrics.observe(kind, waited_s, source=event.source, lane=str(event.lane))
