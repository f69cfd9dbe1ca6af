"""Row security in PostgreSQL: a session that reads for askers sees one tenant, whatever its statements say."""

import pytest
import sqlalchemy as sa

from upwell.access import Asker, reader
from upwell.database import open_database, transaction
from upwell.errors import UpwellError
from upwell.lake.isolation import POLICIES
from upwell.lake.registry import SqlRegistry
from upwell.lake.schema import METADATA
from upwell.ports import AclEnd, AppliedEntry, DocumentRow, Manifest, ManifestEntry
from upwell.records import Acl, DocKey, Kind, Membership, Outcome

pytestmark = pytest.mark.integration
ANA = Acl(levels=(frozenset({"user:ana"}),))
NO_TENANT = {"meta", "schema_version"}
ODD = "o'\0\U0010ffff"
TENANTS = ("t", "u", "", ODD)


def key(name, tenant="t"):
    return DocKey(tenant=tenant, source="s", doc_id=name)


def chunk(point):
    return ManifestEntry(
        point_id=point,
        chunk_key="c",
        embed_key="embed-0",
        ordinal=0,
        born=1,
        tokens=1,
        text_hash="",
        kind=Kind.PARAGRAPH,
    )


def line(event_id, of):
    return AppliedEntry(key=of, at=1, event_id=event_id, op="upsert", version=1, acl_version=0, outcome=Outcome.APPLIED)


@pytest.fixture
def url(postgres):
    """A database whose owner is an ordinary user, as in production."""
    name = postgres.create()
    role = f"owner_of_{name}"
    postgres.run(f"CREATE ROLE {role} LOGIN PASSWORD 'ordinary' NOSUPERUSER NOBYPASSRLS")
    postgres.run(f"ALTER DATABASE {name} OWNER TO {role}")
    postgres.run(f"ALTER SCHEMA public OWNER TO {role}", name)
    return postgres.url(name, role, "ordinary")


@pytest.fixture
def lake(url):
    """A worker's registry, with one document, its history and a directory in each tenant."""
    worker = SqlRegistry.at(url)
    for number, tenant in enumerate(TENANTS):
        of = key("a", tenant)
        chunks = {"p": Manifest(generation=1, entries=(chunk(f"{number}-0"),))}
        row = DocumentRow(key=of, version=1, title=f"title of {number}", links=("https://example.org/x",), acl=ANA)
        assert worker.commit(row, expected_rev=0, manifests=chunks, entry=line(f"e{number}", of))
        said = Membership(tenant=tenant, principal="user:ana", version=1, member_of=frozenset({f"group:{number}"}))
        assert worker.directory.put(said)
    yield worker
    worker.close()


@pytest.fixture
def readers(url, lake):
    """A registry that reads for askers, on the same database as the same user."""
    found = SqlRegistry.at(url, reading=True)
    yield found
    found.close()


def visible(registry, table, tenant):
    """What a statement that forgets the tenant gets in a session of this registry."""
    with transaction(registry._engine, "registry", read_only=True, tenant=tenant) as connection:
        return connection.execute(sa.select(METADATA.tables[table])).mappings().all()


def test_every_table_of_a_tenant_has_a_policy():
    """A table that is new must be here, or be said to belong to nobody."""
    assert set(POLICIES) | NO_TENANT == set(METADATA.tables)


def test_a_reading_session_sees_one_tenant_whatever_it_asks(lake, readers):
    """Every table, a statement without any condition: that tenant's rows, all of them and no others."""
    for table in sorted(set(POLICIES) - {"outbox"}):
        everything = visible(lake, table, None)
        assert len(everything) >= len(TENANTS), table
        for number, tenant in enumerate(TENANTS):
            seen = visible(readers, table, tenant)
            digest = key("a", tenant).digest
            own = [
                row for row in everything if row.get("tenant", tenant) == tenant and row.get("doc", digest) == digest
            ]
            assert seen == ([] if tenant == "" else own), (table, number)
            assert tenant == "" or seen, table
    assert visible(lake, "outbox", None) != []
    assert visible(readers, "outbox", "t") == []


@pytest.mark.parametrize("table", sorted(POLICIES))
def test_without_a_tenant_nothing_is_seen(readers, table):
    """Also after a transaction that had one, on the same connection."""
    for tenant in (None, "t", None, "nobody's"):
        assert bool(visible(readers, table, tenant)) == (tenant == "t" and table != "outbox")


def test_a_raw_statement_in_a_reading_session_shows_nothing(readers):
    """Outside of any transaction of ours, on a session of the pool."""
    with readers._engine.connect() as connection:
        assert connection.exec_driver_sql("SELECT * FROM documents").all() == []
        connection.exec_driver_sql("SELECT set_config('upwell.tenant', 't', true)")
        assert [row.tenant for row in connection.exec_driver_sql("SELECT tenant FROM documents")] == ["t"]


def test_a_reading_session_writes_nothing(readers):
    """Not even in its own tenant."""
    row = DocumentRow(key=key("new"))
    with pytest.raises(UpwellError):
        readers.commit(row, expected_rev=0)
    with pytest.raises(UpwellError):
        readers.directory.put(Membership(tenant="t", principal="user:ben", version=1))
    with pytest.raises(UpwellError):
        readers.set_meta("pipeline", "mine")


def test_the_registry_reads_as_ever(lake, readers):
    """Every way to read gives what a worker's registry gives, of the tenant that is named."""
    for number, tenant in ((0, "t"), (3, ODD)):
        of = key("a", tenant)
        asker = Asker(tenant=tenant, principals=frozenset({"user:ana"}))
        points = [f"{n}-0" for n in range(len(TENANTS))]
        ours = readers.snapshot("p", points, asker=asker, documents=[key("a", other) for other in TENANTS])
        assert list(ours.live) == [f"{number}-0"]
        assert list(ours.documents) == [of]
        assert ours.standing.principals == reader("user:ana", f"group:{number}") == readers.standing(asker).principals
        for ask in (
            lambda registry, of=of: registry.row(of),
            lambda registry, of=of: registry.read(of),
            lambda registry, of=of: registry.history(of),
            lambda registry, of=of, n=number: registry.ended(of, f"e{n}"),
            lambda registry, t=tenant: registry.find("a", t),
            lambda registry, t=tenant: list(registry.rows(t)),
            lambda registry, t=tenant: registry.counts(tenant=t),
            lambda registry, t=tenant: list(registry.directory.members(t)),
            lambda registry, t=tenant: registry.points_of(t, "p", ["embed-0"]),
        ):
            assert ask(readers) == ask(lake)
            assert ask(readers)
    assert list(readers.rows()) == readers.find("a") == readers.counts() == []


def test_a_lake_of_the_first_schema_is_secured_when_it_is_brought_forward(url, postgres):
    """The tables that were there get their policies with the new ones, and lose nothing; tombstones end permissions."""
    made = SqlRegistry.at(url)
    assert made.commit(DocumentRow(key=key("a"), version=3), expected_rev=0)
    assert made.commit(DocumentRow(key=key("z"), version=5, rank=1, deleted=True), expected_rev=0)
    made.close()
    engine = open_database(url)
    new = ("principals", "member_of", "directories", "acl_names", "links", "browsing", "outbox")
    columns = ("links", "acl_missing", "acl_missing_since", "acl_read", "reserve", "ends")
    with engine.begin() as connection:
        for table in ("documents", "manifests", "chunks", "applied"):
            connection.exec_driver_sql(f"DROP POLICY upwell_reading ON {table}")
            connection.exec_driver_sql(f"ALTER TABLE {table} NO FORCE ROW LEVEL SECURITY, DISABLE ROW LEVEL SECURITY")
        for table in new:
            connection.exec_driver_sql(f"DROP TABLE {table} CASCADE")
        for column in columns:
            connection.exec_driver_sql(f"ALTER TABLE documents DROP COLUMN {column}")
        connection.exec_driver_sql("DELETE FROM schema_version")
        connection.exec_driver_sql("INSERT INTO schema_version VALUES (1)")
    engine.dispose()
    again = SqlRegistry.at(url, reading=True)
    found = [(row.key, row.acl_read, row.ends) for row in again.rows("t")]
    assert found == [(key("a"), 3, ()), (key("z"), 5, (AclEnd(version=5, acl_version=0),))]
    assert list(again.rows("u")) == []
    for table in POLICIES:
        assert visible(again, table, "nobody's") == []
    forced = "SELECT relname FROM pg_class WHERE relrowsecurity AND relforcerowsecurity"
    assert {name for (name,) in postgres.run(forced, url.rpartition("/")[2])} == set(POLICIES)
    again.close()


def test_a_role_that_may_only_select_can_read(url, lake, postgres):
    """A service of readers needs no more than that."""
    name = url.rpartition("/")[2]
    postgres.run(f"CREATE ROLE only_{name} LOGIN PASSWORD 'ordinary'")
    postgres.run(f"GRANT SELECT ON ALL TABLES IN SCHEMA public TO only_{name}", name)
    registry = SqlRegistry.at(postgres.url(name, f"only_{name}", "ordinary"), reading=True)
    assert [row.key.tenant for row in registry.rows("u")] == ["u"]
    registry.close()
