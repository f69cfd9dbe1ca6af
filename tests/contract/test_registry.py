"""What the registry promises (ports.Registry): rows, manifests and history change together, by compare-and-set."""

import threading
from concurrent.futures import ThreadPoolExecutor

import msgspec
import pytest

from upwell.access import Asker
from upwell.database import open_database
from upwell.errors import Misconfigured
from upwell.lake.registry import SqlRegistry
from upwell.ports import (
    AclEnd,
    AppliedEntry,
    ChildFacts,
    DocumentRow,
    Manifest,
    ManifestEntry,
    MissingAcl,
    PendingAcl,
    SourceCounts,
)
from upwell.records import Acl, DocKey, Kind, Outcome, ParseStatus, Span

ASKER = Asker(tenant="t", principals=frozenset({"user:ana"}))
NOW = 1_700_000_000_000_000
ANA = Acl(levels=(frozenset({"user:ana", "everyone"}), frozenset({"group:eng"})), deny=frozenset({"user:eve"}))
FULL = {
    "version": 7,
    "rank": 0,
    "content_sha256": "ab" * 32,
    "acl": ANA,
    "acl_version": 3,
    "acl_read": 2,
    "pending": (PendingAcl(acl=Acl(), acl_version=4, version=8),),
    "reserve": (PendingAcl(acl=Acl(), acl_version=1, version=3, lost=True),),
    "ends": (AclEnd(version=2, acl_version=0), AclEnd(version=1, acl_version=7)),
    "title": "Títle",
    "url": "https://example.org/a",
    "media_type": "text/markdown",
    "language": "en",
    "metadata": {"team": "one"},
    "modified_at": NOW,
    "received_at": NOW + 1,
    "searchable_at": NOW + 2,
    "status": ParseStatus.OK,
    "failed_version": 9,
    "stale_since": NOW + 3,
    "stale_reason": "corrupt",
    "acl_missing": (
        MissingAcl(acl_version=5, since=NOW, version=3),
        MissingAcl(acl_version=6, since=NOW - 9, answered=True),
    ),
    "lineage": {"parser": "words 1"},
    "children": (
        ChildFacts(name="a.zip", status=ParseStatus.UNSUPPORTED, reason="no parser", media_type="application/zip"),
        ChildFacts(name="b.pdf!/ü.txt", status=ParseStatus.OK, title="Títle", pages=3, parser="plain/1"),
    ),
}


def key(name="a", tenant="t", source="s"):
    return DocKey(tenant=tenant, source=source, doc_id=name)


def entry(number, of="a", **changes):
    """Chunk `number` of a document, with every field set."""
    fields = {
        "point_id": f"{of}-{number}",
        "chunk_key": f"chunk-{number}",
        "embed_key": f"embed-{number}",
        "ordinal": number,
        "born": 1,
        "tokens": 10 + number,
        "text_hash": f"hash-{number}",
        "kind": Kind.TABLE,
        "heading_path": ("One", "Two"),
        "page": 3,
        "bbox": (1.0, 2.5, 3.0, 4.0),
        "parent": 1,
        "spans": (Span(block=number, start=0, end=5), Span(block=number + 1, start=1, end=2)),
        "child": "b.pdf!/ü.txt",
    }
    return ManifestEntry(**(fields | changes))


def manifest(*entries, generation=1):
    return Manifest(generation=generation, entries=entries)


def line(event_id="e1", of=None, **changes):
    fields = {"key": of or key(), "at": NOW, "event_id": event_id, "op": "upsert", "version": 7, "acl_version": 3}
    return AppliedEntry(**(fields | {"outcome": Outcome.APPLIED} | changes))


@pytest.fixture(params=["sqlite", pytest.param("postgresql", marks=pytest.mark.integration)])
def where(request, tmp_path):
    """A database of each kind, empty."""
    return tmp_path / "registry.sqlite" if request.param == "sqlite" else request.getfixturevalue("postgres_url")


@pytest.fixture
def registry(where):
    found = SqlRegistry.at(where, clock=lambda: NOW)
    yield found
    found.close()


@pytest.fixture
def behind(where):
    """The database behind the registry's back: run a statement, get its rows."""
    engine = open_database(where)

    def run(statement):
        with engine.begin() as connection:
            result = connection.exec_driver_sql(statement)
            return result.all() if result.returns_rows else []

    yield run
    engine.dispose()


def publish(registry, name="a", *entries, tenant="t", source="s", pipeline="p", **row):
    of = key(name, tenant, source)
    old = registry.row(of) or DocumentRow(key=of)
    new = msgspec.structs.replace(old, **({"version": old.version + 1} | row))
    assert registry.commit(new, expected_rev=old.rev, manifests={pipeline: manifest(*entries, generation=old.rev + 1)})


def test_a_row_comes_back_as_it_was_written(registry):
    """Every field survives, and rev is the commit's."""
    row = DocumentRow(key=key(), **FULL)
    assert registry.row(key()) is None
    assert registry.commit(row, expected_rev=0)
    assert registry.row(key()) == msgspec.structs.replace(row, rev=1)
    bare = DocumentRow(key=key(), deleted=True, hold=True, moved_to="b", rank=1)
    assert registry.commit(bare, expected_rev=1)
    assert registry.row(key()) == msgspec.structs.replace(bare, rev=2)


def test_a_manifest_comes_back_in_order(registry):
    """Entries by ordinal with all their places; read gives row and manifests of one moment."""
    entries = (entry(0), entry(1, page=None, bbox=None, heading_path=(), spans=(), child=None), entry(2))
    assert registry.commit(DocumentRow(key=key()), expected_rev=0, manifests={"p": manifest(*reversed(entries))})
    assert registry.manifest(key(), "p") == manifest(*entries)
    assert registry.manifest(key(), "other") == Manifest()
    assert registry.read(key()) == (registry.row(key()), {"p": manifest(*entries)})
    assert registry.read(key("b")) == (None, {})


@pytest.mark.parametrize("stored", [0, 1, 2])
def test_a_commit_from_another_revision_writes_nothing(registry, stored):
    """The loser of a race leaves row, manifest and history alone."""
    for rev in range(stored):
        assert registry.commit(DocumentRow(key=key(), version=rev), expected_rev=rev)
    before = registry.read(key())
    for expected in {0, 1, 2, 3} - {stored}:
        late = DocumentRow(key=key(), version=99)
        assert not registry.commit(late, expected_rev=expected, manifests={"p": manifest(entry(0))}, entry=line())
    assert registry.read(key()) == before
    assert registry.history(key()) == []


def test_one_of_many_rivals_wins_each_revision(registry):
    """Eight threads add one to a version ten times each: no update is lost."""

    def add():
        for _ in range(10):
            while True:
                row = registry.row(key()) or DocumentRow(key=key())
                if registry.commit(msgspec.structs.replace(row, version=row.version + 1), expected_rev=row.rev):
                    break

    threads = [threading.Thread(target=add) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    row = registry.row(key())
    assert (row.version, row.rev) == (79, 80)


NOTE_EACH_CHANGE = {
    "sqlite": "CREATE TRIGGER t_{0} AFTER {0} ON chunks BEGIN INSERT INTO touched VALUES ('{0}'); END",
    "postgresql": "CREATE TRIGGER t_{0} AFTER {0} ON chunks FOR EACH ROW EXECUTE FUNCTION touch()",
}
TOUCH = """CREATE FUNCTION touch() RETURNS trigger LANGUAGE plpgsql AS
$$ BEGIN INSERT INTO touched VALUES (TG_OP); RETURN NULL; END $$"""


def test_only_what_moved_is_written(registry, where, behind):
    """Of a thousand chunks, an edit of one writes one."""
    entries = [entry(number) for number in range(1000)]
    publish(registry, "a", *entries)
    kind = "postgresql" if isinstance(where, str) else "sqlite"
    behind("CREATE TABLE touched (what TEXT)")
    if kind == "postgresql":
        behind(TOUCH)
    for what in ("INSERT", "UPDATE", "DELETE"):
        behind(NOTE_EACH_CHANGE[kind].format(what))
    publish(registry, "a", *entries[:500], entry(500, point_id="new", born=2), *entries[501:])
    publish(registry, "a", entry(0, page=4), *entries[1:500], entry(500, point_id="new", born=2), *entries[501:])
    assert sorted(what for (what,) in behind("SELECT what FROM touched")) == ["DELETE", "INSERT", "UPDATE"]
    assert registry.manifest(key(), "p").entries[0].page == 4


def test_history_is_appended_in_order_and_each_end_once(registry):
    """A redelivered event ends in the line it has; another outcome of it is another line."""
    assert registry.commit(DocumentRow(key=key()), expected_rev=0, entry=line("e1", detail="first"))
    registry.record(line("e1", detail="again"))
    registry.record(line("e2", outcome=Outcome.DEAD))
    registry.record(line("e2"))
    registry.record(line("e1", of=key("b")))
    assert [(h.event_id, h.outcome, h.detail) for h in registry.history(key())] == [
        ("e1", Outcome.APPLIED, "first"),
        ("e2", Outcome.DEAD, ""),
        ("e2", Outcome.APPLIED, ""),
    ]
    assert registry.ended(key(), "e2") == line("e2")
    assert registry.ended(key(), "e3") is None


def test_a_snapshot_holds_what_lives(registry):
    """Points of a live manifest in that pipeline, with their rows; none of deleted documents, none unknown."""
    publish(registry, "a", entry(0), entry(1))
    publish(registry, "gone", entry(0, of="gone"), deleted=True, rank=1)
    publish(registry, "other", entry(0, of="other"), pipeline="q")
    moment = registry.snapshot("p", ["a-0", "gone-0", "other-0", "never"], asker=ASKER)
    live = moment.live
    assert moment.as_of == NOW
    assert {point: (chunk.row, chunk.entry) for point, chunk in live.items()} == {
        "a-0": (registry.row(key()), entry(0))
    }


def test_a_snapshot_of_thousands(registry):
    """More points than one statement takes."""
    publish(registry, "a", *(entry(number) for number in range(1200)))
    live = registry.snapshot("p", (f"a-{number}" for number in range(2000)), asker=ASKER).live
    assert len(live) == 1200


def test_points_of_stay_within_the_tenant_and_the_pipeline(registry):
    """Vectors are found by embed_key, also of tombstones on hold, never across tenants or pipelines."""
    publish(registry, "a", entry(0))
    publish(registry, "held", entry(1, of="held"), deleted=True, hold=True, rank=1)
    publish(registry, "theirs", entry(2, of="theirs"), tenant="u")
    publish(registry, "old", entry(3, of="old"), pipeline="q")
    found = registry.points_of("t", "p", [f"embed-{number}" for number in range(5)])
    assert found == {"embed-0": "a-0", "embed-1": "held-1"}


def test_find_and_rows(registry):
    """By id across tenants and sources; all rows in key order, page after page."""
    for name in ("b", "a", "c"):
        for tenant, source in (("u", "s"), ("t", "s"), ("t", "r")):
            publish(registry, name, tenant=tenant, source=source)
    assert [row.key for row in registry.find("a")] == [key("a", "t", "r"), key("a", "t", "s"), key("a", "u", "s")]
    assert [row.key for row in registry.find("a", tenant="t", source="s")] == [key("a")]
    assert [row.key.doc_id for row in registry.rows("t", "r")] == ["a", "b", "c"]
    keys = [row.key for row in registry.rows()]
    assert keys == sorted(keys)
    assert len(keys) == 9


def test_rows_beyond_one_page(registry):
    """A listing longer than a page has each row once."""
    for number in range(1001):
        assert registry.commit(DocumentRow(key=key(f"{number:04}")), expected_rev=0)
    assert [row.key.doc_id for row in registry.rows()] == [f"{number:04}" for number in range(1001)]


def test_counts(registry):
    """Visible documents, live chunks of the active pipeline, tombstones, stale ones; a bare permission is none."""
    publish(registry, "a", entry(0), entry(1))
    publish(registry, "b", entry(0, of="b"), pipeline="q", stale_since=NOW)
    publish(registry, "gone", entry(0, of="gone"), deleted=True, rank=1, hold=True)
    publish(registry, "only-acl", version=-1)
    counts = {"tenant": "t", "source": "s", "documents": 2, "deleted": 1, "stale": 1}
    assert registry.counts() == [SourceCounts(**counts, chunks=3)]
    registry.set_meta("pipeline", "p")
    assert registry.counts() == [SourceCounts(**counts, chunks=2)]


def test_unknown_permissions_are_counted_and_those_unknown_for_too_long(registry):
    """Of visible documents alone; one tenant's when it is named."""
    for name, age, changes in (("a", 5, {}), ("b", 3, {}), ("gone", 9, {"deleted": True, "rank": 1}), ("bare", 9, {})):
        missing = (MissingAcl(acl_version=1, since=NOW - age), MissingAcl(acl_version=2, since=NOW))
        publish(registry, name, acl_missing=missing, **changes, **({"version": -1} if name == "bare" else {}))
    publish(registry, "known")
    publish(registry, "a", tenant="u")
    found = [(c.tenant, c.documents, c.acl_missing, c.acl_hidden) for c in registry.counts(acl_max_age_us=4)]
    assert found == [("t", 3, 2, 1), ("u", 1, 0, 0)]
    assert [(c.acl_missing, c.acl_hidden) for c in registry.counts(tenant="t", acl_max_age_us=3)] == [(2, 1)]
    assert [(c.acl_missing, c.acl_hidden) for c in registry.counts(tenant="t", acl_max_age_us=0)] == [(2, 2)]
    assert [(c.acl_missing, c.acl_hidden) for c in registry.counts(tenant="t")] == [(2, 0)]


def test_meta_remembers(registry):
    """The last value set; None for what was never set."""
    assert registry.meta("embedder") is None
    registry.set_meta("embedder", "hash")
    registry.set_meta("embedder", "minilm")
    assert registry.meta("embedder") == "minilm"


def test_purge_leaves_no_word_in_any_table(registry, behind):
    """The fence stays; titles, chunks and history lines are gone. Only an erased row may be purged."""
    secret = "zzsecretzz"
    fields = FULL | {"title": secret, "url": secret, "metadata": {secret: secret}}
    row = DocumentRow(key=key(), **fields)
    chunk = entry(0, heading_path=(secret,))
    assert registry.commit(row, expected_rev=0, manifests={"p": manifest(chunk)}, entry=line(detail=secret))
    registry.purge(key())
    assert registry.row(key()).title == secret, "only an erased row may be purged"
    fenced = msgspec.structs.replace(row, rank=2, deleted=True)
    erase = line("e2", op="erase")
    assert registry.commit(fenced, expected_rev=1, manifests={"p": manifest(generation=2)}, entry=erase)
    before = registry.traces(key())
    assert (before["chunks"], before["history lines"]) == (0, 1)
    assert before["fields"] > 0
    registry.purge(key())
    assert not any(registry.traces(key()).values()), "nothing but the fence and the erasure's own line"
    registry.rewrite()
    searched = ("documents", "chunks", "manifests", "applied", "links", "browsing")
    tables = {table: behind(f"SELECT * FROM {table}") for table in searched}
    assert secret not in str(tables)
    left = registry.row(key())
    assert (left.version, left.rank, left.deleted, left.acl_version) == (7, 2, True, 3)
    assert registry.manifest(key(), "p") == manifest(generation=2)
    assert registry.history(key()) == [erase]


def test_the_ids_that_a_document_had_before_a_move_are_known_while_nothing_new_stands_there(registry):
    for doc_id, fields in (("old", {"deleted": True, "moved_to": "a"}), ("taken", {"moved_to": "a"})):
        assert registry.commit(DocumentRow(key=key(doc_id), version=1, **fields), expected_rev=0)
    assert registry.moved_here(key("a")) == [key("old")]
    assert registry.moved_here(key("old")) == []


def test_everything_is_there_after_a_reopen(registry, where):
    """State is the database."""
    publish(registry, "a", entry(0))
    before = registry.read(key())
    registry.close()
    again = SqlRegistry.at(where)
    assert again.read(key()) == before
    again.close()


def test_a_newer_schema_is_refused(registry, where, behind):
    """A lake of a newer version is left alone, in words that say so."""
    registry.close()
    behind("INSERT INTO schema_version VALUES (99)")
    with pytest.raises(Misconfigured, match="newer version"):
        SqlRegistry.at(where)


HOSTILE = "a\0b\U0010ffff0 ü\0\0\U0010ffff"


def test_text_that_a_database_cannot_hold_comes_back_as_it_was(registry):
    """NUL, and the noncharacter that stands for it, in every text there is: nothing is lost, nothing blocks."""
    strange = key(HOSTILE, HOSTILE, HOSTILE)
    words = dict.fromkeys(("title", "url", "media_type", "language", "stale_reason", "moved_to"), HOSTILE)
    facts = ChildFacts(name=HOSTILE, status=ParseStatus.OK, title=HOSTILE)
    lists = {"metadata": {HOSTILE: HOSTILE}, "lineage": {"parser": HOSTILE}, "children": (facts,)}
    acl = Acl(levels=(frozenset({HOSTILE}),))
    row = DocumentRow(key=strange, acl=acl, **words, **lists)
    chunks = manifest(entry(0, heading_path=(HOSTILE,), child=HOSTILE))
    ended = line(HOSTILE, of=strange, detail=HOSTILE)
    assert registry.commit(row, expected_rev=0, manifests={"p": chunks}, entry=ended)
    assert registry.read(strange) == (msgspec.structs.replace(row, rev=1), {"p": chunks})
    assert registry.history(strange) == [ended] == [registry.ended(strange, HOSTILE)]
    assert [found.key for found in registry.find(HOSTILE)] == [found.key for found in registry.rows()] == [strange]


def test_half_a_surrogate_becomes_a_replacement_character(registry):
    """It is no character in any encoding: the document is kept, the half is not."""
    row = DocumentRow(key=key(), title="a\ud800b", metadata={"team": "\udfff"})
    assert registry.commit(row, expected_rev=0, manifests={"p": manifest(entry(0, heading_path=("\ud83d",)))})
    found, manifests = registry.read(key())
    assert (found.title, found.metadata) == ("a\ufffdb", {"team": "\ufffd"})
    assert manifests["p"].entries[0].heading_path == ("\ufffd",)


def test_keys_are_ordered_by_their_bytes(registry):
    """As Python orders them, whatever language the database was made for; so pages begin where the last one ended."""
    names = ["a", "B", "_", "ä", "z", "Z", "a b", "a-b", "ab", "10", "9", "é", "~", "日本", "😀", "ﬀ"]
    for name in names:
        assert registry.commit(DocumentRow(key=key(name)), expected_rev=0)
    assert [row.key.doc_id for row in registry.rows()] == sorted(names)


def test_what_permissions_name_is_known_by_tenant(registry, where):
    """Levels, deny and what waits; also by another process, and when the writer lost its race or was undone."""
    waiting = PendingAcl(acl=Acl(levels=(frozenset({"group:late"}),)), acl_version=4, version=99)
    asked = ["user:ana", "group:eng", "user:eve", "group:late", "group:other", "everyone", "a\0b"]
    assert registry.named("t", asked) == frozenset()
    publish(registry, "a", acl=ANA, pending=(waiting,))
    publish(registry, "b", acl=Acl(levels=(frozenset({"group:other", "a\0b"}),)), tenant="u")
    late = DocumentRow(key=key("a"), acl=Acl(levels=(frozenset({"group:other"}),)))
    assert not registry.commit(late, expected_rev=0)
    assert registry.named("t", asked) == {"user:ana", "group:eng", "user:eve", "group:late", "everyone"}
    assert registry.named("u", asked) == {"group:other", "a\0b"}
    assert registry.named("v", asked) == frozenset()
    other = SqlRegistry.at(where)
    assert registry.commit(late, expected_rev=1)
    assert "group:other" in other.named("t", asked)
    many = Acl(levels=(frozenset(f"group:{n}" for n in range(3000)),))
    publish(other, "many", acl=many)
    assert len(registry.named("t", [f"group:{n}" for n in range(5000)])) == 3000
    other.close()


def test_commits_together_are_one_transaction_in_which_a_loser_loses_alone(registry, where):
    """Another process sees all of them or none; one that comes too late leaves the others as they are."""
    other = SqlRegistry.at(where)
    publish(registry, "there")
    with registry.together():
        assert registry.commit(DocumentRow(key=key("a"), acl=ANA), expected_rev=0)
        assert registry.read(key("a"))[0].rev == 1
        assert not registry.commit(DocumentRow(key=key("there"), title="lost"), expected_rev=0)
        assert not registry.commit(DocumentRow(key=key("there"), title="lost"), expected_rev=9)
        assert registry.commit(DocumentRow(key=key("b")), expected_rev=0)
        assert other.row(key("a")) is None
    assert [other.row(key(name)).rev for name in ("a", "b", "there")] == [1, 1, 1]
    assert other.row(key("there")).title != "lost"
    other.close()


def test_commits_together_leave_nothing_when_the_block_raises(registry):
    """Not even what the process remembers of the names in permissions: they are written when they come again."""
    row = DocumentRow(key=key("a"), acl=ANA)

    def interrupted():
        with registry.together():
            assert registry.commit(row, expected_rev=0)
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        interrupted()
    assert registry.row(key("a")) is None
    assert registry.commit(row, expected_rev=0)
    assert registry.named("t", ["user:ana"]) == {"user:ana"}


def test_what_one_thread_does_together_is_not_anothers(registry):
    with registry.together():
        with ThreadPoolExecutor(1) as pool:
            assert pool.submit(registry.row, key("a")).result(timeout=10) is None
        assert registry.commit(DocumentRow(key=key("a")), expected_rev=0)
        with ThreadPoolExecutor(1) as pool:
            assert pool.submit(registry.row, key("a")).result(timeout=10) is None
    assert registry.row(key("a")) is not None
