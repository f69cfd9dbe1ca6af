"""What readers ask, answered over the real parts of either runtime: one law for all ways in.

Each answer was allowed by one last registry snapshot over everything it shows, and is in the audit before it leaves.
"""

from collections.abc import Callable, Collection, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import TypeVar

from upwell.access import Asker
from upwell.answers import SearchAnswer, SourceStatus
from upwell.clock import Clock
from upwell.config import login_name
from upwell.ports import Act, Audit, Embedder, Registry, Store
from upwell.reading import (
    NO_SOURCES,
    ChangesAnswer,
    ContextAnswer,
    FetchAnswer,
    OutlineAnswer,
    Reader,
    RelatedAnswer,
    SourcesAnswer,
)
from upwell.records import DocKey
from upwell.runtime.auditing import Auditing, Queries
from upwell.search.answer import answer_search
from upwell.search.changes import changes_since
from upwell.search.context import answer_context
from upwell.search.fetch import fetch_document
from upwell.search.govern import Reading
from upwell.search.outline import outline_document
from upwell.search.related import related_documents
from upwell.search.shown import Shown
from upwell.search.sources import visible_sources

T = TypeVar("T")
Place = tuple[str, str]
"""A source: its tenant, and its name there."""
Freshness = Callable[[Collection[Place]], Sequence[SourceStatus]]
Refused = Callable[[str, int], None]
WAYS_OF_THE_OPERATOR = frozenset({"cli", "library"})


def _nothing() -> None: ...


def _uncounted() -> AbstractContextManager[Refused]:
    return nullcontext(lambda _cause, _hits: None)


class GovernedReading:
    """`reading.ReadApi` over one lake. Thread-safe. Errors as `ReadApi` has them."""

    def __init__(
        self,
        *,
        registry: Registry,
        store: Callable[[], Store],
        embedder: Callable[[], Embedder],
        pipeline: Callable[[], str],
        freshness: Freshness,
        audit: Audit,
        clock: Clock,
        acl_max_age_us: int,
        queries: Queries = "hash",
        before_read: Callable[[], None] = _nothing,
        searching: Callable[[], AbstractContextManager[Refused]] = _uncounted,
    ) -> None:
        """`pipeline` raises Misconfigured for a lake that holds nothing yet. `freshness` is asked of some sources.
        `before_read` is called at the start of each answer; `searching` surrounds each search, and hears how many hits
        were refused, by cause. A permission that its source could not confirm for `acl_max_age_us` hides its document.
        `queries`: what the audit keeps of them.
        """
        self._registry = registry
        self._store = store
        self._embedder = embedder
        self._pipeline = pipeline
        self._freshness = freshness
        self._acl_max_age_us = acl_max_age_us
        self._before_read = before_read
        self._searching = searching
        self._auditing = Auditing(audit, registry, clock, queries)

    def search(self, query: str, *, reader: Reader, k: int = 5, sources: frozenset[str] = NO_SOURCES) -> SearchAnswer:
        """See `search.answer.answer_search`."""

        def answer(pipeline: str) -> tuple[SearchAnswer, Shown]:
            with self._searching() as refused:
                return answer_search(
                    query,
                    reading=self._reading(reader, sources),
                    k=k,
                    registry=self._registry,
                    store=self._store(),
                    embedder=self._embedder(),
                    pipeline=pipeline,
                    refused=refused,
                )

        return self._answered(Act.SEARCH, reader, answer, query=query)

    def context(
        self,
        query: str,
        *,
        reader: Reader,
        budget: int,
        tokenizer: str | None = None,
        sources: frozenset[str] = NO_SOURCES,
    ) -> ContextAnswer:
        """See `search.context.answer_context`. The path of a tokenizer is the operator's to give, not the network's."""

        def answer(pipeline: str) -> tuple[ContextAnswer, Shown]:
            with self._searching() as refused:
                return answer_context(
                    query,
                    budget=budget,
                    tokenizer=tokenizer,
                    files=reader.via in WAYS_OF_THE_OPERATOR,
                    reading=self._reading(reader, sources),
                    registry=self._registry,
                    store=self._store(),
                    embedder=self._embedder(),
                    pipeline=pipeline,
                    refused=refused,
                )

        return self._answered(Act.SEARCH, reader, answer, query=query)

    def fetch(
        self,
        doc_id: str,
        *,
        reader: Reader,
        source: str | None = None,
        start: str | None = None,
        tokens: int = 4000,
    ) -> FetchAnswer:
        """See `search.fetch.fetch_document`."""
        reading, registry = self._reading(reader), self._registry
        return self._answered(
            Act.READ,
            reader,
            lambda pipeline: fetch_document(
                doc_id,
                source=source,
                start=start,
                tokens=tokens,
                reading=reading,
                registry=registry,
                store=self._store(),
                pipeline=pipeline,
            ),
            document=_asked(reader, source, doc_id),
        )

    def outline(
        self, doc_id: str, *, reader: Reader, source: str | None = None, start: str | None = None
    ) -> OutlineAnswer:
        """See `search.outline.outline_document`."""
        reading, registry = self._reading(reader), self._registry
        return self._answered(
            Act.READ,
            reader,
            lambda pipeline: outline_document(
                doc_id, source=source, start=start, reading=reading, registry=registry, pipeline=pipeline
            ),
            document=_asked(reader, source, doc_id),
        )

    def related(self, doc_id: str, *, reader: Reader, source: str | None = None, k: int = 10) -> RelatedAnswer:
        """See `search.related.related_documents`."""
        reading, registry = self._reading(reader), self._registry
        return self._answered(
            Act.READ,
            reader,
            lambda pipeline: related_documents(
                doc_id,
                source=source,
                k=k,
                reading=reading,
                registry=registry,
                store=self._store(),
                pipeline=pipeline,
            ),
            document=_asked(reader, source, doc_id),
        )

    def changes(
        self, since: str, *, reader: Reader, sources: frozenset[str] = NO_SOURCES, limit: int = 50
    ) -> ChangesAnswer:
        """See `search.changes.changes_since`."""
        reading, registry = self._reading(reader, sources), self._registry
        return self._answered(
            Act.READ, reader, lambda _pipeline: changes_since(since, limit=limit, reading=reading, registry=registry)
        )

    def sources(self, *, reader: Reader) -> SourcesAnswer:
        """See `search.sources.visible_sources`."""
        return self._answered(
            Act.READ,
            reader,
            lambda pipeline: visible_sources(
                self._freshness,
                reading=self._reading(reader),
                registry=self._registry,
                store=self._store(),
                embedder=self._embedder(),
                pipeline=pipeline,
            ),
        )

    def _reading(self, reader: Reader, sources: frozenset[str] = NO_SOURCES) -> Reading:
        return Reading(asker=reader.asker, sources=sources, acl_max_age_us=self._acl_max_age_us)

    def _answered(
        self,
        act: Act,
        reader: Reader,
        answer: Callable[[str], tuple[T, Shown]],
        *,
        query: str | None = None,
        document: DocKey | None = None,
    ) -> T:
        """What `answer` makes of the pipeline that is active now, audited (see `Auditing.answered`)."""
        pipeline = self._pipeline()
        self._before_read()
        return self._auditing.answered(act, reader, lambda: answer(pipeline), query=query, document=document)


def _asked(reader: Reader, source: str | None, doc_id: str) -> DocKey:
    return DocKey(tenant=reader.asker.tenant, source=source or "", doc_id=doc_id)


def operator_as(principals: frozenset[str], tenant: str) -> Reader:
    """The operator of this lake, who asks as somebody: whoever can open it may."""
    asker = Asker(tenant=tenant, principals=principals)
    return Reader(asker=asker, actor=f"operator:{login_name()}", via="cli")
