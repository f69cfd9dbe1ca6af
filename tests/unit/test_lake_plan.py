"""The difference between a document's chunks and its manifest, and where the vectors of what is new come from."""

import msgspec
import pytest

from lake_samples import point_id as some_id
from lake_samples import vectors
from upwell.errors import Rejected
from upwell.lake.plan import bumped, emptied, plan, point_id
from upwell.lake.vectors import LakeVectors, embed_key, embed_text, keyed
from upwell.ports import Manifest
from upwell.records import ChangeEvent, Chunk, DocKey, Kind, Op, Span

KEY = DocKey(tenant="t", source="s", doc_id="a")

LIVE = ChangeEvent(event_id="e", tenant="t", source="s", doc_id="a", op=Op.UPSERT, version=1, received_at=1)


def chunk(name, **changes):
    fields = {"chunk_key": name, "text": f"text {name}", "tokens": 2, "kind": Kind.PARAGRAPH, "spans": ()}
    return keyed([Chunk(**(fields | changes))], "model")[0]


def published(*names):
    return plan([chunk(name) for name in names], Manifest(), KEY).manifest


def test_a_first_plan_adds_everything_at_generation_one():
    planned = plan([chunk("a"), chunk("b")], Manifest(), KEY)
    assert [(a.entry.chunk_key, a.entry.born, a.entry.ordinal) for a in planned.add] == [("a", 1, 0), ("b", 1, 1)]
    assert (planned.keep, planned.remove, planned.manifest.generation) == ((), (), 1)
    assert planned.add[0].entry.point_id == point_id(KEY, "a", 1)


def test_equal_keys_stay_whatever_moves():
    """Order, page and spans change; the points do not."""
    before = published("a", "b", "c")
    moved = [chunk("c", page=9, spans=(Span(block=4, start=0, end=1),)), chunk("new"), chunk("a", parent=2)]
    planned = plan(moved, before, KEY)
    assert [(e.chunk_key, e.ordinal, e.born) for e in planned.keep] == [("c", 0, 1), ("a", 2, 1)]
    assert (planned.keep[0].page, planned.keep[0].spans, planned.keep[1].parent) == (9, moved[0].spans, 2)
    assert {e.point_id for e in planned.keep} < {e.point_id for e in before.entries}
    assert [a.entry.chunk_key for a in planned.add] == ["new"]
    assert [e.chunk_key for e in planned.remove] == ["b"]
    assert [e.chunk_key for e in planned.manifest.entries] == ["c", "new", "a"]


def test_a_chunk_that_comes_back_is_a_new_point():
    gone = plan([chunk("a")], published("a", "b"), KEY).manifest
    back = plan([chunk("a"), chunk("b")], gone, KEY)
    assert [(a.entry.chunk_key, a.entry.born) for a in back.add] == [("b", 3)]


def test_another_model_is_another_point():
    other = keyed([chunk("a")], "other model")
    planned = plan(other, published("a"), KEY)
    assert (len(planned.add), len(planned.remove)) == (1, 1)


def test_ids_depend_on_every_part():
    ids = {point_id(KEY, "a", 1), point_id(KEY, "a", 2), point_id(KEY, "b", 1)}
    ids |= {point_id(msgspec.structs.replace(KEY, **{part: "x"}), "a", 1) for part in ("tenant", "source", "doc_id")}
    assert len(ids) == 6


def test_two_chunks_of_one_key_are_refused():
    with pytest.raises(Rejected):
        plan([chunk("a"), chunk("a")], Manifest(), KEY)


def test_bumped_keeps_and_emptied_drops():
    before = published("a")
    assert bumped(before) == Manifest(generation=2, entries=before.entries)
    assert emptied(before) == Manifest(generation=2)


def test_the_model_reads_prefix_and_text():
    assert embed_text(chunk("a")) == "text a"
    assert embed_text(chunk("a", prefix="Title > Head")) == "Title > Head\ntext a"
    keys = {embed_key("m", chunk("a")), embed_key("n", chunk("a")), embed_key("m", chunk("a", prefix="p"))}
    assert len(keys) == 3


class KnownVectors:
    """A lake that holds the vectors of some embed_keys, and a model that remembers what it was asked."""

    def __init__(self, *known, lost=()):
        self.known = {c.embed_key: some_id(c.embed_key) for c in known}
        self.held = {some_id(c.embed_key): vectors(c.text) for c in known if c not in lost}
        self.asked = []

    def points_of(self, tenant, pipeline, embed_keys):
        assert (tenant, pipeline) == ("t", "p")
        return {key: self.known[key] for key in embed_keys if key in self.known}

    def vectors(self, point_ids):
        return {p: self.held[p] for p in point_ids if p in self.held}

    def embed(self, texts, *, urgent):
        assert urgent, "the live lane goes first"
        self.asked.append(list(texts))
        return [vectors(text) for text in texts]


def test_vectors_come_from_the_lake_first_and_each_new_text_is_embedded_once():
    """In order; counted: reused, embedded, tokens."""
    a, b, twin = chunk("a"), chunk("b"), chunk("twin", text="text b")
    lake = KnownVectors(a)
    source = LakeVectors(LIVE, "p", lake, lake, lambda: lake)
    assert source([b, a, twin]) == [vectors("text b"), vectors("text a"), vectors("text b")]
    assert lake.asked == [["text b"]]
    assert (source.reused, source.embedded, source.tokens_embedded) == (1, 2, 2)


def test_vectors_that_the_store_has_lost_are_embedded():
    a = chunk("a")
    lake = KnownVectors(a, lost=(a,))
    source = LakeVectors(LIVE, "p", lake, lake, lambda: lake)
    assert source([a]) == [vectors("text a")]
    assert (source.reused, source.embedded) == (0, 1)
