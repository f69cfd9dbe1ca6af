"""What may be asked of `ReadApi`, as records: the same over HTTP, MCP and the lake's socket, each held to its limits.

Who asks is never in a question: a field that is not here is refused, `principals` and `tenant` as any other.
"""

import re
from typing import Annotated, Any, TypeVar

import msgspec
from msgspec import Meta

from upwell.answers import SearchAnswer
from upwell.errors import NotFound
from upwell.reading import (
    Answer,
    ChangesAnswer,
    ContextAnswer,
    FetchAnswer,
    OutlineAnswer,
    ReadApi,
    Reader,
    RelatedAnswer,
    SourcesAnswer,
)
from upwell.records import Record
from upwell.search.answer import LONGEST_QUERY

QUESTION_BYTES = 64 * 1024
MOST_TOKENS = 20_000
MOST_BUDGET = 100_000
MOST_SOURCES = 50

CONTROL = re.compile(r"[\x00-\x1f\x7f]")
BINARY = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")
_PLAIN = {"pattern": r"^[^\u0000-\u001f\u007f]*$"}
_PROSE = {"pattern": r"^[^\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f]*$"}
_WHOLE = {"pattern": r"^[^\u0000]*$"}

Words = Annotated[
    str,
    Meta(
        min_length=1,
        max_length=LONGEST_QUERY,
        description="What to look for, in plain words.",
        examples=["how long is parental leave"],
        extra_json_schema=_PROSE,
    ),
]
SourceName = Annotated[str, Meta(min_length=1, max_length=200, examples=["handbook"], extra_json_schema=_PLAIN)]
TokenizerName = Annotated[str, Meta(min_length=1, max_length=200, examples=["bytes"], extra_json_schema=_PLAIN)]
Sources = Annotated[
    tuple[SourceName, ...], Meta(max_length=MOST_SOURCES, description="Only these sources; none: all of them.")
]
DocId = Annotated[
    str,
    Meta(
        min_length=1,
        max_length=4096,
        description="The document's id, as a hit or a change names it.",
        examples=["people/leave.md"],
        extra_json_schema=_WHOLE,
    ),
]
WhichSource = Annotated[
    SourceName | None, Meta(description="Its source: needed where two sources have a document of that id.")
]
Cursor = Annotated[str, Meta(min_length=1, max_length=500, extra_json_schema=_PLAIN)]
Start = Annotated[Cursor | None, Meta(description="Where to go on: `next` of the answer before, or an ordinal.")]
Few = Annotated[int, Meta(ge=1, le=100, description="How many at most.")]


class Question(Record, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Base. `ask` puts it to a lake for a reader; it raises what `ReadApi` raises."""

    def ask(self, api: ReadApi, reader: Reader) -> Answer | SearchAnswer:
        """The answer, as far as this reader may see."""
        raise NotImplementedError

    def __post_init__(self) -> None:
        for name in self.__struct_fields__:
            value = getattr(self, name)
            for text in value if isinstance(value, tuple) else (value,):
                if isinstance(text, str):
                    _check(name, text)


Q = TypeVar("Q", bound=Question)


def _check(name: str, text: str) -> None:
    """A ValueError, which msgspec makes a ValidationError, for what no terminal, database or log should meet."""
    if name == "doc_id":  # files may be called anything else
        if "\0" in text:
            raise ValueError(f"`{name}` holds a NUL character")
    elif (BINARY if name == "query" else CONTROL).search(text):
        raise ValueError(f"`{name}` holds control characters")


class SearchQuestion(Question, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The best `k` chunks, raw."""

    query: Words
    k: Few = 5
    sources: Sources = ()

    def ask(self, api: ReadApi, reader: Reader) -> SearchAnswer:
        return api.search(self.query, reader=reader, k=self.k, sources=frozenset(self.sources))


class ContextQuestion(Question, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A context for a model, of `budget` tokens at most, counted by `tokenizer` (default: the lake's)."""

    query: Words
    budget: Annotated[int, Meta(ge=1, le=MOST_BUDGET, description="The most tokens.")] = 4000
    tokenizer: Annotated[TokenizerName | None, Meta(description="Whose tokens; left out: the embedder's.")] = None
    sources: Sources = ()

    def ask(self, api: ReadApi, reader: Reader) -> ContextAnswer:
        return api.context(
            self.query,
            reader=reader,
            budget=self.budget,
            tokenizer=self.tokenizer,
            sources=frozenset(self.sources),
        )


class FetchQuestion(Question, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A document's words."""

    doc_id: DocId
    source: WhichSource = None
    start: Start = None
    tokens: Annotated[int, Meta(ge=1, le=MOST_TOKENS, description="About how many tokens at most.")] = 4000

    def ask(self, api: ReadApi, reader: Reader) -> FetchAnswer:
        return api.fetch(self.doc_id, reader=reader, source=self.source, start=self.start, tokens=self.tokens)


class OutlineQuestion(Question, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What a document is made of."""

    doc_id: DocId
    source: WhichSource = None
    start: Start = None

    def ask(self, api: ReadApi, reader: Reader) -> OutlineAnswer:
        return api.outline(self.doc_id, reader=reader, source=self.source, start=self.start)


class RelatedQuestion(Question, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What has to do with a document."""

    doc_id: DocId
    source: WhichSource = None
    k: Few = 10

    def ask(self, api: ReadApi, reader: Reader) -> RelatedAnswer:
        return api.related(self.doc_id, reader=reader, source=self.source, k=self.k)


class ChangesQuestion(Question, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What changed."""

    since: Annotated[
        Cursor,
        Meta(description="A time (RFC 3339), or `next` of the answer before.", examples=["2026-01-01T00:00:00Z"]),
    ]
    sources: Sources = ()
    limit: Few = 50

    def ask(self, api: ReadApi, reader: Reader) -> ChangesAnswer:
        return api.changes(self.since, reader=reader, sources=frozenset(self.sources), limit=self.limit)


class SourcesQuestion(Question, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Which sources hold something."""

    def ask(self, api: ReadApi, reader: Reader) -> SourcesAnswer:
        return api.sources(reader=reader)


class FreshnessQuestion(Question, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How fresh a source is, or all of them."""

    source: Annotated[SourceName | None, Meta(description="This one alone.")] = None

    def ask(self, api: ReadApi, reader: Reader) -> SourcesAnswer:
        """Raises NotFound for a source that holds nothing this reader may see."""
        answer = api.sources(reader=reader)
        if self.source is None:
            return answer
        found = tuple(known for known in answer.sources if known.source == self.source)
        if not found:
            raise NotFound("no such source, or nothing in it that you may see")
        return msgspec.structs.replace(answer, sources=found)


def asked(kind: type[Q], fields: Any) -> Q:
    """The question of these fields, as JSON has them: it knows one kind of numbers, so 5.0 is 5 (and models write it).

    Raises msgspec.ValidationError, saying where.
    """
    if isinstance(fields, dict):
        fields = {name: int(v) if isinstance(v, float) and v.is_integer() else v for name, v in fields.items()}
    return msgspec.convert(fields, kind)


QUESTIONS: dict[str, type[Question]] = {
    "search": SearchQuestion,
    "context": ContextQuestion,
    "fetch": FetchQuestion,
    "outline": OutlineQuestion,
    "related": RelatedQuestion,
    "changes": ChangesQuestion,
    "list_sources": SourcesQuestion,
    "freshness": FreshnessQuestion,
}
ANSWERS: dict[str, type[Any]] = {
    "search": SearchAnswer,
    "context": ContextAnswer,
    "fetch": FetchAnswer,
    "outline": OutlineAnswer,
    "related": RelatedAnswer,
    "changes": ChangesAnswer,
    "list_sources": SourcesAnswer,
    "freshness": SourcesAnswer,
}
