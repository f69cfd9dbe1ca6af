"""What a search answers."""

from upwell.records import Record


class Hit(Record, frozen=True, kw_only=True, omit_defaults=False):
    """`text` is the source's own words. `citation` is `source/doc_id > heading > heading (p. N)`, for people.

    `score` is 0 to 1, and comparable within a lake: two thirds of it are how near the chunk comes to each token of the
    query (`why.maxsim`, the mean cosine of their best matches), a third is the query's very words in it, rare ones most
    (`why.bm25`, damped). `why.dense` and `why.sparse` are the ranks, from 1, in the branches that found it.
    """

    citation: str
    rank: int
    score: float
    tenant: str
    source: str
    doc_id: str
    version: int
    title: str | None
    url: str | None
    heading_path: tuple[str, ...]
    page: int | None
    bbox: tuple[float, float, float, float] | None
    text: str
    chunk_key: str
    modified_at: str | None
    searchable_at: str | None
    stale_since: str | None
    stale_reason: str | None
    lineage: dict[str, str]
    why: dict[str, float]


class SearchAnswer(Record, frozen=True, kw_only=True, omit_defaults=False):
    """The hits, best first; each was allowed to its reader at `as_of` (RFC 3339)."""

    query: str
    as_of: str
    hits: tuple[Hit, ...]
