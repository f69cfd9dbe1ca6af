"""What readers browse by (ports.browsing.Browsing): kept up by each commit, one tenant at a time, filled by a migration."""

import msgspec
import pytest

from upwell.database import open_database, transaction
from upwell.lake.links import names_of, url_name
from upwell.lake.registry import SqlRegistry
from upwell.ports import DocumentRow, Manifest
from upwell.records import Acl, DocKey

PUBLIC = Acl(levels=(frozenset({"everyone"}),))
BOARD = Acl(levels=(frozenset({"group:board"}),))


class Clock:
    def __init__(self):
        self.now = 1_000

    def __call__(self):
        return self.now


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture(params=["sqlite", pytest.param("postgresql", marks=pytest.mark.integration)])
def where(request, tmp_path):
    sqlite = request.param == "sqlite"
    return tmp_path / "registry.sqlite" if sqlite else request.getfixturevalue("postgres_url")


@pytest.fixture
def registry(where, clock):
    opened = SqlRegistry.at(where, clock)
    yield opened
    opened.close()


def key(name="a", tenant="t", source="s"):
    return DocKey(tenant=tenant, source=source, doc_id=name)


def put(registry, of, *, manifests=True, **changes):
    """Commit a document with these fields changed."""
    old = registry.row(of) or DocumentRow(key=of, version=1, acl=PUBLIC)
    row = msgspec.structs.replace(old, **changes)
    assert registry.commit(row, expected_rev=old.rev, manifests={"p": Manifest()} if manifests else None)
    return of.digest


def changed(registry, after=(0, ""), tenant="t", limit=99, **how):
    return [(g.doc, g.changed_at) for g in registry.browsing(tenant).changed(after, limit=limit, **how)]


def test_changes_are_in_the_order_of_their_commits(registry, clock):
    """By time and digest; a page goes on after its last."""
    docs = []
    for name in "abcd":
        clock.now += 10
        docs.append((put(registry, key(name)), clock.now))
    assert changed(registry) == docs
    assert changed(registry, docs[1][::-1], limit=1) == [docs[2]]
    assert changed(registry, tenant="u") == []
    put(registry, key("x", source="other"))
    assert changed(registry, sources={"s"}) == docs


@pytest.mark.parametrize(
    "fields",
    [
        {"version": 2},
        {"content_sha256": "ff"},
        {"acl": BOARD},
        {"title": "New"},
        {"url": "https://x.org/"},
        {"deleted": True, "rank": 1},
        {"searchable_at": 5},
    ],
)
def test_what_a_reader_could_see_is_a_change(registry, clock, fields):
    doc = put(registry, key())
    clock.now += 10
    put(registry, key(), **fields)
    assert changed(registry) == [(doc, clock.now)]


@pytest.mark.parametrize(
    "fields", [{"failed_version": 3, "stale_reason": "corrupt"}, {"hold": True}, {"received_at": 9}]
)
def test_what_no_reader_could_see_is_none(registry, clock, fields):
    doc = put(registry, key())
    first = clock.now
    clock.now += 10
    put(registry, key(), **fields)
    assert changed(registry) == [(doc, first)]


def test_a_row_without_content_and_an_erased_one_are_not_there(registry):
    """A permission that came before its document; a document that is to be forgotten, with its links."""
    put(registry, key("early"), version=-1)
    put(registry, key("a"), links=("b",))
    put(registry, key("a"), manifests=False, rank=2, deleted=True)
    assert changed(registry) == []
    assert registry.browsing("t").sources() == []
    assert registry.browsing("t").callers(names_of(DocumentRow(key=key("b"))), "", 9) == []


def test_sources_are_one_tenant_s(registry):
    for source in ("s", "a", "z"):
        put(registry, key(source=source))
    put(registry, key(source="theirs", tenant="u"))
    assert registry.browsing("t").sources() == ["a", "s", "z"]
    assert registry.browsing("u").sources() == ["theirs"]


def test_each_permission_of_a_source_is_there_once(registry):
    """A living document of each; a tombstone's permission is nobody's way in."""
    many = [Acl(levels=(frozenset({f"user:{n}"}),)) for n in range(5)]
    for n in range(15):
        put(registry, key(f"{n}"), acl=many[n % 5])
    put(registry, key("gone"), acl=BOARD, deleted=True, rank=1)
    docs = registry.browsing("t").permissions("s", 99)
    keys = registry.browsing("t").keys(docs)
    assert len(docs) == 5
    assert {registry.row(of).acl for of in keys.values()} == set(many)
    assert len(registry.browsing("t").permissions("s", 3)) == 3
    assert registry.browsing("u").permissions("s", 9) == []


def test_documents_are_found_by_their_names_and_by_who_calls_them(registry):
    """Key and url; from both ends, and no longer when the link has gone."""
    target = put(registry, key("dir/b"), url="https://x.org/b#part")
    caller = put(registry, key("dir/a"), links=("b", "https://X.org/b", "#here"))
    browsing = registry.browsing("t")
    names = names_of(registry.row(key("dir/b")))
    assert names == (target, url_name("t", "http://x.org/b"))
    assert browsing.named(names) == {name: [target] for name in names}
    assert list(browsing.callers(names, "", 9)) == [caller]
    assert list(browsing.callers(names, caller, 9)) == []
    put(registry, key("dir/a"), manifests=False, title="New")
    assert list(browsing.callers(names, "", 9)) == [caller]
    put(registry, key("dir/a"), links=())
    assert list(browsing.callers(names, "", 9)) == []


def test_another_tenant_s_documents_have_no_names_here(registry):
    theirs = put(registry, key("a", tenant="u"), url="https://x.org/")
    browsing = registry.browsing("t")
    assert browsing.named([theirs, url_name("u", "https://x.org/")]) == {}
    assert browsing.keys([theirs]) == {}


def test_the_longest_links_and_urls_are_kept(registry):
    """Names are hashes, whose indexes have no limit to meet."""
    long = "https://x.org/" + "é" * 1_900
    put(registry, key("a"), url=long, links=tuple(f"{long}{n}" for n in range(500)))
    assert registry.browsing("t").named([url_name("t", long)])


def test_a_registry_from_before_is_filled(registry, where, clock):
    """What a migration notes is what commits would have noted, at the times of the documents."""
    put(registry, key("a"), searchable_at=77, links=("b",))
    put(registry, key("b"), deleted=True, rank=1, received_at=88)
    put(registry, key("c"), version=-1)
    before = {g.doc: g for g in registry.browsing("t").changed((0, ""), limit=9)}
    engine = open_database(where)
    from upwell.lake.browsing import fill

    with transaction(engine, "registry") as connection:
        connection.exec_driver_sql("DELETE FROM browsing")
        connection.exec_driver_sql("DELETE FROM links")
        fill(connection)
    engine.dispose()
    after = {g.doc: g for g in registry.browsing("t").changed((0, ""), limit=9)}
    times = {key("a").digest: 77, key("b").digest: 88}
    assert after == {doc: msgspec.structs.replace(g, changed_at=times[doc]) for doc, g in before.items()}
    assert list(registry.browsing("t").callers([key("b").digest], "", 9)) == [key("a").digest]
