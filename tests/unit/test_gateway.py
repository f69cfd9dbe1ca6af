"""The gateway's answers: who is let in, what each trouble looks like, waiting for fates."""

import hmac
import json
import threading
from contextlib import closing

import pytest

from gateways import KEY, NOW, SECRET, Gate
from leaving import leaving
from upwell.errors import Misconfigured, Overloaded, Retryable
from upwell.ports import Fate
from upwell.records import Outcome

HELLO = {"doc_id": "a.md", "op": "upsert", "version": 1, "content": {"type": "inline", "data": "SGVsbG8="}}
CREATED = {
    "eventName": "ObjectCreated:Put",
    "eventTime": "2025-02-06T01:04:31.998Z",
    "s3": {"bucket": {"name": "sourcebucket"}, "object": {"key": "a.md"}},
}


@pytest.fixture
def gate():
    with leaving(Gate()) as made:
        yield made


def test_an_event_is_taken_and_answered_with_its_id(gate):
    answer = gate.post(HELLO)
    (event,) = gate.sink.events.values()
    assert (answer.status_code, answer.json()["accepted"]) == (202, [event.event_id])
    assert (answer.json()["versions"], event.source, event.doc_id) == ([1], "notes", "a.md")


def test_an_event_sent_twice_is_one(gate):
    assert gate.post(HELLO).json() == gate.post(HELLO).json()
    assert len(gate.sink.events) == 1


def test_a_trace_goes_on(gate):
    parent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
    gate.post(HELLO, traceparent=parent)
    gate.post({**HELLO, "doc_id": "b.md"}, traceparent="nonsense")
    assert [event.traceparent for event in gate.sink.events.values()] == [parent, None]


@pytest.mark.parametrize("authorization", [None, "", "Bearer", "Bearer wrong", f"Basic {KEY}", KEY, f"Bearer {KEY}x"])
def test_without_a_known_key_nothing_is_taken(gate, authorization):
    headers = {} if authorization is None else {"Authorization": authorization}
    answer = gate.http.post("/v1/events", content=json.dumps(HELLO), headers=headers)
    assert (answer.status_code, answer.headers["WWW-Authenticate"], gate.sink.events) == (401, "Bearer", {})


def test_where_no_keys_are_set_no_key_is_good():
    with closing(Gate(keys=())) as gate:
        assert gate.post(HELLO).status_code == 401


def test_another_sources_event_is_forbidden(gate):
    assert gate.post({**HELLO, "source": "wiki"}).status_code == 403
    assert gate.sink.events == {}


def test_a_key_of_another_tenant_gets_nothing_of_the_sources_settings(gate):
    gate.post(HELLO, key="astray")
    (event,) = gate.sink.events.values()
    assert (event.tenant, event.acl.levels) == ("default", ())


def test_too_much_is_413_and_what_is_wrong_422(gate):
    assert gate.post(b" " * (8 * 1024 * 1024 + 1)).status_code == 413
    large = {"type": "inline", "data": "A" * (352 * 1024)}
    assert gate.post({**HELLO, "content": large}).status_code == 413
    answer = gate.post({**HELLO, "version": "one"})
    assert (answer.status_code, answer.json()["reason"]) == (422, "invalid_event")
    assert "$.version" in answer.json()["detail"]


def test_events_are_counted_before_anybody_looks_what_they_say(gate):
    """Reading hundreds of thousands of them would hold up everybody else."""
    answer = gate.post(b" \n[" + b",".join([b"0"] * 1001) + b"]")
    assert (answer.status_code, answer.json()["reason"]) == (413, "too_large")
    assert gate.post(b"[0]").status_code == gate.post(b"[0,").status_code == 422
    assert gate.post([HELLO] * 1000).status_code == 202


def test_a_body_in_parts_is_cut_off_at_the_limit(gate):
    parts = (b" " * 1024 * 1024 for _ in range(10))
    answer = gate.http.post("/v1/events", content=parts, headers={"Authorization": f"Bearer {KEY}"})
    assert answer.status_code == 413


@pytest.mark.parametrize(
    ("trouble", "status", "retry_after"),
    [(Overloaded("full", 4.2), 429, "5"), (Retryable("away"), 503, "1"), (Misconfigured("wrong"), 500, None)],
)
def test_trouble_behind_the_gateway_says_when_to_come_again(gate, trouble, status, retry_after):
    gate.sink.trouble = trouble
    answer = gate.post(HELLO)
    assert (answer.status_code, answer.headers.get("Retry-After")) == (status, retry_after)


def test_waiting_answers_with_fates_or_with_what_is_pending(gate):
    name = gate.post(HELLO).json()["accepted"][0]
    pending = gate.post(HELLO, query="?wait=applied&timeout_s=0")
    assert (pending.status_code, pending.json()["pending"], pending.json()["ended"]) == (202, [name], [])
    fate = Fate(outcome=Outcome.DEAD, reason="corrupt", detail="not a PDF")
    threading.Timer(0.05, gate.sink.end, (name, fate)).start()
    ended = gate.post(HELLO, query="?wait=applied")
    assert (ended.status_code, ended.json()["pending"]) == (200, [])
    assert ended.json()["ended"] == [{"event_id": name, "outcome": "dead", "reason": "corrupt", "detail": "not a PDF"}]


def test_who_waits_is_answered_when_the_gateway_closes():
    answers = []
    with closing(Gate()) as gate:
        waiting = threading.Thread(target=lambda: answers.append(gate.post(HELLO, query="?wait=applied&timeout_s=60")))
        waiting.start()
        gate.sink.taken.wait(10)
        gate.end()
        waiting.join(10)
    assert [(answer.status_code, len(answer.json()["pending"])) for answer in answers] == [(202, 1)]


@pytest.mark.parametrize("query", ["?wait=forever", "?wait=applied&timeout_s=61", "?timeout_s=-1", "?timeout_s=nan"])
def test_a_wait_that_cannot_be_is_422(gate, query):
    assert gate.post(HELLO, query=query).status_code == 422


def test_a_hook_is_taken_by_secret_or_signature(gate):
    body = json.dumps({"Records": [CREATED]}).encode()
    signed = {"X-Signature-256": "sha256=" + hmac.digest(SECRET.encode(), body, "sha256").hex()}
    first, again = gate.hook("bucket", body), gate.hook("bucket", body, signed)
    assert (first.status_code, first.json()) == (202, again.json())
    assert [event.doc_id for event in gate.sink.events.values()] == ["a.md"]


def test_a_hook_counts_what_means_nothing(gate):
    answer = gate.hook("bucket", {"Records": [{"eventName": "s3:ObjectRestore:Post"}]})
    assert (answer.status_code, answer.json()["accepted"], answer.json()["ignored"]) == (202, [], 1)
    assert gate.hook("bucket", {"Event": "s3:TestEvent"}).status_code == 202


def test_a_generic_hook_brings_our_own_events(gate):
    body = json.dumps([HELLO]).encode()
    signed = {"X-Signature-256": hmac.digest(SECRET.encode(), body, "sha256").hex()}
    assert gate.hook("wiki", body, signed).status_code == 202
    assert next(iter(gate.sink.events.values())).source == "wiki"


@pytest.mark.parametrize("source", ["bucket", "wiki", "notes", "nobody", "..%2Fbucket", "%00"])
def test_a_hook_without_proof_is_401_whether_or_not_the_source_exists(gate, source):
    """`notes` is a source without a hook."""
    answer = gate.hook(source, {"Records": [CREATED]}, {"Authorization": "Bearer wrong"})
    assert answer.status_code in (401, 404)
    assert (gate.sink.events, answer.status_code == 404) == ({}, "%2F" in source)


def test_the_signature_comes_before_the_payload(gate):
    assert gate.hook("bucket", b"not json", {}).status_code == 401
    assert gate.hook("bucket", b"not json").status_code == 422


def test_a_hook_of_too_many_bytes_is_413(gate):
    assert gate.hook("bucket", b" " * (2 * 1024 * 1024)).status_code == 413


def test_health(gate):
    assert gate.http.get("/healthz").text == "ok\n"
    assert gate.http.get("/readyz").status_code == 200
    gate.ready_error = Retryable("the broker is away")
    assert gate.http.get("/readyz").status_code == 503
    assert gate.http.get("/healthz").status_code == 200


@pytest.mark.parametrize("path", ["/v1/search", "/v1/status", "/v1/documents/a.md", "/v1/erase", "/v1/dead", "/docs"])
def test_nothing_else_is_served(gate, path):
    assert {gate.http.get(path).status_code, gate.http.post(path).status_code} == {404}


@pytest.mark.parametrize("path", ["/v1/events/", "/v1/hooks/bucket/", "/healthz/"])
def test_nobody_is_sent_elsewhere(gate, path):
    """What the gateway knows of its own address is what a request says, and not whether TLS stands before it."""
    answer = gate.http.post(path, json=HELLO, headers={"Host": "elsewhere.example", "Authorization": f"Bearer {KEY}"})
    assert answer.status_code == 404
    assert "location" not in answer.headers


def test_the_documentation_holds_the_schema_of_the_record(gate):
    document = gate.http.get("/openapi.json").json()
    said = document["paths"]["/v1/events"]["post"]
    assert {"200", "202", "401", "403", "413", "422", "429", "503"} <= said["responses"].keys()
    assert document["components"]["schemas"]["Offer"]["required"] == ["doc_id", "op"]
    refs = {name for name in json.dumps(document).split('"') if name.startswith("#/components/schemas/")}
    assert {ref.rpartition("/")[2] for ref in refs} <= document["components"]["schemas"].keys()


def test_answers_are_counted(gate):
    gate.post(HELLO)
    gate.post(HELLO, key="wrong")
    value = gate.metrics.registry.get_sample_value
    assert value("upwell_gateway_requests_total", {"route": "events", "status": "202"}) == 1
    assert value("upwell_gateway_requests_total", {"route": "events", "status": "401"}) == 1


def test_logs_hold_no_word_of_a_payload_and_no_secret(gate, caplog):
    gate.post({**HELLO, "doc_id": "sesame", "op": "sesame"})
    gate.hook("bucket", b"sesame", {"Authorization": "Bearer sesame"})
    gate.hook("bucket", b"sesame")
    said = " ".join(str(vars(record)) for record in caplog.records)
    assert len(caplog.records) >= 3
    assert "sesame" not in said
    assert SECRET not in said


def test_the_time_of_arrival_is_the_gateways(gate):
    gate.post({**HELLO, "received_at": 1})
    assert next(iter(gate.sink.events.values())).received_at == NOW
