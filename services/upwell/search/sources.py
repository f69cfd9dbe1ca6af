"""Which sources hold something that an asker may see, and how fresh they are. Nothing is counted."""

from collections.abc import Callable, Collection, Sequence

from msgspec.structs import replace

from upwell.access import admits
from upwell.answers import SourceStatus
from upwell.clock import rfc3339
from upwell.ports import Embedder, Registry, Snapshot, Store
from upwell.ports.browsing import NO_PIPELINE
from upwell.reading import SourceFreshness, SourcesAnswer
from upwell.records import DocKey
from upwell.search.answer import check_names
from upwell.search.govern import Reading, governed_search
from upwell.search.locate import Located, is_visible, shown_in
from upwell.search.shown import Shown

MOST_PERMISSIONS = 32
"""So many different permissions of a source are looked at, before a search of it is less work."""


def visible_sources(
    freshness: Callable[[Collection[tuple[str, str]]], Sequence[SourceStatus]],
    *,
    reading: Reading,
    registry: Registry,
    store: Store,
    embedder: Embedder,
    pipeline: str,
) -> tuple[SourcesAnswer, Shown]:
    """The sources of the asker's tenant, by name, with a document in each that they may see."""
    asker = reading.asker
    check_names(asker.tenant, *asker.principals, *asker.claimed)
    moment = registry.snapshot(NO_PIPELINE, asker=asker)
    found: dict[str, DocKey] = {}
    for source in registry.browsing(asker.tenant).sources():
        key, sure = _by_permission(source, moment, reading, registry)
        if not sure:
            key = _by_search(source, reading, registry=registry, store=store, embedder=embedder, pipeline=pipeline)
        if key is not None:
            found[source] = key
    fresh = {one.source: one for one in freshness([(asker.tenant, source) for source in found])}
    last = registry.snapshot(NO_PIPELINE, asker=asker, documents=found.values())
    answer = SourcesAnswer(
        as_of=rfc3339(last.as_of) or "",
        sources=tuple(
            _freshness(source, fresh.get(source))
            for source, key in found.items()
            if shown_in(last, key, None, reading) is not None
        ),
    )
    return answer, Shown(standing=last.standing, hits=tuple(one.source for one in answer.sources))


def _by_permission(source: str, moment: Snapshot, reading: Reading, registry: Registry) -> tuple[DocKey | None, bool]:
    """A document of the source that may be seen, if one is found by its permissions, and whether that is sure. What is
    hidden by all of its permissions must not cost a search: the time would tell how many such sources there are."""
    browsing = registry.browsing(reading.asker.tenant)
    docs = browsing.permissions(source, MOST_PERMISSIONS)
    keys = browsing.keys(docs)
    sure = len(docs) < MOST_PERMISSIONS and len(keys) == len(docs)
    for key in keys.values():
        row = registry.row(key)
        if row is not None and is_visible(Located(row=row), reading, moment):
            return key, True
        sure = sure and row is not None and not admits(row.effective_acl, moment.standing.principals)
    return None, sure and browsing.permissions(source, MOST_PERMISSIONS) == docs


def _by_search(
    source: str, reading: Reading, *, registry: Registry, store: Store, embedder: Embedder, pipeline: str
) -> DocKey | None:
    """Any document of the source that a search finds: of more permissions than are looked at, or where a permission's
    first document is hidden for a reason of its own."""
    one = replace(reading, sources=frozenset({source}))
    found = governed_search(embedder.embed_query(source), one, 1, registry=registry, store=store, pipeline=pipeline)
    return found.admitted[0].chunk.row.key if found.admitted else None


def _freshness(source: str, status: SourceStatus | None) -> SourceFreshness:
    return SourceFreshness(
        source=source,
        watermark=None if status is None else status.watermark,
        staleness_s=None if status is None else status.staleness_s,
    )
