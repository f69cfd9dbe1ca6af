"""The read side over HTTP: who is let in, what may be asked, how each trouble looks."""

from urllib.parse import quote

import pytest

from readers import HARD, ODD, serving
from upwell.errors import Misconfigured, Retryable
from upwell.ports import Act
from upwell.runtime.serve import guests as waiting_room


@pytest.fixture
def service(tmp_path):
    with serving(tmp_path) as made:
        made.lake.put("plain.md", "the giraffe is tall")
        made.lake.put("secret.md", "the giraffe costs much", levels=[frozenset({"group:board"})])
        made.lake.put("theirs.md", "the giraffe of others", tenant="other")
        yield made


def refusal(answer):
    body = answer.json()
    assert body.keys() == {"error", "reason", "detail"}
    return answer.status_code, body["error"]


def test_a_search_shows_what_the_token_may_see_and_nothing_else(service):
    answer = service.http.post("/v1/search", json={"query": "giraffe"})
    assert answer.status_code == 200
    assert [hit["doc_id"] for hit in answer.json()["hits"]] == ["plain.md"]
    (asked,) = service.lake.asked
    assert (asked.actor, asked.via, asked.asker.tenant) == ("user:ana", "http", "default")


def test_another_tenants_token_reads_that_tenant(service):
    answer = service.http.post(
        "/v1/search", json={"query": "giraffe"}, headers=service.bearer("eve", "staff", tenant="other")
    )
    assert [hit["doc_id"] for hit in answer.json()["hits"]] == ["theirs.md"]


@pytest.mark.parametrize("field", ["principals", "tenant", "groups", "as", "asker", "reader"])
def test_a_question_cannot_say_who_asks(service, field):
    body = {"query": "giraffe", field: ["group:board"]}
    assert refusal(service.http.post("/v1/search", json=body)) == (422, "Rejected")
    assert refusal(service.http.post(f"/v1/search?{field}=group:board", json={"query": "x"})) == (422, "Rejected")
    assert refusal(service.http.get(f"/v1/documents/plain.md?{field}=group:board")) == (422, "Rejected")
    assert service.lake.asked == []


@pytest.mark.parametrize("authorization", ["", "Bearer", "Bearer x.y.z", "Basic YTpi", "Bearer \xff"])
def test_without_a_token_nothing_is_said_and_the_audit_knows_why(service, authorization):
    answer = service.http.post(
        "/v1/search", json={"query": "giraffe"}, headers={"Authorization": authorization.encode("latin-1")}
    )
    assert refusal(answer) == (401, "Unauthorized")
    assert answer.headers["WWW-Authenticate"] == "Bearer"
    (entry,) = service.audit.entries
    assert (entry.act, entry.outcome, entry.via) == (Act.REFUSED, "refused", "http")
    assert entry.reason in {"no_token", "malformed"}
    assert service.lake.asked == []


def test_an_expired_token_and_one_for_others_are_told_apart_in_the_audit_alone(service):
    old = service.bearer("ana", ttl_s=1, now=1_700_000_000_000_000)
    astray = service.bearer("ana", audience="elsewhere")
    said = [service.http.get("/v1/sources", headers=headers).json() for headers in (old, astray)]
    assert said[0] == said[1]
    assert [entry.reason for entry in service.audit.entries] == ["expired", "wrong_audience"]


def test_a_refusal_holds_while_the_audit_is_away(service):
    service.audit.trouble = True
    assert service.http.get("/v1/sources", headers={"Authorization": ""}).status_code == 401


def test_a_flood_of_refusals_is_written_as_a_number(service, monkeypatch):
    monkeypatch.setattr(waiting_room, "MOST_REFUSALS", 3)
    for _ in range(8):
        service.http.get("/v1/sources", headers={"Authorization": ""})
    assert 3 <= len(service.audit.entries) <= 6  # two minutes at most


@pytest.mark.parametrize("doc_id", ODD)
@pytest.mark.parametrize("route", ["documents", "outline", "related"])
def test_every_id_is_reached(service, route, doc_id):
    service.lake.put(doc_id, "words")
    answer = service.http.get(f"/v1/{route}", params={"doc_id": doc_id})
    assert (answer.status_code, answer.json()["document"]["doc_id"]) == (200, doc_id)


@pytest.mark.parametrize("doc_id", ["plain.md", HARD, "ends/", "100%.md", "a+b c.md", "a//b", "parent.zip!/x/y.md"])
def test_most_ids_may_stand_in_the_path(service, doc_id):
    service.lake.put(doc_id, "words")
    answer = service.http.get(f"/v1/documents/{quote(doc_id, safe='/!')}")
    assert (answer.status_code, answer.json()["document"]["doc_id"]) == (200, doc_id)
    assert service.http.get(f"/v1/documents/{quote(doc_id, safe='')}").json()["document"]["doc_id"] == doc_id


def test_what_may_not_be_seen_and_what_is_not_there_look_alike(service):
    for route in ("documents", "outline", "related"):
        said = [service.http.get(f"/v1/{route}/{name}") for name in ("secret.md", "theirs.md", "nowhere.md")]
        assert {answer.status_code for answer in said} == {404}
        assert len({answer.content for answer in said}) == 1


def test_a_document_comes_in_parts(service):
    first = service.http.get("/v1/documents/plain.md?tokens=2&source=notes").json()
    rest = service.http.get("/v1/documents/plain.md", params={"tokens": 2, "start": first["next"]}).json()
    assert first["sections"][0]["text"] + " " + rest["sections"][0]["text"] == "the giraffe is tall"
    assert rest["next"] is None


def test_context_changes_sources_and_freshness_answer(service):
    assert "giraffe" in service.http.post("/v1/context", json={"query": "giraffe", "budget": 100}).json()["text"]
    changes = service.http.get("/v1/changes", params={"since": "2026-01-01T00:00:00Z", "sources": ["notes", "x"]})
    assert [change["document"]["doc_id"] for change in changes.json()["changes"]] == ["plain.md"]
    assert [known["source"] for known in service.http.get("/v1/sources").json()["sources"]] == ["notes"]
    assert service.http.get("/v1/freshness?source=notes").json()["sources"][0]["staleness_s"] == 0
    assert refusal(service.http.get("/v1/freshness?source=elsewhere")) == (404, "NotFound")


@pytest.mark.parametrize(
    "body",
    [b"", b"{", b"[]", b"null", b'{"query": ""}', b'{"query": "a", "k": 0}', b'{"query": "a", "k": 101}',
     b'{"query": "a", "k": "5"}', b'{"query": "a\\u0000"}', b'{"query": "a\\ud800"}', b'{"query": "\xff"}',
     b'{"query": "a", "sources": ["\\u0007"]}', b'{"query": ' + b"[" * 30_000, b'{"query": "a", "k": 1e999}'],
)  # fmt: skip
def test_what_cannot_be_asked_is_refused_with_where(service, body):
    assert refusal(service.http.post("/v1/search", content=body)) == (422, "Rejected")
    assert service.lake.asked == []


def test_a_whole_number_may_be_written_with_a_point(service):
    assert service.http.post("/v1/search", json={"query": "giraffe", "k": 5.0}).status_code == 200
    assert service.http.post("/v1/search", json={"query": "giraffe", "k": 5.5}).status_code == 422
    assert service.http.post("/v1/search", json={"query": "giraffe", "k": 1e300}).status_code == 422


def test_budgets_and_parts_are_capped(service):
    assert service.http.post("/v1/context", json={"query": "x", "budget": 10**9}).status_code == 422
    assert service.http.get("/v1/documents/plain.md?tokens=1000000").status_code == 422
    assert service.http.get("/v1/documents/plain.md?tokens=x").status_code == 422
    assert service.http.get("/v1/documents/plain.md?tokens=1&tokens=2").status_code == 422
    assert service.http.get("/v1/documents/plain.md?doc_id=other.md").status_code == 422


def test_a_question_of_ten_megabytes_is_413(service):
    answer = service.http.post("/v1/search", json={"query": "x" * 10_000_000})
    assert refusal(answer) == (413, "Rejected")
    parts = (b'{"query": "' + b"x" * 1000 for _ in range(10_000))
    assert service.http.post("/v1/search", content=parts).status_code == 413


def test_a_tenant_that_asks_too_much_waits_and_others_do_not(tmp_path):
    with serving(tmp_path, per_minute=3) as service:
        answers = [service.http.get("/v1/sources") for _ in range(5)]
        assert [answer.status_code for answer in answers] == [200, 200, 200, 429, 429]
        assert int(answers[-1].headers["Retry-After"]) >= 1
        other = service.bearer("eve", tenant="other")
        assert service.http.get("/v1/sources", headers=other).status_code == 200


def test_a_part_that_is_away_is_503_and_an_argument_that_cannot_be_422(service):
    service.lake.trouble = Retryable("the store is away")
    answer = service.http.get("/v1/sources")
    assert refusal(answer) == (503, "Retryable")
    assert int(answer.headers["Retry-After"]) >= 1
    service.lake.trouble = Misconfigured("two sources have it")
    assert refusal(service.http.get("/v1/documents/plain.md")) == (422, "Misconfigured")


def test_an_error_that_nobody_foresaw_says_nothing(service, caplog):
    service.lake.trouble = ValueError("the giraffe's secret")
    answer = service.http.post("/v1/search", json={"query": "giraffe"})
    assert refusal(answer) == (500, "UpwellError")
    assert "secret" not in answer.text
    assert "not_answered" in caplog.text


def test_no_cache_keeps_any_answer(service):
    seen = [
        service.http.post("/v1/search", json={"query": "giraffe"}),
        service.http.post("/v1/search", json={}),
        service.http.get("/v1/documents/secret.md"),
        service.http.get("/v1/sources", headers={"Authorization": ""}),
        service.http.get("/nowhere"),
        service.http.delete("/v1/search"),
        service.http.get("/mcp"),
    ]
    assert [answer.headers["Cache-Control"] for answer in seen] == ["no-store"] * len(seen)
    assert [answer.status_code for answer in seen] == [200, 422, 404, 401, 404, 405, 405]
    assert all(refusal(answer) for answer in seen[1:])


def test_health_needs_no_token(service):
    for path in ("/healthz", "/readyz", "/openapi.json"):
        assert service.http.get(path, headers={"Authorization": ""}).status_code == 200


def test_answers_are_counted_without_names(service):
    service.http.post("/v1/search", json={"query": "giraffe"})
    service.http.get("/v1/documents/secret.md")
    count = service.metrics.registry.get_sample_value
    assert count("upwell_read_requests_total", {"route": "search", "status": "200"}) == 1
    assert count("upwell_read_requests_total", {"route": "fetch", "status": "404"}) == 1
