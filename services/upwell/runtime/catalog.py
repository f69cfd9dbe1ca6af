"""`show`: what both runtimes answer operators in the same way, from a registry and a store."""

from collections.abc import Callable

from upwell.answers import ShowAnswer
from upwell.ports import Registry, Store
from upwell.runtime import views
from upwell.runtime.finding import find_document


class Catalog:
    """Reads one lake. `pipeline` is asked at the start of each answer, and raises Misconfigured for a lake that holds
    nothing yet; the store is made when it is first needed.
    """

    def __init__(
        self,
        registry: Registry,
        store: Callable[[], Store],
        pipeline: Callable[[], str],
    ) -> None:
        self._registry = registry
        self._store = store
        self._pipeline = pipeline

    def show(self, doc: str, *, tenant: str, source: str | None) -> ShowAnswer:
        """See `answers.LakeApi.show`."""
        found = find_document(self._registry, doc, tenant, source)
        row = found.row
        manifest = self._registry.manifest(row.key, self._pipeline())
        points = [] if row.deleted else [e.point_id for e in manifest.entries if e.child == found.child]
        texts = self._store().texts(points) if points else {}
        return views.shown(row, manifest, texts, self._registry.history(row.key), found.child)
