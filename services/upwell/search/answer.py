"""From a question in words to the answer that commands print: limits, embedding, the governed search, citations."""

import re
from collections.abc import Callable

from upwell.answers import Hit, SearchAnswer
from upwell.clock import rfc3339
from upwell.errors import Misconfigured
from upwell.lake.family import seen_as
from upwell.lake.store.fusion import LEXICAL_WEIGHT
from upwell.ports import Embedder, LiveChunk, Registry, Store
from upwell.search.govern import Admitted, Reading, governed_search
from upwell.search.shown import Shown, hit_name

LONGEST_QUERY = 10_000
CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f]+")


def answer_search(
    query: str,
    *,
    reading: Reading,
    k: int,
    registry: Registry,
    store: Store,
    embedder: Embedder,
    pipeline: str,
    refused: Callable[[str, int], None] = lambda _cause, _hits: None,
) -> tuple[SearchAnswer, Shown]:
    """The best `k` chunks (1 to 100) for the query that the reader may see, with citations, and what the audit keeps.

    `refused` hears how many hits the re-check refused, by cause (`acl`, `superseded`): for operators alone.
    Raises Misconfigured for a query that is empty or over 10,000 characters, for a k out of range, and for names that
    are no text; otherwise what the embedder, the store and the registry raise.
    """
    asker = reading.asker
    check_names(*asker.principals, *asker.claimed, *reading.sources, asker.tenant)
    words = query_words(query)
    governed = governed_search(
        embedder.embed_query(words), reading, k, registry=registry, store=store, pipeline=pipeline
    )
    refused("acl", governed.refused_acl)
    refused("superseded", governed.refused_superseded)
    hits = tuple(_hit(rank, admitted) for rank, admitted in enumerate(governed.admitted, start=1))
    shown = Shown(
        standing=governed.standing,
        hits=tuple(hit_name(admitted.chunk) for admitted in governed.admitted),
        refused=governed.refused_acl + governed.refused_superseded,
    )
    return SearchAnswer(query=printable(query), as_of=rfc3339(governed.as_of) or "", hits=hits), shown


def citation(chunk: LiveChunk) -> str:
    """`source/doc_id > heading > heading (p. N)`, on one line: what a person needs to find the place."""
    key = seen_as(chunk.row, chunk.entry.child).key
    where = [f"{key.source}/{key.doc_id}", *chunk.entry.heading_path]
    page = "" if chunk.entry.page is None else f" (p. {chunk.entry.page})"
    return " > ".join(" ".join(CONTROL.sub(" ", part).split()) for part in where) + page


def shown_score(score: float) -> float:
    """A store's score (a mean cosine, and what the words add at most) on the scale of answers, 0 to 1."""
    return min(1.0, max(0.0, score / (1.0 + LEXICAL_WEIGHT)))


def _hit(rank: int, admitted: Admitted) -> Hit:
    entry = admitted.chunk.entry
    row = seen_as(admitted.chunk.row, entry.child)
    return Hit(
        citation=citation(admitted.chunk),
        rank=rank,
        score=shown_score(admitted.hit.score),
        tenant=row.key.tenant,
        source=row.key.source,
        doc_id=row.key.doc_id,
        version=row.version,
        title=row.title,
        url=row.url,
        heading_path=entry.heading_path,
        page=entry.page,
        bbox=entry.bbox,
        text=admitted.hit.text,
        chunk_key=entry.chunk_key,
        modified_at=rfc3339(row.modified_at),
        searchable_at=rfc3339(row.searchable_at),
        stale_since=rfc3339(row.stale_since),
        stale_reason=row.stale_reason,
        lineage=row.lineage,
        why=admitted.hit.why,
    )


def query_words(query: str) -> str:
    """What is embedded of a query. Raises Misconfigured for one that is empty or too long."""
    if len(query) > LONGEST_QUERY:
        raise Misconfigured(f"the query has {len(query):,} characters: ask with {LONGEST_QUERY:,} at most")
    words = CONTROL.sub(" ", printable(query)).strip()
    if not words:
        raise Misconfigured("the query is empty: say what to look for")
    return words


def printable(query: str) -> str:
    """Without lone surrogates (bytes of a command line that are no text), which no encoder takes."""
    return query.encode("utf-8", "replace").decode()


def check_names(*names: str) -> None:
    """Raises Misconfigured for a principal, source, document or tenant that is no text."""
    for name in names:
        if printable(name) != name:
            raise Misconfigured("a principal, source, document or tenant is not valid text")
