"""What a reader may ask of a lake, and the shapes of the answers: the same through the library, HTTP and MCP.

Whatever an answer shows was allowed to its asker at `as_of`. What an asker may not see and what does not exist are not
told apart, and nothing counts what is hidden.
"""

from typing import Protocol

from upwell.access import Asker
from upwell.answers import LakeApi, SearchAnswer
from upwell.records import Record


class Reader(Record, frozen=True, kw_only=True):
    """Somebody who asks, and by what way: for the permission check, and for the audit.

    `actor` is the subject (`user:ana`), `via` the way in (`http`, `mcp`, `cli`, `library`).
    """

    asker: Asker
    actor: str
    via: str = "library"


class Answer(Record, frozen=True, kw_only=True, omit_defaults=False):
    """Base: true at `as_of`, RFC 3339."""

    as_of: str


class Head(Record, frozen=True, kw_only=True, omit_defaults=False):
    """Which document, which version of it, and how fresh."""

    source: str
    doc_id: str
    version: int
    title: str | None
    url: str | None
    media_type: str | None
    modified_at: str | None
    searchable_at: str | None
    stale_since: str | None
    stale_reason: str | None


class Section(Record, frozen=True, kw_only=True, omit_defaults=False):
    """A part of a document's text: the chunks under one heading, joined. `ordinal` is its first chunk's."""

    ordinal: int
    heading_path: tuple[str, ...]
    page: int | None
    text: str
    tokens: int


class FetchAnswer(Answer, frozen=True, kw_only=True, omit_defaults=False):
    """A document's words in reading order, as far as the caps let them; `next` continues, null at the end."""

    document: Head
    sections: tuple[Section, ...]
    lineage: dict[str, str]
    next: str | None


class OutlineEntry(Record, frozen=True, kw_only=True, omit_defaults=False):
    """A heading of a document; `ordinal` is the first chunk under it (fetch continues there), `tokens` all below it."""

    ordinal: int
    level: int
    heading: str
    page: int | None
    tokens: int


class OutlineAnswer(Answer, frozen=True, kw_only=True, omit_defaults=False):
    """What a document is made of: headings, and the parts it carries (attachments: `doc_id` of each)."""

    document: Head
    entries: tuple[OutlineEntry, ...]
    children: tuple[Head, ...]
    tokens: int
    next: str | None


class Relation(Record, frozen=True, kw_only=True, omit_defaults=False):
    """A document that has to do with another: `links_to`, `linked_from`, `duplicate` (nearly the same words; `score` is
    the shared part, 0 to 1), `similar` (`score`: cosine)."""

    document: Head
    relation: str
    score: float | None


class RelatedAnswer(Answer, frozen=True, kw_only=True, omit_defaults=False):
    """What has to do with a document, each by its nearest relation."""

    document: Head
    related: tuple[Relation, ...]


class ChangedDocument(Record, frozen=True, kw_only=True, omit_defaults=False):
    """What became of a document: `changed` (new or edited), `deleted`, `moved` (`moved_to` says where, if that may be
    seen). `at` is when it took effect."""

    document: Head
    change: str
    at: str
    moved_to: str | None


class ChangesAnswer(Answer, frozen=True, kw_only=True, omit_defaults=False):
    """Oldest first; ask again with `next` as `since` for what came after these (it is never null)."""

    changes: tuple[ChangedDocument, ...]
    next: str
    complete: bool


class SourceFreshness(Record, frozen=True, kw_only=True, omit_defaults=False):
    """A source that holds something the asker may see: everything it changed up to `watermark` is searchable."""

    source: str
    watermark: str | None
    staleness_s: float | None


class SourcesAnswer(Answer, frozen=True, kw_only=True, omit_defaults=False):
    """The sources that hold something the asker may see, and how fresh they are."""

    sources: tuple[SourceFreshness, ...]


class Passage(Record, frozen=True, kw_only=True, omit_defaults=False):
    """A piece of an assembled context, with the hit that brought it. `id` is stable: equal passage, equal id."""

    id: str
    citation: str
    source: str
    doc_id: str
    version: int
    title: str | None
    url: str | None
    heading_path: tuple[str, ...]
    page: int | None
    text: str
    tokens: int
    score: float | None
    searchable_at: str | None
    stale_since: str | None


class ContextAnswer(Answer, frozen=True, kw_only=True, omit_defaults=False):
    """A context for a model: `text` is what to put into the prompt (passages with their ids), within `budget` tokens of
    `tokenizer`. `whole`: it is all that the asker may see. Equal passages give equal bytes."""

    query: str
    text: str
    passages: tuple[Passage, ...]
    tokens: int
    budget: int
    tokenizer: str
    whole: bool


NO_SOURCES: frozenset[str] = frozenset()


class ReadApi(Protocol):
    """Everything a reader may ask. Raises NotFound for a document that is not there or may not be seen, Misconfigured
    for an argument that cannot be (also when two sources have a document of that id and none is named), Retryable while
    a part is away or the audit cannot be written: then nothing is shown."""

    def search(
        self, query: str, *, reader: Reader, k: int = 5, sources: frozenset[str] = NO_SOURCES
    ) -> SearchAnswer: ...

    def context(
        self,
        query: str,
        *,
        reader: Reader,
        budget: int,
        tokenizer: str | None = None,
        sources: frozenset[str] = NO_SOURCES,
    ) -> ContextAnswer: ...

    def fetch(
        self,
        doc_id: str,
        *,
        reader: Reader,
        source: str | None = None,
        start: str | None = None,
        tokens: int = 4000,
    ) -> FetchAnswer: ...

    def outline(
        self, doc_id: str, *, reader: Reader, source: str | None = None, start: str | None = None
    ) -> OutlineAnswer: ...

    def related(self, doc_id: str, *, reader: Reader, source: str | None = None, k: int = 10) -> RelatedAnswer: ...

    def changes(
        self, since: str, *, reader: Reader, sources: frozenset[str] = NO_SOURCES, limit: int = 50
    ) -> ChangesAnswer: ...

    def sources(self, *, reader: Reader) -> SourcesAnswer: ...


class ReadableLake(LakeApi, Protocol):
    """A lake that answers readers, too."""

    def reading(self) -> ReadApi:
        """What answers them: any number of readers at a time."""
        ...
