"""`reading.ReadApi` over something that takes questions as records: a lake in another process, or in several hands."""

from collections.abc import Callable
from typing import Any

from upwell.answers import SearchAnswer
from upwell.errors import Misconfigured
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
from upwell.search.questions import QUESTIONS

Ask = Callable[[str, dict[str, Any], Reader], Any]
"""Puts the question of that name (see QUESTIONS), given by its fields, for a reader; its answer."""


class AskedReading:
    """Raises what `ask` raises, and Misconfigured for a question that cannot be."""

    def __init__(self, ask: Ask) -> None:
        self._ask = ask

    def search(self, query: str, *, reader: Reader, k: int = 5, sources: frozenset[str] = NO_SOURCES) -> SearchAnswer:
        answer: SearchAnswer = self._put("search", reader, query=query, k=k, sources=tuple(sorted(sources)))
        return answer

    def context(
        self,
        query: str,
        *,
        reader: Reader,
        budget: int,
        tokenizer: str | None = None,
        sources: frozenset[str] = NO_SOURCES,
    ) -> ContextAnswer:
        named = tuple(sorted(sources))
        answer: ContextAnswer = self._put(
            "context", reader, query=query, budget=budget, tokenizer=tokenizer, sources=named
        )
        return answer

    def fetch(
        self,
        doc_id: str,
        *,
        reader: Reader,
        source: str | None = None,
        start: str | None = None,
        tokens: int = 4000,
    ) -> FetchAnswer:
        answer: FetchAnswer = self._put("fetch", reader, doc_id=doc_id, source=source, start=start, tokens=tokens)
        return answer

    def outline(
        self, doc_id: str, *, reader: Reader, source: str | None = None, start: str | None = None
    ) -> OutlineAnswer:
        answer: OutlineAnswer = self._put("outline", reader, doc_id=doc_id, source=source, start=start)
        return answer

    def related(self, doc_id: str, *, reader: Reader, source: str | None = None, k: int = 10) -> RelatedAnswer:
        answer: RelatedAnswer = self._put("related", reader, doc_id=doc_id, source=source, k=k)
        return answer

    def changes(
        self, since: str, *, reader: Reader, sources: frozenset[str] = NO_SOURCES, limit: int = 50
    ) -> ChangesAnswer:
        answer: ChangesAnswer = self._put("changes", reader, since=since, sources=tuple(sorted(sources)), limit=limit)
        return answer

    def sources(self, *, reader: Reader) -> SourcesAnswer:
        answer: SourcesAnswer = self._put("list_sources", reader)
        return answer

    def _put(self, name: str, reader: Reader, **fields: Any) -> Any:
        try:
            QUESTIONS[name](**fields)
        except ValueError as e:
            raise Misconfigured(str(e)) from e
        return self._ask(name, fields, reader)
