"""What the directory promises (ports.Directory), and who an asker is by it (Registry.standing, Registry.snapshot)."""

import itertools
import random
import threading

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from upwell.access import Asker, Standing, reader
from upwell.errors import Rejected
from upwell.lake.registry import SqlRegistry
from upwell.records import Membership

NOBODY = Standing(reason="unknown_user")


@pytest.fixture(params=["sqlite", pytest.param("postgresql", marks=pytest.mark.integration)])
def registry(request, tmp_path):
    """A registry in a database of each kind, empty."""
    sqlite = request.param == "sqlite"
    found = SqlRegistry.at(tmp_path / "registry.sqlite" if sqlite else request.getfixturevalue("postgres_url"))
    yield found
    found.close()


def member(principal, *groups, version=1, tenant="t", **more):
    return Membership(tenant=tenant, principal=principal, version=version, member_of=frozenset(groups), **more)


def put(registry, *said):
    for one in said:
        assert registry.directory.put(one)


def who(registry, *principals, claimed=(), tenant="t"):
    """The asker's principals, the same by `standing` and in a snapshot; or why they have none."""
    asker = Asker(tenant=tenant, principals=frozenset(principals), claimed=frozenset(claimed))
    standing = registry.standing(asker)
    assert registry.snapshot("p", asker=asker).standing == standing
    return standing


def allowed(*principals):
    return Standing(principals=reader(*principals))


def test_without_a_directory_a_token_is_believed(registry):
    """Claimed groups count; another tenant's directory changes nothing."""
    put(registry, member("user:ana", "group:eng", tenant="u"))
    assert who(registry, "user:ana", claimed=["group:a"]) == allowed("user:ana", "group:a")


def test_a_fed_directory_alone_says_who_is_in_which_group(registry):
    """Nested groups to the end, claims for nothing, other tenants' groups never."""
    put(
        registry,
        member("user:ana", "group:eng"),
        member("group:eng", "group:staff"),
        member("group:staff", "group:all", "domain:example.org"),
        member("group:eng", "group:theirs", tenant="u"),
        member("user:bob"),
    )
    groups = ("group:eng", "group:staff", "group:all", "domain:example.org")
    assert who(registry, "user:ana", claimed=["group:admin"]) == allowed("user:ana", *groups)
    assert who(registry, "user:bob") == allowed("user:bob")


def test_groups_that_an_operator_names_are_certain_and_expanded(registry):
    """With a user or without one."""
    put(registry, member("user:ana"), member("group:eng", "group:staff"))
    assert who(registry, "user:ana", "group:eng") == allowed("user:ana", "group:eng", "group:staff")
    assert who(registry, "group:eng") == allowed("group:eng", "group:staff")
    assert who(registry, "group:never-heard-of") == allowed("group:never-heard-of")


def test_a_user_whom_the_directory_does_not_know_is_nobody(registry):
    """Not even everyone, whatever else they are; no claim helps, nor a known second user."""
    put(registry, member("user:ana"), member("user:eve", "group:eng"), member("group:eng"))
    assert who(registry, "user:mallory", "group:eng", claimed=["group:eng"]) == NOBODY
    assert who(registry, "user:ana", "user:mallory") == NOBODY
    put(registry, member("user:eve", version=2, gone=True))
    assert who(registry, "user:eve") == NOBODY
    put(registry, member("user:eve", version=3))
    assert who(registry, "user:eve") == allowed("user:eve")


def test_a_directory_that_has_been_fed_stays_fed(registry):
    """Also when the last whom it knew is gone, so that no claim counts again; until the tenant is erased."""
    assert who(registry, "user:ana", claimed=["group:eng"]) == allowed("user:ana", "group:eng")
    put(registry, member("user:ana", "group:eng"), member("user:ana", tenant="u"))
    assert not registry.directory.forget("t"), "somebody is known"
    put(registry, member("user:ana", version=2, gone=True))
    assert who(registry, "user:ana", claimed=["group:eng"]) == NOBODY
    assert who(registry, "group:eng", claimed=["group:hr"]) == allowed("group:eng")
    assert registry.directory.forget("t")
    assert registry.directory.forget("t"), "once more changes nothing"
    assert who(registry, "user:ana", claimed=["group:eng"]) == allowed("user:ana", "group:eng")
    assert who(registry, "user:ben", tenant="u") == NOBODY
    assert not registry.directory.put(member("user:ana", "group:eng", version=1)), "an old word does not come back"


def test_a_group_that_is_gone_lets_nobody_through(registry):
    """Neither itself nor what it was in, though its members are still said to be in it."""
    put(registry, member("user:ana", "group:eng", "group:a"), member("group:eng", "group:staff"))
    put(registry, member("group:eng", version=2, gone=True))
    assert who(registry, "user:ana") == allowed("user:ana", "group:a")


def test_cycles_end(registry):
    """Groups in each other, and in themselves."""
    put(registry, member("user:ana", "group:a"), member("group:a", "group:b", "group:a"), member("group:b", "group:a"))
    assert who(registry, "user:ana") == allowed("user:ana", "group:a", "group:b")


def test_the_newest_version_wins_in_any_order(registry):
    """An older or an equal one writes nothing, also after the principal is gone."""
    said = [member("user:ana", f"group:{n}", version=n) for n in range(1, 6)]
    said.append(member("user:ana", version=6, gone=True))
    random.Random(5).shuffle(said)
    highest = 0
    for one in said:
        assert registry.directory.put(one) == (one.version > highest)
        highest = max(highest, one.version)
        assert not registry.directory.put(one)
    assert list(registry.directory.members("t")) == []
    back = member("user:ana", "group:1", "group:x", version=7, received_at=9)
    assert registry.directory.put(back)
    assert list(registry.directory.members("t", "user:ana")) == [back]


def test_members_are_listed_by_name(registry):
    """Page after page, each once, of one tenant; those gone are left out; one alone by its name."""
    names = sorted(f"user:{n}" for n in range(1001))
    put(registry, *(member(name, "group:a", "group:b") for name in names), member("user:theirs", tenant="u"))
    put(registry, member("user:17", version=2, gone=True))
    assert [m.principal for m in registry.directory.members("t")] == [name for name in names if name != "user:17"]
    assert list(registry.directory.members("t", "user:3")) == [member("user:3", "group:a", "group:b")]
    assert list(registry.directory.members("t", "user:17")) == []


@pytest.mark.parametrize("wrong", [member("everyone", "group:a"), member("user:ana", "user:bob")])
def test_what_is_no_membership_is_refused(registry, wrong):
    """Nobody becomes another user, and everyone is in no group."""
    with pytest.raises(Rejected):
        registry.directory.put(wrong)
    assert list(registry.directory.members("t")) == []


def test_names_that_a_database_cannot_hold(registry):
    """NUL, quotes and the noncharacter that stands for NUL: a name is only ever equal to itself."""
    strange = "group:a\0b\U0010ffff0'\"%"
    put(registry, member("user:\0", strange), member(strange, "group:\U0010ffff"))
    assert who(registry, "user:\0") == allowed("user:\0", strange, "group:\U0010ffff")


def test_rivals_leave_the_newest(registry):
    """Four threads write versions of one principal: what stays is the newest, whole."""

    def write(start):
        for version in range(start, 41, 4):
            registry.directory.put(member("user:ana", *(f"group:{version}-{n}" for n in range(5)), version=version))

    threads = [threading.Thread(target=write, args=(start,)) for start in range(1, 5)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    (found,) = registry.directory.members("t")
    assert found == member("user:ana", *(f"group:40-{n}" for n in range(5)), version=40)


def test_thousands_of_groups_and_names(registry):
    """Five thousand direct groups in a chain of a thousand more; an operator may name as many."""
    put(registry, member("user:ana", *(f"group:{n}" for n in range(5000))))
    put(registry, *(member(f"group:{n}", f"group:{n + 1}") for n in range(4999, 5999)))
    assert who(registry, "user:ana").principals == reader("user:ana", *(f"group:{n}" for n in range(6000)))
    named = [f"group:{n}" for n in range(2000, 5000)]
    assert who(registry, *named).principals == reader(*named, *(f"group:{n}" for n in range(5000, 6000)))


NAMES = [f"group:{n}" for n in range(6)]


@pytest.fixture(scope="module")
def shared(tmp_path_factory):
    """One registry for many examples, each a tenant of its own."""
    found = SqlRegistry.at(tmp_path_factory.mktemp("lake") / "registry.sqlite")
    yield found, itertools.count()
    found.close()


@settings(deadline=None)
@given(
    edges=st.dictionaries(st.sampled_from(["user:ana", *NAMES]), st.frozensets(st.sampled_from(NAMES))),
    gone=st.frozensets(st.sampled_from(NAMES)),
)
def test_the_closure_is_what_a_walk_finds(shared, edges, gone):
    """Any graph, cycles and gone groups included, against a walk in Python."""
    registry, numbers = shared
    tenant = str(next(numbers))
    edges = {"user:ana": frozenset()} | edges
    for name, groups in edges.items():
        put(registry, member(name, *groups, tenant=tenant))
    for name in gone:
        put(registry, member(name, version=2, gone=True, tenant=tenant))
    found, waiting = {"user:ana"}, ["user:ana"]
    while waiting:
        new = edges.get(waiting.pop(), frozenset()) - gone - found
        found |= new
        waiting.extend(new)
    assert who(registry, "user:ana", tenant=tenant).principals == reader(*found)


def test_what_is_kept_is_never_older_than_the_question(registry):
    """Each change is seen by the next question, also one written by another process, or undone."""
    others = SqlRegistry(registry.directory._engine)
    for version in range(1, 30):
        by = (registry, others)[version % 2]
        assert by.directory.put(member("user:ana", f"group:{version % 3}", version=version))
        for asked in (registry, others, registry):
            assert who(asked, "user:ana") == allowed("user:ana", f"group:{version % 3}")


def test_no_more_is_kept_than_fits(registry, monkeypatch):
    """What is dropped is asked for again; tenants and claims are told apart."""
    monkeypatch.setattr("upwell.lake.directory.MOST_NAMES", 10)
    for tenant in ("t", "u"):
        put(registry, *(member(f"user:{n}", f"group:{n}", f"group:{tenant}", tenant=tenant) for n in range(8)))
    for _ in range(2):
        for n in range(8):
            for tenant in ("t", "u"):
                groups = (f"group:{n}", f"group:{tenant}")
                assert who(registry, f"user:{n}", tenant=tenant) == allowed(f"user:{n}", *groups)
    assert len(registry._standings._kept) == 2
