"""`upwell serve` over a real Kafka and PostgreSQL with roles of their own, fed by real workers: governance holds."""

import json
import threading
from collections import Counter
from contextlib import closing

import httpx
import psycopg
import pytest

import agents
from broker import wait_for
from served_lake import READERS, ServedLake, permission, upsert
from upwell import wiring
from upwell.answers import EraseWish, Scope
from upwell.audit.records import AuditFilter
from upwell.cli.output import as_json
from upwell.erase.certificate import jwks_verifier, verified
from upwell.ports import Act
from upwell.records import DocKey
from upwell.runtime.serve.desk import AWAY

pytestmark = [pytest.mark.integration, pytest.mark.timeout(600)]
QUERY = {"query": "how long does the kiln cool?", "k": 20}


@pytest.fixture(scope="module")
def lake(tmp_path_factory):
    made = ServedLake(tmp_path_factory.mktemp("served"))
    yield made
    made.close()


@pytest.fixture
def http(lake):
    with httpx.Client(base_url=lake.url, timeout=60) as client:
        yield client


def hits(http, headers, query=QUERY):
    answer = http.post("/v1/search", json=query, headers=headers)
    assert answer.status_code == 200, answer.text
    return {hit["doc_id"]: hit for hit in answer.json()["hits"]}


def acts(lake, **which):
    """The audit's records of some kind, once nothing is owed any more."""
    wait_for(lambda: lake.operator._parts.registry.outbox.owed(1) == [], 60, "the ledger's worker has written all down")
    with closing(wiring.audit(lake.settings)) as audit:
        return [line.entry for line in audit.lines(AuditFilter(**which))]


def key(doc_id, tenant="default"):
    return DocKey(tenant=tenant, source="notes", doc_id=doc_id)


def points(lake, of):
    """What a rewritten point or payload would change."""
    parts = lake.operator._parts
    return parts.registry.row(of).rev, parts.store().present(of)


def test_an_event_becomes_an_answer_with_its_citation_and_goes_with_its_permission(lake, http):
    ana, eve = lake.bearer("ana", "staff"), lake.bearer("eve")
    kiln = upsert("kiln.md", "# Kiln\n\nThe kiln cools for nine hours.", levels=[["group:staff"]])
    assert lake.tell(kiln) == ["applied"]
    (hit,) = hits(http, ana).values()
    assert (hit["citation"], hit["version"], hit["text"]) == (
        "notes/kiln.md > Kiln", 1, "Kiln\n\nThe kiln cools for nine hours.",
    )  # fmt: skip
    assert hits(http, eve) == {}
    assert http.get("/v1/documents/kiln.md", headers=ana).status_code == 200

    assert lake.tell(permission("kiln.md", 2, ["group:board"])) == ["applied"]
    assert hits(http, ana) == {}
    hidden, nowhere = (http.get(f"/v1/documents/{name}.md", headers=ana) for name in ("kiln", "nowhere"))
    assert (hidden.status_code, hidden.text.replace("kiln", "nowhere")) == (404, nowhere.text)
    assert set(hits(http, lake.bearer("bo", "board"))) == {"kiln.md"}


def test_a_membership_counts_at_once_and_rewrites_no_point(lake, http):
    """Through groups in groups; where the directory is fed a token's own groups count for nothing."""
    bob, eve = lake.bearer("bob", tenant="other"), lake.bearer("eve", "eng", tenant="other")
    lake.tell(upsert("plan.md", "The kiln is for engineers.", levels=[["group:eng"]]), tenant="other")
    before = points(lake, key("plan.md", "other"))
    seen = [set(hits(http, eve))]
    for principal, groups in (
        ("group:core", ["group:eng"]), ("user:bob", ["group:core"]), ("group:core", []), ("user:bob", ["group:eng"]),
    ):  # fmt: skip
        lake.put_member(principal, *groups, tenant="other")
        seen.append(set(hits(http, bob)))
    assert seen == [{"plan.md"}, set(), {"plan.md"}, set(), {"plan.md"}]
    assert hits(http, eve) == {}
    assert points(lake, key("plan.md", "other")) == before


def test_two_tenants_with_the_same_ids_stay_apart(lake, http):
    """In answers, in MCP's resources, and in the database whatever a session of the readers' role asks."""
    words = {"default": "The kiln of ours.", "other": "The kiln of theirs."}
    for tenant, text in words.items():
        lake.tell(upsert("same.md", text), tenant=tenant)
    lake.put_member("user:ana", tenant="other")
    for tenant, text in words.items():
        ana = lake.bearer("ana", tenant=tenant)
        assert hits(http, ana)["same.md"]["text"] == text
        assert http.get("/v1/documents/same.md", headers=ana).json()["sections"][0]["text"] == text
        read, listed = agents.talk_http(lake.url, ana, resources)
        assert read.contents[0].text == text
        assert len([one for one in listed if one.name == "same.md"]) == 1
        assert text in agents.talk_http(lake.url, ana, lambda client: client.call_tool("fetch", {"doc_id": "same.md"})
        ).content[0].text  # fmt: skip
    with lake.connection(READERS) as session:
        assert session.execute("SELECT * FROM documents").fetchall() == []
        with session.transaction():
            session.execute("SELECT set_config('upwell.tenant', 'other', true)")
            assert session.execute("SELECT DISTINCT tenant FROM documents").fetchall() == [("other",)]


async def resources(client):
    return await client.read_resource("upwell://notes/same.md"), (await client.list_resources()).resources


@pytest.mark.parametrize(
    "statement",
    [
        "SELECT body FROM audit",
        "DELETE FROM audit",
        "UPDATE audit SET body = ''",
        "SELECT * FROM dead_letters",
        "SELECT body FROM events",
        "SELECT * FROM outbox",
        "INSERT INTO principals VALUES ('default', 'user:eve', 1, 0, 0)",
        "UPDATE documents SET acl = '{}'",
        "CREATE TABLE mine (x int)",
    ],
)
def test_the_readers_role_may_read_what_it_answers_from_and_append_to_the_audit(lake, statement):
    with lake.connection(READERS) as session, pytest.raises(psycopg.errors.InsufficientPrivilege):
        session.execute(statement)


def test_an_erased_document_is_gone_with_a_certificate(lake, http):
    lake.tell(upsert("secret.md", "The kiln of the secret."))
    ana = lake.bearer("ana")
    assert "secret.md" in hits(http, ana)
    answer = lake.operator.erase_all(EraseWish(scope=Scope.DOCUMENT, name="secret.md", source="notes"))
    assert answer.remaining == ()
    known = jwks_verifier(json.dumps(lake.key.public_jwks()).encode())
    assert verified(as_json(answer).encode(), known).valid
    assert "secret.md" not in hits(http, ana)
    assert http.get("/v1/documents/secret.md", headers=ana).status_code == 404


def test_every_act_is_in_the_audit_once_and_it_verifies(lake, http):
    doc = "audited.md"
    with closing(wiring.audit(lake.settings)) as audit:
        before = Counter(line.entry.get("act") for line in audit.lines(AuditFilter(act=Act.SEARCH)))
    lake.tell(upsert(doc, "The kiln is audited."))
    lake.tell(permission(doc, 2, ["user:ana"]))
    lake.put_member("user:ana", "group:audited", tenant="other")
    ana = lake.bearer("ana")
    shown = hits(http, ana)
    assert doc in shown
    refused = http.post("/v1/search", json=QUERY, headers={"Authorization": "Bearer x.y.z"})
    assert refused.status_code == 401
    lake.operator.erase_all(EraseWish(scope=Scope.DOCUMENT, name=doc, source="notes"))

    of_document = [entry for entry in acts(lake) if (entry.get("document") or {}).get("doc_id") == doc]
    done = Counter((entry["act"], entry["outcome"]) for entry in of_document)
    assert done["publish", "applied"] == done["permission", "applied"] == 1
    assert done["erase", "applied"] >= 1
    (searched,) = acts(lake, act=Act.SEARCH)[before["search"] :]
    assert (searched["actor"], searched["via"], searched["tenant"]) == ("user:ana", "http", "default")
    assert {hit.split("#")[0] for hit in searched["hits"]} == {f"notes/{name}" for name in shown}
    assert "kiln" not in json.dumps(searched["query"])
    assert [e["principals"] for e in acts(lake, act=Act.MEMBERSHIP)].count(["user:ana"]) == 2
    assert acts(lake, act=Act.REFUSED)[-1]["reason"] == "malformed"

    assert lake.stop_serving() == 0
    with closing(wiring.audit(lake.settings)) as audit:
        reports = list(audit.verify())
    assert [report.bad for report in reports if report.bad] == []
    assert all(report.signed for report in reports)
    assert sum(report.closed for report in reports) >= 1
    lake.start_serving()


def test_answers_need_no_broker(lake, http):
    """How fresh sources are, too, by what the ledger said last."""
    ana = lake.bearer("ana")
    assert "same.md" in hits(http, ana)
    lake.fleet.broker.pause()
    try:
        assert lake.ready()
        assert "same.md" in hits(http, ana)
        for route in ("/v1/sources", "/v1/freshness?source=notes"):
            answer = http.get(route, headers=ana)
            (source,) = answer.json()["sources"]
            assert source["source"] == "notes"
            assert source["watermark"] is not None
            assert answer.elapsed.total_seconds() < 4, "nobody was waited for"
        stale = [http.get("/v1/sources", headers=ana).json()["sources"][0]["staleness_s"] for _ in range(2)]
        assert stale[0] < stale[1], "the ledger hears nothing new, and nothing newer is promised"
        assert lake.stop_serving() == 0
        lake.start_serving()
        assert "same.md" in hits(http, ana)
    finally:
        lake.fleet.broker.resume()


def test_while_the_store_is_away_nothing_is_answered_and_nothing_pretends(lake, http):
    ana, store = lake.bearer("ana"), lake.fleet.store
    start, store.start = store.start, lambda: None
    try:
        store.end()
        assert not lake.ready()
        assert http.post("/v1/search", json=QUERY, headers=ana).status_code == 503
    finally:
        store.start = start
    wait_for(lake.ready, 60, "the store is back")
    assert "same.md" in hits(http, ana)


class Asking(threading.Thread):
    """Somebody who asks all the time, and keeps every answer."""

    def __init__(self, lake, headers):
        super().__init__(daemon=True)
        self.lake, self.headers = lake, headers
        self.answers = []
        self.stopped = threading.Event()

    def run(self):
        with httpx.Client(base_url=self.lake.url, headers=self.headers, timeout=60) as http:
            while not self.stopped.is_set():
                answer = http.post("/v1/search", json=QUERY)
                body = answer.json()
                shown = frozenset(hit["doc_id"] for hit in body["hits"]) if answer.status_code == 200 else None
                self.answers.append((answer.status_code, shown))


def kill_and_start(lake, http, askers):
    """End the database in the midst of their searches, see that everybody is told, and start it again."""
    asked = len(askers[0].answers)
    wait_for(lambda: len(askers[0].answers) > asked + 3, 60, "searches are under way")
    lake.fleet.postgres.kill()
    wait_for(lambda: all(one.answers and one.answers[-1][0] == 503 for one in askers), 60, "it is noticed")
    assert not lake.ready()
    away = http.get("/v1/sources", headers=lake.bearer("ana"))
    assert (away.status_code, away.json()["detail"]) == (503, AWAY), "nothing of where the database is"
    lake.fleet.postgres.start()
    wait_for(lambda: all(one.answers[-1][0] == 200 for one in askers), 120, "answers again")


def test_a_database_that_is_killed_in_the_midst_of_searches_costs_answers_and_no_right(lake, http):
    """Every answer is whole or 503, through three kill -9; a right that is withdrawn meanwhile stays withdrawn."""
    lake.tell(upsert("hers.md", "The kiln of ana.", levels=[["user:ana"]]))
    lake.tell(upsert("lost.md", "The kiln of old.", levels=[["user:ana"]]), permission("lost.md", 2, ["group:board"]))
    right = {name: frozenset(hits(http, lake.bearer(name))) for name in ("ana", "eve")}
    assert right["ana"] - right["eve"] == {"hers.md"}
    askers = {name: [Asking(lake, lake.bearer(name)) for _ in range(4)] for name in right}
    everyone = [one for some in askers.values() for one in some]
    for one in everyone:
        one.start()
    try:
        for _ in range(3):
            kill_and_start(lake, http, everyone)
    finally:
        for one in everyone:
            one.stopped.set()
            one.join(60)
    for name, some in askers.items():
        assert {answer for one in some for answer in one.answers} == {(200, right[name]), (503, None)}
    wait_for(lake.ready, 60, "ready again")
    with closing(wiring.audit(lake.settings)) as audit:
        assert [report.bad for report in audit.verify() if report.bad] == []


def test_a_right_that_the_role_loses_shows_nothing_and_names_nothing(lake, http):
    """The operator's log says what is wrong; whoever asks is told to come again."""
    ana = lake.bearer("ana")
    for right in ("SELECT ON documents", "INSERT ON audit"):
        what, of = right.split(" ON ")
        lake.fleet.postgres.run(f"REVOKE {what} ON {of} FROM lake_readers", lake.database)
        try:
            answer = http.post("/v1/search", json=QUERY, headers=ana)
        finally:
            lake.fleet.postgres.run(f"GRANT {what} ON {of} TO lake_readers", lake.database)
        assert (answer.status_code, answer.json()["error"]) == (503, "Retryable")
        assert "permission" not in answer.text
        assert f"permission denied for table {of}" in lake.log()
    assert "same.md" in hits(http, ana)
