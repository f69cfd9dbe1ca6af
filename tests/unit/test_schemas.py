"""The schemas in the repository are those of the code, and what the code encodes is valid by them."""

import json
from pathlib import Path

import jsonschema
import msgspec
import pytest

from upwell import answers, records
from upwell.records import Acl, BlobRef, ChangeEvent, Inline, Op, Record
from upwell.schemas import CROSSING, schemas, stale, write

FOLDER = Path(__file__).parents[2] / "schemas"

EVENT = ChangeEvent(
    event_id="e1",
    tenant="default",
    source="handbook",
    doc_id="leave.md",
    op=Op.UPSERT,
    version=3,
    received_at=1_700_000_000_000_000,
    content=Inline(data=b"\x00\xff"),
    acl=Acl(levels=(frozenset({"user:ana"}),), deny=frozenset({"group:x"})),
    metadata={"author": "ana"},
)
SPAN = records.Span(block=0, start=0, end=3)
CHUNK = records.Chunk(
    chunk_key="k", text="tea", tokens=1, kind=records.Kind.PARAGRAPH, spans=(SPAN,), bbox=(0, 0, 1, 2)
)
VECTORS = records.Vectors(dense=b"12", late=b"12", late_count=1, sparse_indices=(1,), sparse_values=(0.5,))
BLOCK = records.Block(kind=records.Kind.TABLE, text="a | b", table=records.Table(rows=1, cols=2, cells=()))
PARSED = records.ParsedDocument(status=records.ParseStatus.OK, blocks=(BLOCK,))
EXAMPLES: list[Record] = [
    EVENT,
    msgspec.structs.replace(EVENT, content=BlobRef(uri="file:///x", sha256="0", size=1), op=Op.ACL),
    CHUNK,
    VECTORS,
    msgspec.structs.replace(PARSED, children=(PARSED,)),
    records.PreparedDocument(status=records.ParseStatus.OK, chunks=(CHUNK,)),
    answers.IngestAnswer(),
    answers.SearchAnswer(query="q", as_of="2026-01-01T00:00:00Z", hits=()),
    answers.EraseAnswer(doc_id="d", source="s", removed={"points": 2}, remaining=()),
]


def test_files_equal_the_code():
    """Run `make schemas` after changing a record that crosses a process."""
    assert stale(FOLDER) == []


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda example: type(example).__name__)
def test_what_is_encoded_is_valid(example):
    """A record as it leaves in JSON fits its file."""
    schema = schemas()[name_of(type(example))]
    jsonschema.Draft202012Validator(json.loads(schema)).validate(json.loads(records.JSON_ENCODER.encode(example)))


@pytest.mark.parametrize("spoil", [{"op": "rename"}, {"version": "3"}, {"doc_id": None}, {"acl": {"levels": "all"}}])
def test_what_is_wrong_is_not_valid(spoil):
    """The schema refuses what the decoder refuses."""
    wrong = {**json.loads(records.JSON_ENCODER.encode(EVENT)), **spoil}
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.Draft202012Validator(json.loads(schemas()["change_event.v1.json"])).validate(wrong)
    with pytest.raises(msgspec.ValidationError):
        msgspec.json.decode(json.dumps(wrong), type=ChangeEvent)


def test_stale_sees_each_difference(tmp_path):
    """A changed, a missing and a left-over file are named; writing mends all three."""
    write(tmp_path)
    (tmp_path / "chunk.v1.json").write_text("{}")
    (tmp_path / "vectors.v1.json").unlink()
    (tmp_path / "old.v1.json").write_text("{}")
    assert stale(tmp_path) == ["chunk.v1.json", "old.v1.json", "vectors.v1.json"]
    write(tmp_path)
    assert stale(tmp_path) == []


def test_every_schema_is_a_schema():
    """Each file says its dialect and is valid in it, and no two records share a name."""
    assert len(schemas()) == len(CROSSING)
    for text in schemas().values():
        jsonschema.Draft202012Validator.check_schema(json.loads(text))


def name_of(record: type[Record]) -> str:
    """The file whose schema has this title."""
    return next(name for name, text in schemas().items() if json.loads(text)["$ref"].endswith(f"/{record.__name__}"))
