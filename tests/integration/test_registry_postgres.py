"""The registry on a real PostgreSQL: rivals in other processes, snapshots while others commit, and a server that goes."""

import itertools
import multiprocessing
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import msgspec
import psycopg
import pytest

from broker import free_ports
from upwell.access import Asker
from upwell.database import open_database, transaction
from upwell.errors import Misconfigured, Reason, Rejected, Retryable
from upwell.lake.registry import SqlRegistry
from upwell.lake.schema import STEPS
from upwell.ports import AppliedEntry, DocumentRow, Manifest, ManifestEntry
from upwell.records import DocKey, Kind, Outcome

pytestmark = pytest.mark.integration
ANA = Asker(tenant="t", principals=frozenset({"user:ana"}))
KEY = DocKey(tenant="t", source="s", doc_id="a")
CHUNKS = 20


@pytest.fixture
def registry(postgres_url):
    opened = SqlRegistry.at(postgres_url)
    yield opened
    opened.close()


@pytest.fixture
def own(postgres):
    """A registry whose server may be ended: it runs again afterwards."""
    opened = SqlRegistry.at(postgres.url())
    yield opened
    opened.close()
    if not postgres.running:
        postgres.start()


def whole(version):
    """A manifest whose every part says which version it is of."""
    entries = (
        ManifestEntry(
            point_id=f"{version}-{number}", chunk_key=f"{number}", embed_key=f"{number}", ordinal=number, born=version,
            tokens=version, text_hash="", kind=Kind.PARAGRAPH,
        )
        for number in range(CHUNKS)
    )  # fmt: skip
    return Manifest(generation=version, entries=tuple(entries))


def commit(registry, row, version):
    """One publish of this version; False for the loser of a race."""
    entry = AppliedEntry(
        key=KEY, at=1, event_id=f"e{version}", op="upsert", version=version, acl_version=0, outcome=Outcome.APPLIED
    )
    new = msgspec.structs.replace(row, version=version)
    return registry.commit(new, expected_rev=row.rev, manifests={"p": whole(version)}, entry=entry)


def count_up(url, times, wins):
    """In a process of its own: publish the next version `times` times."""
    registry = SqlRegistry.at(url)
    won = 0
    while won < times:
        row = registry.row(KEY) or DocumentRow(key=KEY, version=0)
        won += commit(registry, row, row.version + 1)
    registry.close()
    wins.put(won)


def test_processes_that_race_lose_no_commit(postgres_url, registry):
    """Three processes, forty commits each of one document: as many versions, one history line each, one manifest."""
    spawn = multiprocessing.get_context("spawn")
    wins = spawn.SimpleQueue()
    rivals = [spawn.Process(target=count_up, args=(postgres_url, 40, wins)) for _ in range(3)]
    for rival in rivals:
        rival.start()
    for rival in rivals:
        rival.join(60)
        assert rival.exitcode == 0
    row, manifests = registry.read(KEY)
    assert (row.version, row.rev) == (120, 120)
    assert manifests == {"p": whole(120)}
    assert [line.version for line in registry.history(KEY)] == list(range(1, 121))


def test_a_reader_sees_one_moment_while_others_commit(registry):
    """read() and snapshot() take several statements: row, generation and chunks are of one version, every time."""
    assert commit(registry, DocumentRow(key=KEY), 1)
    stop = threading.Event()

    def write():
        while not stop.is_set():
            row = registry.row(KEY)
            assert commit(registry, row, row.version + 1)

    with ThreadPoolExecutor(1) as pool:
        writing = pool.submit(write)
        try:
            seen = set()
            deadline = time.monotonic() + 60
            while len(seen) < 50:
                assert time.monotonic() < deadline
                row, manifests = registry.read(KEY)
                assert manifests["p"] == whole(row.version)
                points = [
                    entry.point_id for version in (row.version, row.version + 1) for entry in whole(version).entries
                ]
                live = registry.snapshot("p", points, asker=ANA).live
                assert {(found.row.version, found.entry.born) for found in live.values()} in (
                    set(), {(row.version, row.version)}, {(row.version + 1, row.version + 1)},
                )  # fmt: skip
                assert len(live) in (0, CHUNKS), "whole or not at all"
                seen.add(row.version)
        finally:
            stop.set()
        writing.result(10)


def test_a_commit_is_seen_by_every_snapshot_that_begins_after_it(registry, postgres_url):
    """A permission is effective at its commit: a search in another process that starts then must see it."""
    other = SqlRegistry.at(postgres_url)
    assert registry.commit(DocumentRow(key=KEY), expected_rev=0, manifests={"p": whole(1)})
    for rev in range(1, 100):
        assert registry.commit(DocumentRow(key=KEY, acl_version=rev), expected_rev=rev)
        live = other.snapshot("p", ["1-0"], asker=ANA).live
        assert live["1-0"].row.acl_version == rev
    other.close()


def test_many_processes_may_start_at_once_on_an_empty_database(postgres_url):
    """One makes the tables, the others wait for it."""
    with ThreadPoolExecutor(8) as pool:
        for opened in list(pool.map(SqlRegistry.at, [postgres_url] * 8)):
            opened.close()
    with psycopg.connect(postgres_url) as connection:
        assert connection.execute("SELECT version FROM schema_version").fetchall() == [(max(STEPS),)]


def test_a_worker_needs_no_right_to_make_tables(postgres, registry, postgres_url):
    """Once `upwell init` has made them a role that may only read and write opens the same registry."""
    database = postgres_url.rpartition("/")[2]
    role = f"worker_{database}"
    postgres.run(f"CREATE ROLE {role} LOGIN PASSWORD 'secret'", database)
    postgres.run(f"GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA public TO {role}", database)
    postgres.run(f"GRANT USAGE ON ALL SEQUENCES IN SCHEMA public TO {role}", database)
    theirs = SqlRegistry.at(postgres.url(database, role, "secret"))
    assert commit(theirs, DocumentRow(key=KEY), 1)
    theirs.close()
    postgres.run("DROP TABLE schema_version", database)
    with pytest.raises(Misconfigured, match="permission denied"):
        SqlRegistry.at(postgres.url(database, role, "secret"))


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"password": "wrong-horse"}, "password authentication failed"),
        ({"user": "nobody"}, "password authentication failed"),
        ({"database": "missing"}, "does not exist"),
    ],
)
def test_what_a_person_must_mend_is_said_in_one_line_without_the_password(postgres, change, says):
    with pytest.raises(Misconfigured, match=says) as caught:
        SqlRegistry.at(postgres.url(**({"database": "postgres"} | change)))
    assert "\n" not in str(caught.value)
    assert "horse" not in str(caught.value)


def test_a_database_of_another_encoding_is_refused(postgres):
    """It could not hold every title."""
    with pytest.raises(Misconfigured, match="UTF8"):
        SqlRegistry.at(postgres.url(postgres.create(encoding="LATIN1")))


def test_a_database_that_loses_commits_is_refused(postgres):
    """synchronous_commit = off answers before a commit is on disk."""
    name = postgres.create()
    postgres.run(f"ALTER DATABASE {name} SET synchronous_commit = off")
    with pytest.raises(Misconfigured, match="synchronous_commit"):
        SqlRegistry.at(postgres.url(name))


@pytest.mark.parametrize(
    "url", ["postgresql://u:horse@[::1/x", "postgresql://u:horse@host:port/x", "mysql://u:horse@h/x"]
)
def test_a_url_that_cannot_be_is_not_quoted(url):
    with pytest.raises(Misconfigured, match="postgresql://") as caught:
        SqlRegistry.at(url)
    assert "horse" not in str(caught.value)


def test_nobody_listens_is_tried_again():
    """The server is not up yet."""
    (port,) = free_ports(1)
    with pytest.raises(Retryable, match="cannot be used now"):
        SqlRegistry.at(f"postgresql://u:horse@127.0.0.1:{port}/x")


@pytest.mark.parametrize("how", ["kill", "stop"])
def test_a_server_that_ends_is_tried_again_and_used_again(own, postgres, how):
    """In the middle of a transaction, and before one; open connections find out by themselves."""
    assert commit(own, DocumentRow(key=KEY), 1)

    def interrupted():
        with transaction(own._engine, "registry") as connection:
            getattr(postgres, how)()
            connection.exec_driver_sql("SELECT 1")

    with pytest.raises(Retryable):
        interrupted()
    with pytest.raises(Retryable):
        own.row(KEY)
    postgres.start()
    assert own.row(KEY).version == 1
    assert commit(own, own.row(KEY), 2)


def test_a_server_that_pauses_is_waited_for(own, postgres):
    """Connections in use, and one that is new."""
    assert commit(own, DocumentRow(key=KEY), 1)
    postgres.pause()
    resume = threading.Timer(3, postgres.resume)
    resume.start()
    try:
        with ThreadPoolExecutor(4) as pool:
            rows = list(pool.map(own.row, [KEY] * 4))
    finally:
        resume.join()
    assert [row.version for row in rows] == [1] * 4


FAULTS = {
    "40001": Retryable,
    "40P01": Retryable,
    "57P01": Retryable,
    "57014": Retryable,
    "53100": Retryable,
    "53200": Retryable,
    "53300": Retryable,
    "55P03": Retryable,
    "25006": Retryable,
    "08006": Retryable,
    "58030": Retryable,
    "XX000": Retryable,
    "54001": Retryable,
    "28P01": Misconfigured,
    "42501": Misconfigured,
    "42P01": Misconfigured,
    "XX001": Misconfigured,
    "22021": Rejected,
    "22003": Rejected,
    "54000": Rejected,
}


def test_every_kind_of_error_has_its_place(registry, postgres_url):
    """Raised by the server itself; the line names the cause and quotes no row."""
    engine = open_database(postgres_url)
    for code, kind in FAULTS.items():
        raising = f"DO $$ BEGIN RAISE EXCEPTION 'why %', 1 USING ERRCODE = '{code}', DETAIL = 'horse'; END $$"
        with pytest.raises(kind) as caught, transaction(engine, "registry") as connection:
            connection.exec_driver_sql(raising.replace("%", "%%").replace("'why %%', 1", "'why'"))
        assert "horse" not in str(caught.value), code
        assert "\n" not in str(caught.value), code
    engine.dispose()


def test_a_real_deadlock_is_tried_again(registry, postgres_url):
    """Two transactions that lock each other out: the server ends one of them, which may come again."""
    engine = open_database(postgres_url)
    keys = [msgspec.structs.replace(KEY, doc_id=name) for name in "ab"]
    for key in keys:
        assert registry.commit(DocumentRow(key=key), expected_rev=0)
    meet = threading.Barrier(2)

    def cross(first, second):
        with transaction(engine, "registry") as connection:
            for number, key in enumerate((first, second)):
                connection.exec_driver_sql(f"UPDATE documents SET rank = 0 WHERE doc = '{key.digest}'")
                if number == 0:
                    meet.wait(10)

    with ThreadPoolExecutor(2) as pool:
        crossing = [pool.submit(cross, *pair) for pair in itertools.permutations(keys)]
        ends = [each.exception(30) for each in crossing]
    engine.dispose()
    assert sorted(type(end).__name__ for end in ends) == ["NoneType", "Retryable"]


def test_an_id_that_no_index_can_hold_is_this_documents_fault_alone(registry):
    """It is refused, with a reason; it is not tried for ever."""
    import random

    rng = random.Random(1)
    endless = msgspec.structs.replace(KEY, doc_id="".join(chr(rng.randrange(0x4E00, 0x9FFF)) for _ in range(3000)))
    with pytest.raises(Rejected) as caught:
        registry.commit(DocumentRow(key=endless), expected_rev=0)
    assert caught.value.reason == Reason.INVALID_EVENT
    assert registry.row(endless) is None


def test_no_more_connections_than_the_pool_has_are_taken(registry, postgres, postgres_url):
    """Sixty threads share sixteen; nobody fails, and the server's other clients have room."""
    assert commit(registry, DocumentRow(key=KEY), 1)
    with ThreadPoolExecutor(60) as pool:
        assert {row.version for row in pool.map(registry.row, [KEY] * 600)} == {1}
    name = postgres_url.rpartition("/")[2]
    ((taken,),) = postgres.run(f"SELECT count(*) FROM pg_stat_activity WHERE datname = '{name}'")
    assert 1 <= taken <= 16
