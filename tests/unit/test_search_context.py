"""A context over a registry and a store: whole or the best of it, and nothing that its reader may not see."""

import msgspec
import numpy as np
import pytest

from lake_samples import ALL_MAY, DIM, key, point, query
from upwell.access import Asker, reader
from upwell.embed import tokenizer_of
from upwell.errors import Misconfigured, Retryable
from upwell.lake.registry import SqlRegistry
from upwell.lake.store.qdrant import QdrantStore
from upwell.ports import DocumentRow, Manifest, ManifestEntry
from upwell.records import Acl, Kind, Vectors
from upwell.search.context import TRIES, answer_context
from upwell.search.gather import MOST_ROWS
from upwell.search.govern import MOST_HITS, Reading

PIPELINE = "pipeline-1"
ANA_ONLY = Acl(levels=(frozenset({"user:ana"}),))
MINILM = tokenizer_of("minilm")
ASKED = query(seed=0).vectors
ALIKE = Vectors(
    dense=np.frombuffer(ASKED.dense, "<f4").astype("<f2").tobytes(),
    late=np.frombuffer(ASKED.late, "<f4").astype("<f2").tobytes(),
    late_count=ASKED.late_count,
    sparse_indices=(1,),
    sparse_values=(1.0,),
)
"""Every chunk matches: what may be seen decides, and the order of places."""


class Asked:
    """An embedder whose every query is the same, with a real tokenizer."""

    name = fingerprint = "asked"
    dim = DIM
    tokenizer = MINILM

    def embed_query(self, _text):
        return ASKED


class Shelf:
    """A small lake: documents of chunks, each with its words, in a registry and a store."""

    def __init__(self, folder):
        self.registry = SqlRegistry.at(folder / "registry.sqlite")
        self.store = QdrantStore(":memory:", collection="lake", dim=DIM)

    def put(self, name, *words, acl=ALL_MAY, stored=None, source="wiki", sections=None, born=1):
        points = [
            msgspec.structs.replace(
                point(name, n, acl=stored or acl, born=born, source=source, given=ALIKE),
                text=text,
            )
            for n, text in enumerate(words)
        ]
        if points:
            self.store.insert(points)
        entries = tuple(
            ManifestEntry(
                point_id=p.point_id,
                chunk_key=p.chunk_key,
                embed_key=p.embed_key,
                ordinal=n,
                born=born,
                tokens=len(MINILM.starts(p.text)),
                text_hash="",
                kind=Kind.PARAGRAPH,
                parent=0 if sections is None else sections[n],
            )
            for n, p in enumerate(points)
        )
        of = key(name, source=source)
        old = self.registry.row(of) or DocumentRow(key=of)
        row = msgspec.structs.replace(old, version=old.version + 1, acl=acl)
        manifest = Manifest(generation=born, entries=entries)
        assert self.registry.commit(row, expected_rev=old.rev, manifests={PIPELINE: manifest})

    def change(self, name, **changes):
        row = self.registry.row(key(name))
        assert self.registry.commit(msgspec.structs.replace(row, **changes), expected_rev=row.rev)

    def ask(self, *who, budget=4000, sources=frozenset(), registry=None, store=None, **how):
        return answer_context(
            "where is the kiln",
            budget=budget,
            tokenizer=how.pop("tokenizer", None),
            files=False,
            reading=Reading(asker=Asker(tenant="default", principals=reader(*who)), sources=sources),
            registry=registry or self.registry,
            store=store or self.store,
            embedder=Asked(),
            pipeline=PIPELINE,
            **how,
        )


@pytest.fixture
def shelf(tmp_path):
    made = Shelf(tmp_path)
    yield made
    made.store.close()
    made.registry.close()


class Meddling:
    """A registry under which something happens before a snapshot is taken: the n-th, counted from 1."""

    def __init__(self, registry, meddle, at):
        self._registry = registry
        self._meddle = meddle
        self._at = at
        self.snapshots = 0

    def __getattr__(self, name):
        return getattr(self._registry, name)

    def snapshot(self, *args, **kwargs):
        self.snapshots += 1
        if self._at(self.snapshots):
            self._meddle()
        return self._registry.snapshot(*args, **kwargs)


def documents(answer):
    return [(p.source, p.doc_id) for p in answer.passages]


def test_all_that_a_reader_may_see_is_given_whole_and_nothing_else(shelf):
    shelf.put("b.md", "bread", "butter")
    shelf.put("a.md", "apples", source="yard")
    shelf.put("secret.md", "salaries", acl=ANA_ONLY)
    answer, shown = shelf.ask("user:ben")
    assert answer.whole
    assert [p.text for p in answer.passages] == ["bread\n\nbutter", "apples"]
    assert documents(answer) == [("wiki", "b.md"), ("yard", "a.md")]
    assert "salaries" not in answer.text
    assert shown.hits == ("wiki/b.md#chunk-0", "wiki/b.md#chunk-1", "yard/a.md#chunk-0")
    assert documents(shelf.ask("user:ana")[0]) == [("wiki", "b.md"), ("wiki", "secret.md"), ("yard", "a.md")]


def test_sources_narrow_what_is_all(shelf):
    shelf.put("b.md", "bread")
    shelf.put("a.md", "apples", source="yard")
    answer, _ = shelf.ask(sources=frozenset({"yard"}))
    assert (answer.whole, documents(answer)) == (True, [("yard", "a.md")])


def test_a_reader_who_may_see_nothing_has_seen_it_all(shelf):
    shelf.put("secret.md", "salaries", acl=ANA_ONLY)
    answer, shown = shelf.ask("user:ben")
    assert (answer.whole, answer.text, answer.passages, answer.tokens, shown.hits) == (True, "", (), 0, ())


@pytest.mark.parametrize("tokenizer", [None, "minilm", "bytes"])
@pytest.mark.parametrize("budget", [1, 30, 60, 120, 400])
def test_what_does_not_fit_is_cut_to_the_budget(shelf, tokenizer, budget):
    for n in range(12):
        shelf.put(f"{n}.md", f"the kiln number {n} stands behind door {n} of the workshop " * 5)
    answer, _ = shelf.ask(budget=budget, tokenizer=tokenizer)
    assert not answer.whole
    count = len(answer.text.encode()) if tokenizer == "bytes" else len(MINILM.starts(answer.text))
    assert answer.tokens == count <= budget
    assert answer.tokenizer == (tokenizer or "asked")


def test_a_hit_brings_its_own_section_and_no_other(shelf):
    shelf.put("book.md", "one", "two", "three", "four", sections=(0, 1, 1, 2))
    for n in range(9):
        shelf.put(f"{n}.md", f"filler {n} " * 400)
    answer, _ = shelf.ask(budget=300)
    assert not answer.whole
    ours = [p.text for p in answer.passages if p.doc_id == "book.md"]
    assert set(ours) <= {"one", "two\n\nthree", "four"}
    assert ours


def test_more_chunks_than_a_search_brings_can_still_be_all(shelf):
    shelf.put("long.md", *(f"line {n}" for n in range(MOST_HITS + 20)))
    shelf.put("hidden.md", "salaries", acl=ANA_ONLY)
    answer, _ = shelf.ask("user:ben", budget=10_000)
    assert answer.whole
    assert answer.passages[0].text.endswith(f"line {MOST_HITS + 19}")


def test_a_large_registry_is_not_looked_through(shelf):
    shelf.put("long.md", *(f"line {n}" for n in range(MOST_HITS + 20)))
    rows = [DocumentRow(key=key(f"{n}.md"), acl=ANA_ONLY, version=1) for n in range(MOST_ROWS + 1)]

    class Endless:
        def __getattr__(self, name):
            return getattr(shelf.registry, name)

        def rows(self, _tenant, _source):
            yield from rows
            raise AssertionError("one row too many was read")

    answer, _ = shelf.ask("user:ben", budget=10_000, registry=Endless())
    assert not answer.whole
    assert documents(answer) == [("wiki", "long.md")]


@pytest.mark.parametrize("snapshot", range(1, 5))
@pytest.mark.parametrize("budget", [60, 4000])
def test_a_revocation_before_the_last_snapshot_hides(shelf, snapshot, budget):
    shelf.put("open.md", "the kiln is in the yard")
    for n in range(3):
        shelf.put(f"secret-{n}.md", "salaries of the kiln people " * 5)
    once = []

    def revoke():
        if not once:
            once.append(1)
            for n in range(3):
                shelf.change(f"secret-{n}.md", acl=ANA_ONLY)

    meddling = Meddling(shelf.registry, revoke, lambda n: n == snapshot)
    answer, shown = shelf.ask("user:ben", budget=budget, registry=meddling)
    if once:
        assert "salaries" not in answer.text
        assert not any("secret" in hit for hit in shown.hits)
    assert documents(answer) == [("wiki", "open.md")] or not once


def test_documents_that_never_rest_show_nothing(shelf):
    shelf.put("busy.md", "the kiln")
    number = [1]

    def publish():
        number[0] += 1
        shelf.put("busy.md", "the kiln", born=number[0])

    meddling = Meddling(shelf.registry, publish, lambda _n: True)
    with pytest.raises(Retryable):
        shelf.ask(registry=meddling)
    assert meddling.snapshots >= TRIES


def test_text_that_the_store_has_lost_is_not_made_up(shelf):
    shelf.put("a.md", "the kiln")

    class Forgetful:
        def __getattr__(self, name):
            return getattr(shelf.store, name)

        def texts(self, _points):
            return {}

    with pytest.raises(Retryable):
        shelf.ask(store=Forgetful())


def test_what_the_recheck_refused_is_counted_for_operators_alone(shelf):
    shelf.put("drifted.md", "salaries", acl=ANA_ONLY, stored=ALL_MAY)
    heard = {}
    answer, shown = shelf.ask("user:ben", refused=heard.__setitem__)
    assert answer.passages == ()
    assert (shown.refused, heard) == (1, {"acl": 1, "superseded": 0})


@pytest.mark.parametrize("budget", [0, -1, 1_000_001])
def test_a_budget_that_cannot_be_is_refused(shelf, budget):
    with pytest.raises(Misconfigured, match="budget"):
        shelf.ask(budget=budget)
