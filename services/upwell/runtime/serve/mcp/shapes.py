"""What tools answer: ids, citations and short excerpts, for a model to decide what it reads in full."""

from collections.abc import Callable
from typing import Any

import msgspec

from upwell.answers import Hit, SearchAnswer
from upwell.reading import Answer, ContextAnswer, SourcesAnswer
from upwell.records import Record

EXCERPT = 300


class Found(Record, frozen=True, kw_only=True, omit_defaults=False):
    """A passage that fits. `excerpt` is the beginning of its words, at most 300 characters, quoted from the document;
    `cut`: there is more of it (fetch). `stale_since`: a newer version could not be read since then."""

    rank: int
    score: float
    citation: str
    source: str
    doc_id: str
    version: int
    title: str | None
    url: str | None
    excerpt: str
    cut: bool
    searchable_at: str | None
    stale_since: str | None


class FoundAnswer(Answer, frozen=True, kw_only=True, omit_defaults=False):
    """The passages that fit best, best first; none: there is nothing that this reader may see."""

    hits: tuple[Found, ...]


class Cited(Record, frozen=True, kw_only=True, omit_defaults=False):
    """Where a passage of a context is from; `id` marks it in the text."""

    id: str
    citation: str
    source: str
    doc_id: str
    version: int
    url: str | None
    searchable_at: str | None
    stale_since: str | None


class AssembledAnswer(Answer, frozen=True, kw_only=True, omit_defaults=False):
    """A context within a budget: `text` quotes documents and marks each passage by its id. `whole`: it is all that this
    reader may see."""

    text: str
    passages: tuple[Cited, ...]
    tokens: int
    budget: int
    tokenizer: str
    whole: bool


class SourceNames(Answer, frozen=True, kw_only=True, omit_defaults=False):
    """The sources that hold something this reader may see."""

    sources: tuple[str, ...]


def found(answer: SearchAnswer) -> FoundAnswer:
    """The hits, each with the beginning of its words."""
    return FoundAnswer(as_of=answer.as_of, hits=tuple(_found(hit) for hit in answer.hits))


def assembled(answer: ContextAnswer) -> AssembledAnswer:
    """The context; of its passages, whose words it holds, only where they are from."""
    return msgspec.convert(answer, AssembledAnswer, from_attributes=True)


def source_names(answer: SourcesAnswer) -> SourceNames:
    """The sources without how fresh they are, sorted."""
    return SourceNames(as_of=answer.as_of, sources=tuple(sorted(known.source for known in answer.sources)))


def _found(hit: Hit) -> Found:
    return Found(
        rank=hit.rank,
        score=hit.score,
        citation=hit.citation,
        source=hit.source,
        doc_id=hit.doc_id,
        version=hit.version,
        title=hit.title,
        url=hit.url,
        excerpt=hit.text[:EXCERPT],
        cut=len(hit.text) > EXCERPT,
        searchable_at=hit.searchable_at,
        stale_since=hit.stale_since,
    )


Shape = Callable[[Any], Any]
"""How the lake's answer becomes a tool's."""


def as_it_is(answer: Any) -> Any:
    """For a tool that answers what the lake does."""
    return answer
