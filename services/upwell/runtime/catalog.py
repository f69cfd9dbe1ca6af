"""Search and show: what both runtimes answer in the same way, from a registry, a store and an embedder."""

from collections.abc import Callable

from upwell.access import Asker
from upwell.answers import SearchAnswer, ShowAnswer
from upwell.ports import Embedder, Registry, Store
from upwell.runtime import views
from upwell.runtime.finding import find_document
from upwell.search.answer import answer_search


class Catalog:
    """Reads one lake. `pipeline` is asked at the start of each answer, and raises Misconfigured for a lake that holds
    nothing yet; store and embedder are made when they are first needed.
    """

    def __init__(
        self,
        registry: Registry,
        store: Callable[[], Store],
        embedder: Callable[[], Embedder],
        pipeline: Callable[[], str],
    ) -> None:
        self._registry = registry
        self._store = store
        self._embedder = embedder
        self._pipeline = pipeline

    def search(
        self,
        query: str,
        *,
        asker: Asker,
        k: int,
        sources: frozenset[str],
        refused: Callable[[str, int], None] = lambda _cause, _hits: None,
    ) -> SearchAnswer:
        """See `search.answer.answer_search`."""
        pipeline = self._pipeline()
        return answer_search(
            query,
            asker=asker,
            k=k,
            sources=sources,
            registry=self._registry,
            store=self._store(),
            embedder=self._embedder(),
            pipeline=pipeline,
            refused=refused,
        )

    def show(self, doc: str, *, tenant: str, source: str | None) -> ShowAnswer:
        """See `answers.LakeApi.show`."""
        found = find_document(self._registry, doc, tenant, source)
        row = found.row
        manifest = self._registry.manifest(row.key, self._pipeline())
        points = [] if row.deleted else [e.point_id for e in manifest.entries if e.child == found.child]
        texts = self._store().texts(points) if points else {}
        return views.shown(row, manifest, texts, self._registry.history(row.key), found.child)
