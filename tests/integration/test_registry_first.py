"""A first publication, which PostgreSQL is told in one statement: it leaves what SQLite is told in many."""

import msgspec
import pytest
import sqlalchemy as sa

from upwell.database import open_database, transaction
from upwell.lake import first
from upwell.lake.registry import SqlRegistry
from upwell.lake.schema import APPLIED, BROWSING, CHUNKS, DOCUMENTS, LINKS, MANIFESTS, OUTBOX
from upwell.ports import AppliedEntry, DocumentRow, Manifest, ManifestEntry
from upwell.records import Acl, DocKey, Kind, Outcome, Span

pytestmark = pytest.mark.integration
KEY = DocKey(tenant="t", source="s", doc_id="a\0/ü.md")
ANA = Acl(levels=(frozenset({"user:ana"}),))
HOSTILE = 'nul \0, mark \U0010ffff1, lone \ud800, quote " and \\u0000 {x: 1} ü'
TABLES = (DOCUMENTS, BROWSING, LINKS, MANIFESTS, CHUNKS, APPLIED, OUTBOX)


def clock():
    return 1_700_000_000_000_000


@pytest.fixture
def both(postgres_url, tmp_path):
    """The registries, PostgreSQL's first, and what all their tables hold."""
    places = (postgres_url, tmp_path / "registry.db")
    registries = [SqlRegistry.at(place, clock) for place in places]
    engines = [open_database(place) for place in places]
    yield registries, lambda: [held(engine) for engine in engines]
    for opened in registries:
        opened.close()
    for engine in engines:
        engine.dispose()


@pytest.fixture
def told(monkeypatch):
    """How often one statement was enough: what it said of the revision, each time."""
    said, write = [], first.write

    def counted(*args, **named):
        said.append(write(*args, **named))
        return said[-1]

    monkeypatch.setattr(first, "write", counted)
    return said


def held(engine):
    with transaction(engine, "registry", read_only=True) as connection:
        return {table.name: sorted(map(repr, connection.execute(sa.select(*names(table))).all())) for table in TABLES}


def names(table):
    return [column for column in table.columns if column.name not in {"seq", "id"}]


def manifest(generation, *numbers):
    return Manifest(
        generation=generation,
        entries=tuple(
            ManifestEntry(
                point_id=f"{number}", chunk_key=f"c{number}", embed_key=f"e{number}", ordinal=number, born=generation,
                tokens=5, text_hash="h", kind=Kind.TABLE, heading_path=("Top", HOSTILE), page=number or None,
                bbox=(0.5, 1.0, 2.0, 3.25) if number else None, parent=number,
                spans=(Span(block=0, start=1, end=9),), child=HOSTILE if number else None,
            )
            for number in numbers
        ),
    )  # fmt: skip


def content(**changes):
    known = {
        "version": 1,
        "acl": ANA,
        "title": HOSTILE,
        "url": "https://x.test/a",
        "links": ("b.md", "https://x.test/c"),
    }
    return DocumentRow(key=KEY, **{**known, **changes})


def end(event_id="e1"):
    return AppliedEntry(
        key=KEY,
        at=1,
        event_id=event_id,
        op="upsert",
        version=1,
        acl_version=0,
        outcome=Outcome.APPLIED,
        detail="corrupt",
    )


@pytest.mark.parametrize("seen", [False, True])
def test_it_leaves_what_many_statements_leave(both, told, seen):
    """With and without a row that a permission has made before."""
    registries, everything = both
    for registry in registries:
        if seen:
            assert registry.commit(DocumentRow(key=KEY, acl=ANA), expected_rev=0)
        else:  # the permission's names are known
            registry.commit(DocumentRow(key=msgspec.structs.replace(KEY, doc_id="z"), acl=ANA), expected_rev=0)
        manifests = {"p1": manifest(1, 0, 1, 2), "p2": manifest(1)}
        assert registry.commit(content(), expected_rev=int(seen), manifests=manifests, entry=end())
    postgres, sqlite = everything()
    assert postgres == sqlite
    assert len(postgres["chunks"]) == 3
    assert told == [True]


def test_a_loser_of_a_race_leaves_nothing(both, told):
    registries, everything = both
    for registry in registries:
        registry.commit(DocumentRow(key=KEY, acl=ANA), expected_rev=0)
        registry.commit(DocumentRow(key=KEY, acl=ANA, acl_version=1), expected_rev=1)
    before = everything()
    for registry in registries:
        for stale in (0, 1):
            assert not registry.commit(content(), expected_rev=stale, manifests={"p1": manifest(1, 0)}, entry=end())
    assert everything() == before
    assert told == [False]


def test_where_it_is_not_the_first_it_is_written_all_the_same(both):
    """Another pipeline's first with other links, the same generation again with other chunks, an end that is known."""
    registries, everything = both
    for registry in registries:
        registry.commit(DocumentRow(key=KEY, acl=ANA), expected_rev=0)
        steps = (
            ({"p1": manifest(1, 0, 1)}, content()),
            ({"p2": manifest(1, 3)}, content(links=("https://x.test/c", "d.md"))),
            ({"p1": manifest(1, 1, 2)}, content(links=())),
            ({"p1": manifest(2, 1)}, content(links=("d.md",))),
        )
        for rev, (manifests, row) in enumerate(steps, start=1):
            assert registry.commit(row, expected_rev=rev, manifests=manifests, entry=end())
    postgres, sqlite = everything()
    assert postgres == sqlite
    assert (len(postgres["applied"]), len(postgres["links"]), len(postgres["chunks"])) == (1, 1, 2)
