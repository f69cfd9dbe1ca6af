"""Which sources hold something that an asker may see, and how fresh they are. Nothing is counted."""

from collections.abc import Sequence

from upwell.answers import SourceStatus
from upwell.clock import rfc3339
from upwell.ports import Embedder, Registry, Store
from upwell.reading import SourceFreshness, SourcesAnswer
from upwell.search.answer import check_names
from upwell.search.govern import Reading, governed_search
from upwell.search.shown import Shown, hit_name


def visible_sources(
    statuses: Sequence[SourceStatus],
    *,
    reading: Reading,
    registry: Registry,
    store: Store,
    embedder: Embedder,
    pipeline: str,
) -> tuple[SourcesAnswer, Shown]:
    """The sources of the asker's tenant, by name, that a search could find something in."""
    asker = reading.asker
    check_names(asker.tenant, *asker.principals, *asker.claimed)
    found = {}
    for status in statuses:
        if status.tenant == asker.tenant:
            one = Reading(asker=asker, sources=frozenset({status.source}))
            vectors = embedder.embed_query(status.source)
            governed = governed_search(vectors, one, 1, registry=registry, store=store, pipeline=pipeline)
            found.update({hit.hit.point_id: (status, hit.chunk) for hit in governed.admitted})
    moment = registry.snapshot(pipeline, found, asker=asker)
    still = {p: one for p, one in found.items() if p in moment.live and reading.allows(moment.live[p].row, moment)}
    answer = SourcesAnswer(
        as_of=rfc3339(moment.as_of) or "",
        sources=tuple(
            SourceFreshness(source=status.source, watermark=status.watermark, staleness_s=status.staleness_s)
            for status, _ in sorted(still.values(), key=lambda one: one[0].source)
        ),
    )
    return answer, Shown(standing=moment.standing, hits=tuple(hit_name(chunk) for _, chunk in still.values()))
