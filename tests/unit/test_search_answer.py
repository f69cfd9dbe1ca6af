"""What a search answers: fields, citations, limits of a question."""

import msgspec
import pytest

from lake_samples import ALL_MAY, DIM, key, point, query
from upwell.access import Asker
from upwell.errors import Misconfigured
from upwell.lake.registry import SqlRegistry
from upwell.lake.store.fusion import lexical
from upwell.lake.store.qdrant import QdrantStore
from upwell.ports import DocumentRow, LiveChunk, Manifest, ManifestEntry
from upwell.records import Kind, ParseStatus
from upwell.search.answer import answer_search, citation, shown_score
from upwell.search.govern import Reading

ROW = DocumentRow(
    key=key("hr/leave.md", source="handbook"),
    version=7,
    acl=ALL_MAY,
    title="Leave",
    url="https://example.org/leave",
    modified_at=1_767_323_045_678_901,
    searchable_at=1_767_323_046_000_000,
    status=ParseStatus.OK,
    lineage={"parser": "markdown@1", "model": "hash"},
)
POINT = point("hr/leave.md", source="handbook", text="Sixteen weeks.")
ENTRY = ManifestEntry(
    point_id=POINT.point_id,
    chunk_key=POINT.chunk_key,
    embed_key=POINT.embed_key,
    ordinal=0,
    born=1,
    tokens=3,
    text_hash="",
    kind=Kind.PARAGRAPH,
    heading_path=("Leave", "Parental"),
    page=3,
    bbox=(1.0, 2.0, 3.0, 4.0),
)


class OneVector:
    """An embedder that remembers what it was asked and always answers alike."""

    name = fingerprint = "one"
    dim = DIM

    def __init__(self):
        self.asked = []

    def embed_query(self, text):
        self.asked.append(text)
        return query().vectors


@pytest.fixture
def ask(tmp_path):
    registry = SqlRegistry.at(tmp_path / "registry.sqlite")
    store = QdrantStore(":memory:", collection="lake", dim=DIM)
    store.insert([POINT])
    assert registry.commit(ROW, expected_rev=0, manifests={"p": Manifest(generation=1, entries=(ENTRY,))})
    embedder = OneVector()

    def ask_(text, **how):
        settings = {"principals": frozenset({"user:ana"}), "k": 5, "tenant": "default", "sources": frozenset()} | how
        asker = Asker(tenant=settings.pop("tenant"), principals=settings.pop("principals"))
        reading = Reading(asker=asker, sources=settings.pop("sources"))
        answer, _ = answer_search(
            text, reading=reading, registry=registry, store=store, embedder=embedder, pipeline="p", **settings
        )
        return answer

    ask_.embedder = embedder
    yield ask_
    store.close()
    registry.close()


def test_a_hit_carries_everything_that_the_answer_promises(ask):
    """Every field of the JSON shape, from the registry and the store."""
    answer = ask("how long is parental leave")
    (hit,) = answer.hits
    assert answer.query == "how long is parental leave"
    assert answer.as_of.endswith("Z")
    assert hit.citation == "handbook/hr/leave.md > Leave > Parental (p. 3)"
    assert (hit.rank, hit.tenant, hit.source, hit.doc_id, hit.version) == (1, "default", "handbook", "hr/leave.md", 7)
    assert (hit.title, hit.url, hit.heading_path) == ("Leave", "https://example.org/leave", ("Leave", "Parental"))
    assert (hit.page, hit.bbox, hit.text) == (3, (1.0, 2.0, 3.0, 4.0), "Sixteen weeks.")
    assert hit.modified_at == "2026-01-02T03:04:05.678901Z"
    assert hit.searchable_at == "2026-01-02T03:04:06.000000Z"
    assert hit.stale_since is None
    assert hit.lineage == {"parser": "markdown@1", "model": "hash"}
    assert hit.score == pytest.approx(min(1.0, max(0.0, (hit.why["maxsim"] + lexical(hit.why["bm25"])) / 1.5)))
    assert hit.why["dense"] == 1.0
    assert 0 <= hit.score <= 1
    assert msgspec.json.decode(msgspec.json.encode(answer))["hits"][0]["chunk_key"] == POINT.chunk_key


@pytest.mark.parametrize(("stored", "shown"), [(-0.4, 0.0), (0.0, 0.0), (0.75, 0.5), (1.5, 1.0), (1.6, 1.0)])
def test_a_score_is_between_nought_and_one(stored, shown):
    """Whatever rounding, or a token that points the other way, makes of it."""
    assert shown_score(stored) == shown


def test_a_citation_without_page_or_headings():
    """Only what is known is said."""
    entry = msgspec.structs.replace(ENTRY, page=None, heading_path=())
    assert citation(LiveChunk(row=ROW, entry=entry)) == "handbook/hr/leave.md"


def test_a_part_inside_a_document_is_cited_by_its_own_name():
    """`parent!/name`, however deep."""
    entry = msgspec.structs.replace(ENTRY, child="a.zip!/b.pdf")
    assert citation(LiveChunk(row=ROW, entry=entry)) == "handbook/hr/leave.md!/a.zip!/b.pdf > Leave > Parental (p. 3)"


def test_a_citation_is_one_line_whatever_a_document_is_called():
    """File names and headings are hostile: no new lines, no terminal escapes."""
    row = msgspec.structs.replace(ROW, key=key("a\nb\x1b[31m.md", source="hand"))
    entry = msgspec.structs.replace(ENTRY, heading_path=("Big\r\nnews",), page=None)
    assert citation(LiveChunk(row=row, entry=entry)) == "hand/a b [31m.md > Big news"


def test_everybody_is_everyone(ask):
    """A reader without any principal of its own sees what everyone may see."""
    assert len(ask("leave", principals=frozenset()).hits) == 1


def test_a_question_of_10_000_characters_is_answered_and_a_longer_one_is_not(ask):
    """The limit is said in the error."""
    assert ask("a" * 10_000).hits
    with pytest.raises(Misconfigured, match="10,001 characters"):
        ask("a" * 10_001)


@pytest.mark.parametrize("empty", ["", "   ", "\x00\x1b\n"])
def test_an_empty_question_is_an_error(ask, empty):
    """There is nothing to look for."""
    with pytest.raises(Misconfigured, match="empty"):
        ask(empty)


def test_control_characters_and_broken_bytes_in_a_question_are_harmless(ask):
    """They reach no model, and the answer can be written as JSON."""
    answer = ask("parental\x00 leave \x1b[31m \udcff")
    assert len(answer.hits) == 1
    assert msgspec.json.encode(answer)
    assert not any(ord(letter) < 32 for letter in ask.embedder.asked[-1])


@pytest.mark.parametrize(
    "how", [{"principals": frozenset({"user:\udcff"})}, {"sources": frozenset({"\udcff"})}, {"tenant": "\udcff"}]
)
def test_names_that_are_no_text_are_refused(ask, how):
    """They can be in no permission, and no store could be asked about them."""
    with pytest.raises(Misconfigured, match="not valid text"):
        ask("leave", **how)


@pytest.mark.parametrize("k", [0, 101])
def test_k_out_of_range_is_an_error(ask, k):
    """1 to 100 hits."""
    with pytest.raises(Misconfigured, match="1 to 100"):
        ask("leave", k=k)
