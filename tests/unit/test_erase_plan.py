"""What an erasure means, what it says of itself, and what it has to leave: pure functions."""

import pytest

from upwell.access import EVERYONE
from upwell.answers import EraseWish, Scope
from upwell.erase import plan
from upwell.erase.plan import Ended, Found
from upwell.erase.remaining import Left, Surroundings, Topics, remainders, searched
from upwell.errors import Misconfigured
from upwell.ports import DocumentRow, PendingAcl
from upwell.records import Acl, DocKey

DAY = 24 * 60 * 60 * 1_000_000
KEY = DocKey(tenant="t", source="s", doc_id="a.md")
TOPICS = Topics(
    forgetting=(("changes", 7.0), ("dead", 90.0)),
    passing=(("control", 7.0),),
    members="principals",
    compaction_lag_days=2.0,
)
HERE = Surroundings(lake="/lake")
SERVERS = Surroundings(lake="kafka:9092", registry_server=True, store_server=True, blobs="s3", topics=TOPICS)


def row(*levels, deny=(), pending=()):
    acl = Acl(levels=tuple(frozenset(level) for level in levels), deny=frozenset(deny))
    return DocumentRow(key=KEY, acl=acl, pending=pending)


def test_a_person_is_alone_with_a_document_when_one_level_holds_nobody_else():
    ana = "user:ana"
    assert plan.alone(row({ana}), ana)
    assert plan.alone(row({ana, "group:staff"}, {ana}), ana)
    assert not plan.alone(row({ana, "user:ben"}), ana)
    assert not plan.alone(row({ana, EVERYONE}), ana)
    assert not plan.alone(row(), ana)
    assert not plan.alone(row({"user:ben"}), ana)
    waits = PendingAcl(acl=Acl(levels=(frozenset({ana}),)), acl_version=2, version=2)
    assert plan.alone(row({EVERYONE}, pending=(waits,)), ana), "what waits narrows already"


def test_a_permission_names_whom_it_admits_denies_or_will_admit():
    ana = "user:ana"
    waits = PendingAcl(acl=Acl(levels=(frozenset({ana}),)), acl_version=2, version=2)
    assert plan.names(row({ana}), ana)
    assert plan.names(row({EVERYONE}, deny={ana}), ana)
    assert plan.names(row({EVERYONE}, pending=(waits,)), ana)
    assert not plan.names(row({EVERYONE}), ana)


@pytest.mark.parametrize("name", ["group:staff", "role:admin", "everyone", "domain:example.org", "ana"])
def test_only_a_person_can_be_forgotten(name):
    with pytest.raises(Misconfigured, match="only a user"):
        plan.principal_of(EraseWish(scope=Scope.PRINCIPAL, name=name))


def test_a_topic_lets_go_at_a_date_that_holds_for_a_silent_partition_too():
    left = remainders(SERVERS, Left(documents=1), 0)
    by_place = {one.place: one for one in left}
    assert by_place["topic changes"].until == "1970-01-08T12:00:00.000000Z"
    assert "1970-01-03" in by_place["topic changes"].bound
    assert by_place["topic dead"].until == "1970-04-01T12:00:00.000000Z"
    assert by_place["topic control"].until == "1970-01-15T00:00:00.000000Z"


def test_each_kind_of_place_says_what_it_keeps():
    def places(where, **left):
        return [one.place for one in remainders(where, Left(**left), DAY)]

    assert places(HERE, documents=1) == ["registry", "certificates", "audit", "outside the lake"]
    assert "folder memory" in places(HERE, documents=1, remembered=1)
    assert {"PostgreSQL", "Qdrant", "blobs (s3)", "topic dead"} <= set(places(SERVERS, documents=1))
    assert places(HERE, principal=True, directory=True, permissions=2)[:3] == [
        "directory",
        "permissions",
        "permissions",
    ]
    assert "topic principals" in places(SERVERS, directory=True)
    assert "topic dead" not in places(SERVERS, directory=True)
    assert "files" in " ".join(searched(HERE))
    assert "files" not in " ".join(searched(SERVERS))


def test_the_audit_says_whether_it_keeps_words():
    def kept(where):
        return next(one.what for one in remainders(where, Left(), 0) if one.place == "audit")

    assert "hashes of queries" in kept(HERE)
    assert "words of queries" in kept(Surroundings(lake="x", query_words=True))


def test_a_certificate_names_documents_or_digests_as_was_wished():
    ended = Ended(fences={KEY: 7}, events=3, remaining=(), left=Left(documents=1), removed={"points": 0, "blobs": 0})
    named, blank = (
        plan.certified(EraseWish(scope=Scope.DOCUMENT, name="a.md", names=names), ended, HERE, DAY)
        for names in (True, False)
    )
    assert (named.documents[0].doc_id, named.documents[0].version, named.name) == ("a.md", 7, "a.md")
    assert (blank.documents[0].doc_id, blank.documents[0].source) == (None, None)
    assert "a.md" not in blank.name
    assert named.documents[0].digest == blank.documents[0].digest == KEY.digest
    assert named.removed == {"points": 0}
    assert named.events == {"ended": 3, "pending": 0}


def test_a_dry_run_has_no_certificate_and_says_what_would_stay():
    found = Found(keys=(KEY,), listed=(KEY,))
    answer = plan.expected(EraseWish(scope=Scope.SOURCE, name="s"), found, {"points": 2, "links": 0}, HERE)
    assert (answer.dry_run, answer.certificate, answer.removed, answer.listed) == (
        True,
        None,
        {"points": 2},
        ("s/a.md",),
    )
    assert any(text.startswith("stays in registry:") for text in answer.warnings)
