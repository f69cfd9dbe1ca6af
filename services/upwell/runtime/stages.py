"""The stages as the embedded runtime composes them: fetch, prepare in the sandbox, publish; and control.

The same functions serve both lanes. What a stage raises is the engine's business; what a document is worth is decided
here: a document that will not parse ends as a dead letter and keeps its last good version.
"""

from collections.abc import Callable
from pathlib import Path

import msgspec

from upwell import metrics as m
from upwell.clock import Clock
from upwell.errors import Misconfigured, Reason, Retryable
from upwell.lake.family import family_faults
from upwell.lake.publish import Publisher, PublishResult
from upwell.ports import Fate, Preparer, Registry
from upwell.records import ChangeEvent, Inline, Op, Outcome, ParseStatus, PreparedDocument, SourceRef
from upwell.runtime.engine import Work
from upwell.runtime.lazy import Lazy

GOOD = {ParseStatus.OK, ParseStatus.EMPTY}


class EmbeddedStages:
    """`engine.Stages` over a publisher and a sandbox. `again` is told of a document whose file has moved on."""

    def __init__(
        self,
        *,
        registry: Registry,
        publisher: Lazy[Publisher],
        preparer: Lazy[Preparer],
        metrics: Callable[[], m.Metrics],
        clock: Clock,
        again: Callable[[ChangeEvent], None],
    ) -> None:
        self._registry = registry
        self._publisher = publisher
        self._preparer = preparer
        self._metrics = metrics
        self._clock = clock
        self._again = again

    def warm(self) -> None:
        self._preparer.warm()
        self._publisher.warm()

    def control(self, event: ChangeEvent) -> Work | None:
        """A new document has nothing that could be seen before its content: its permission comes with that."""
        if event.op is Op.UPSERT and event.previous_doc_id is None and self._registry.row(event.key) is None:
            return None
        result = self._publisher().control(event)
        return None if result is None else self._done(event, result)

    def process(self, event: ChangeEvent) -> Work:
        if event.content is None:
            return self._failed(
                event, PreparedDocument(status=ParseStatus.UNSUPPORTED, reason="an event without content")
            )
        prepared = self._prepared(event)
        if prepared is None:
            self._again(event)
            return self._done(event, self._publisher().supersede(event))
        if prepared.status not in GOOD:
            return self._failed(event, prepared)
        return self._with_faults(event, prepared, self._done(event, self._publisher().publish(event, prepared)))

    def _with_faults(self, event: ChangeEvent, prepared: PreparedDocument, work: Work) -> Work:
        """Say which parts of a published document will not parse; they stop neither it nor one another."""
        if work.fate.outcome is not Outcome.APPLIED:
            return work
        faults = family_faults(event.key, prepared)
        for fault in faults:
            self._metrics().count(m.DEAD_LETTERS, stage=fault.fate.stage, reason=str(fault.fate.reason))
        return msgspec.structs.replace(work, faults=faults)

    def _prepared(self, event: ChangeEvent) -> PreparedDocument | None:
        """None when the file is no longer the one that the source observed."""
        content = _content(event)
        try:
            prepared = self._preparer().prepare(content, event.doc_id, event.media_type)
        except Retryable:
            if isinstance(content, Path) and not content.exists():
                return None
            raise
        return None if _moved_on(event, prepared) else prepared

    def reject(self, event: ChangeEvent, fate: Fate) -> None:
        self._publisher().fail(event, None, fate.reason or Reason.ATTEMPTS_EXHAUSTED)
        self._metrics().count(m.DEAD_LETTERS, stage=fate.stage, reason=str(fate.reason))

    def _failed(self, event: ChangeEvent, prepared: PreparedDocument) -> Work:
        result = self._publisher().fail(event, prepared.status, prepared.status)
        if result.outcome is Outcome.SUPERSEDED:
            return self._done(event, result)
        self._metrics().count(m.DEAD_LETTERS, stage="parse", reason=prepared.status)
        fate = Fate(outcome=Outcome.DEAD, reason=prepared.status, detail=prepared.reason or "", stage="parse")
        return _work(fate, result)

    def _done(self, event: ChangeEvent, result: PublishResult) -> Work:
        seconds = max(0.0, (self._clock() - event.received_at) / 1e6)
        source, lane = event.source, str(event.lane)
        self._metrics().count(m.EVENTS_ENDED, source=source, lane=lane, outcome=str(result.outcome))
        if result.outcome is Outcome.APPLIED:
            kind = m.EVENT_TO_SEARCHABLE if event.op is Op.UPSERT else m.REVOCATION
            self._metrics().observe(kind, seconds, source=source, lane=lane)
        for effect in ("kept", "reused", "embedded", "removed"):
            self._metrics().count(m.CHUNKS, getattr(result, effect), effect=effect)
        self._metrics().count(m.TOKENS_EMBEDDED, result.tokens_embedded)
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


def _content(event: ChangeEvent) -> bytes | Path:
    match event.content:
        case Inline(data=data):
            return data
        case SourceRef(connector="folder", uri=uri):
            return Path(uri)
        case _:
            raise Misconfigured(f"no connector brings the content of {event.source!r}")


def _moved_on(event: ChangeEvent, prepared: PreparedDocument) -> bool:
    """The file that was fetched is not the one that the source observed."""
    wanted = event.content.sha256 if isinstance(event.content, SourceRef) else None
    return bool(wanted and prepared.content_sha256 and prepared.content_sha256 != wanted)
