"""What workers and searches look up by keys costs what the keys cost, however much the lake holds: also in a database
that was filled a moment ago, of which PostgreSQL's planner knows nothing yet.
"""

import json
import uuid

import pytest

from upwell.database import open_database
from upwell.lake import statements as sql
from upwell.lake.registry import SqlRegistry
from upwell.ports import DocumentRow, Manifest, ManifestEntry
from upwell.records import DocKey, Kind

pytestmark = pytest.mark.integration
PIPELINE = "p" * 32
DOCUMENTS, CHUNKS, ASKED = 400, 10, 12


def entry(ordinal):
    return ManifestEntry(
        point_id=str(uuid.uuid4()),
        chunk_key=str(ordinal),
        embed_key=uuid.uuid4().hex,
        ordinal=ordinal,
        born=1,
        tokens=9,
        text_hash="",
        kind=Kind.PARAGRAPH,
    )


@pytest.fixture
def filled(postgres):
    """(engine, the lake's manifest entries), with statistics kept from coming."""
    url = postgres.url()
    registry = SqlRegistry.at(url)
    engine = open_database(url)
    with engine.begin() as connection:
        for table in ("documents", "chunks"):
            connection.exec_driver_sql(f"ALTER TABLE {table} SET (autovacuum_enabled = false)")
    entries = []
    with registry.together():
        for number in range(DOCUMENTS):
            row = DocumentRow(key=DocKey(tenant="t", source="s", doc_id=str(number)), version=1)
            manifest = Manifest(generation=1, entries=tuple(entry(ordinal) for ordinal in range(CHUNKS)))
            assert registry.commit(row, expected_rev=0, manifests={PIPELINE: manifest})
            entries += manifest.entries
    yield engine, entries
    engine.dispose()
    registry.close()


def rows_read(engine, statement, parameters):
    """How many rows of tables and indexes PostgreSQL went through for a statement's answer, and the answer's rows."""
    expanded = statement.compile(dialect=engine.dialect).construct_expanded_state(parameters)
    with engine.connect() as connection:
        asked = f"EXPLAIN (ANALYZE, FORMAT JSON) {expanded.statement}"
        found = connection.exec_driver_sql(asked, expanded.parameters).scalar_one()
        answered = len(connection.execute(statement, parameters).all())
    plan = (json.loads(found) if isinstance(found, str) else found)[0]["Plan"]
    return sum(read(node) for node in nodes(plan)), answered


def nodes(plan):
    yield plan
    for child in plan.get("Plans", ()):
        yield from nodes(child)


def read(node):
    if "Scan" not in node["Node Type"]:
        return 0
    removed = node.get("Rows Removed by Filter", 0) + node.get("Rows Removed by Index Recheck", 0)
    return (node["Actual Rows"] + removed) * node["Actual Loops"]


@pytest.mark.parametrize("statement", ["POINTS_OF", "LIVE_CHUNKS"])
def test_keys_are_looked_up_one_by_one(filled, statement):
    engine, entries = filled
    some = entries[:: len(entries) // ASKED][:ASKED]
    parameters = {
        "POINTS_OF": {"pipeline": PIPELINE, "tenant": "t", "keys": [one.embed_key for one in some]},
        "LIVE_CHUNKS": {"pipeline": PIPELINE, "points": [one.point_id for one in some]},
    }[statement]
    rows, answered = rows_read(engine, getattr(sql, statement), parameters)
    assert answered == ASKED
    assert rows <= 4 * ASKED


def test_the_ends_of_a_tenants_chunks_are_its_own(filled):
    """What a subquery asks of the document is asked: another tenant has none of these points."""
    engine, entries = filled
    of_another = {"pipeline": PIPELINE, "tenant": "u", "keys": [entries[0].embed_key]}
    assert rows_read(engine, sql.POINTS_OF, of_another)[1] == 0
