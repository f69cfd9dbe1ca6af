"""The stages as the embedded runtime composes them: fetch, prepare in the sandbox, publish; and control.

The same functions serve both lanes. What a stage raises is the engine's business; what a document is worth is decided
here: a document that will not parse ends as a dead letter and keeps its last good version.
"""

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import msgspec

from upwell import metrics as m
from upwell.errors import Reason, Rejected, Retryable
from upwell.lake import decide
from upwell.lake.family import family_faults
from upwell.lake.publish import Publisher, PublishResult
from upwell.ports import Fate, Fetcher, Preparer, Registry
from upwell.records import ChangeEvent, DocKey, Lane, Op, Outcome, ParseStatus, PreparedDocument, SourceRef
from upwell.runtime.engine import Work
from upwell.runtime.lazy import Lazy
from upwell.runtime.parse_meter import count_parse

ERASED = decide.RANKS[Op.ERASE]
GOOD = {ParseStatus.OK, ParseStatus.EMPTY}


class EmbeddedStages:
    """`engine.Stages` over a publisher and a sandbox.

    `again` is told of a document whose file has moved on, `forget` of one whose earlier events are to leave the log.
    """

    def __init__(
        self,
        *,
        registry: Registry,
        publisher: Lazy[Publisher],
        fetcher: Fetcher,
        preparer: Lazy[Preparer],
        metrics: Callable[[], m.Metrics],
        again: Callable[[ChangeEvent], None],
        forget: Callable[[DocKey], object],
    ) -> None:
        self._registry = registry
        self._publisher = publisher
        self._fetcher = fetcher
        self._preparer = preparer
        self._metrics = metrics
        self._again = again
        self._forget = forget

    def warm(self) -> None:
        self._preparer.warm()
        self._publisher.warm()

    def bind(self, events: Sequence[ChangeEvent]) -> Sequence[bool]:
        return self._publisher().bind_all(events)

    def control(self, event: ChangeEvent, *, bound: bool = False) -> Work | None:
        """Of an unseen document too: its first content may be on its way with a wider permission."""
        result = self._publisher().control(event, bound=bound)
        if event.op is Op.ERASE and event.lane is Lane.LIVE:  # one of many is forgotten by whoever sends them all
            row = self._registry.row(event.key)
            if row is not None and row.rank == ERASED:
                self._forget(event.key)
        return None if result is None else self._done(result)

    def process(self, event: ChangeEvent) -> Work:
        if event.content is None:
            return self._failed(
                event, PreparedDocument(status=ParseStatus.UNSUPPORTED, reason="an event without content")
            )
        try:
            prepared = self._prepared(event)
        except Rejected:  # an object put and deleted again cannot be fetched, and nobody misses it
            row = self._registry.row(event.key)
            if row is None or not decide.overtaken(row, event):
                raise
            return self._done(self._publisher().supersede(event))
        if prepared is None:
            self._again(event)
            return self._done(self._publisher().supersede(event))
        if prepared.status not in GOOD:
            return self._failed(event, prepared)
        with self._timed("publish"):
            result = self._publisher().publish(event, prepared)
        return self._with_faults(event, prepared, self._done(result))

    def _with_faults(self, event: ChangeEvent, prepared: PreparedDocument, work: Work) -> Work:
        """Say which parts of a published document will not parse; they stop neither it nor one another."""
        if work.fate.outcome is not Outcome.APPLIED:
            return work
        faults = family_faults(event.key, prepared)
        return msgspec.structs.replace(work, faults=faults)

    def _prepared(self, event: ChangeEvent) -> PreparedDocument | None:
        """None when the file is no longer the one that the source observed."""
        content = self._fetcher.fetch(event)
        try:
            with self._timed("prepare"):
                started = time.perf_counter()
                prepared = self._preparer().prepare(content, event.doc_id, event.media_type)
                count_parse(self._metrics(), prepared, time.perf_counter() - started)
        except Retryable:
            if isinstance(content, Path) and not content.exists():
                return None
            raise
        return None if _moved_on(event, prepared) else prepared

    def reject(self, event: ChangeEvent, fate: Fate) -> None:
        self._publisher().fail(event, None, fate.reason or Reason.ATTEMPTS_EXHAUSTED)

    def _failed(self, event: ChangeEvent, prepared: PreparedDocument) -> Work:
        result = self._publisher().fail(event, prepared.status, prepared.status)
        if result.outcome is Outcome.SUPERSEDED:
            return self._done(result)
        fate = Fate(outcome=Outcome.DEAD, reason=prepared.status, detail=prepared.reason or "", stage="parse")
        return _work(fate, result)

    @contextmanager
    def _timed(self, stage: str) -> Iterator[None]:
        started = time.perf_counter()
        yield
        self._metrics().observe(m.STAGE, time.perf_counter() - started, stage=stage)

    def _done(self, result: PublishResult) -> Work:
        return _work(Fate(outcome=result.outcome, detail=result.detail), result)


def _work(fate: Fate, result: PublishResult) -> Work:
    return Work(
        fate=fate,
        kept=result.kept,
        reused=result.reused,
        embedded=result.embedded,
        removed=result.removed,
        tokens_embedded=result.tokens_embedded,
    )


def _moved_on(event: ChangeEvent, prepared: PreparedDocument) -> bool:
    """The file that was fetched is not the one that the source observed."""
    wanted = event.content.sha256 if isinstance(event.content, SourceRef) else None
    return bool(wanted and prepared.content_sha256 and prepared.content_sha256 != wanted)
