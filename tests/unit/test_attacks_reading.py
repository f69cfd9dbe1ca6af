"""Attacks on the read side over HTTP, with a real lake behind it: whatever is asked, only the token says who asks."""

import contextlib
import itertools
import json
import socket

import httpx
import pytest

from readers import serving
from readings import PUBLIC, SECRET, Library
from upwell.records import Acl, DocKey, Membership, stable_hash

STAFF = Acl(levels=(frozenset({"group:staff"}),))
WORDS = "larch maple"
THEIRS = "the larch of others"
START = "2020-01-01T00:00:00Z"
NAMES = (
    "*", "%", "_", "%25", "wik_", "wiki%", "WIKI", "wiki ", " wiki", "wiki.", "wiki\u200b", "w\u0456ki", "\uff57iki",
    "wiki' OR '1'='1", "wiki'--", 'wiki" OR ""="', "wiki); DROP TABLE documents;--", '{"$ne": null}', '["wiki","hr"]',
    "wiki,hr", "hr|wiki", "../hr", "default/wiki", '["default","wiki"]', "null", "None", "\\u0068r", "${hr}", "{{hr}}",
)  # fmt: skip
"""What might widen a filter that pastes texts together."""


@contextlib.contextmanager
def library_in(folder):
    lake = Library(folder)
    lake.publish("plain.md", f"# Plain\n\n{WORDS} for all\n", acl=PUBLIC)
    lake.publish("staff.md", f"# Staff\n\n{WORDS} for staff\n", acl=STAFF)
    lake.publish("secret.md", f"# Secret\n\n{WORDS} for the board\n", acl=SECRET, source="hr")
    lake.publish("plain.md", f"# Plain\n\n{THEIRS}\n", acl=PUBLIC, tenant="other")
    lake.publish("theirs.md", f"# Theirs\n\n{THEIRS}, too\n", acl=PUBLIC, tenant="other")
    for source, tenant in (("wiki", "default"), ("hr", "default"), ("wiki", "other")):
        lake.status(source, tenant)
    yield lake
    lake.close()


@contextlib.contextmanager
def served(folder, library):
    with serving(folder) as made:
        made.lake = library.reading
        yield made


@pytest.fixture(scope="module")
def service(tmp_path_factory):
    """One for all who only ask."""
    folder = tmp_path_factory.mktemp("asked")
    with library_in(folder) as library, served(folder, library) as made:
        made.library = library
        yield made


@pytest.fixture
def changing(tmp_path):
    """One of its own for a test that publishes, and what it publishes in."""
    with library_in(tmp_path) as library, served(tmp_path, library) as made:
        yield made, library


def found(answer):
    assert answer.status_code == 200, answer.text
    return {(hit["source"], hit["doc_id"]) for hit in answer.json()["hits"]}


def ask(service, body=None, **headers):
    return service.http.post("/v1/search", json={"query": WORDS, "k": 100, **(body or {})}, headers=headers)


def timeless(answer):
    """Status, headers and body but for the time."""
    body = answer.json()
    body.pop("as_of", None)
    kept = {name: value for name, value in answer.headers.items() if name not in {"date", "content-length"}}
    return answer.status_code, kept, body


MINE = {("wiki", "plain.md"), ("wiki", "staff.md")}


@pytest.mark.parametrize(
    "headers",
    [
        {"X-Forwarded-User": "user:bea", "X-Forwarded-Groups": "board"},
        {"X-Remote-User": "bea", "X-Principals": "group:board", "X-Groups": "board"},
        {"X-Tenant": "other", "X-Upwell-Tenant": "other", "Tenant": "other"},
        {"Cookie": "principals=group:board; tenant=other"},
        {"Forwarded": "for=127.0.0.1", "X-Forwarded-For": "127.0.0.1", "X-Real-IP": "127.0.0.1"},
        {"X-HTTP-Method-Override": "DELETE", "X-Original-URL": "/v1/status"},
    ],
)
def test_no_header_but_the_token_says_who_asks(service, headers):
    assert found(ask(service, **headers)) == MINE


def test_a_second_token_in_the_same_request_adds_nothing(service):
    """Of two Authorization headers none counts more: one reader's, or a refusal, never both readers'."""
    one, other = (service.bearer(name, group)["Authorization"] for name, group in (("ana", "staff"), ("bea", "board")))
    for pair in ((one, other), (other, one)):
        twice = [("Authorization", token) for token in pair]
        answer = httpx.post(f"{service.url}/v1/search", json={"query": WORDS, "k": 100}, headers=twice)
        assert answer.status_code == 401 or found(answer) in (MINE, {("wiki", "plain.md"), ("hr", "secret.md")})
    joined = {"Authorization": f"{one}, {other}"}
    assert ask(service, **joined).status_code == 401


@pytest.mark.parametrize("name", NAMES)
def test_a_source_s_name_is_a_name(service, name):
    """What is no source's name finds nothing, in every question that takes one."""
    assert found(ask(service, {"sources": [name]})) == set()
    answers = [
        service.http.get("/v1/changes", params={"since": START, "sources": name}).json()["changes"],
        service.http.post("/v1/context", json={"query": WORDS, "sources": [name]}).json()["passages"],
    ]
    assert answers == [[], []]
    for route in ("documents", "outline", "related"):
        given = service.http.get(f"/v1/{route}", params={"doc_id": "secret.md", "source": name})
        assert (given.status_code, given.json()["error"]) == (404, "NotFound")
    assert service.http.get("/v1/freshness", params={"source": name}).status_code == 404


@pytest.mark.parametrize(
    "query", [*NAMES, "acl_n:1", 'deny:"user:ana"', "tenant:other", "board\\", "' UNION SELECT 1--"]
)
def test_a_query_is_words(service, query):
    assert found(ask(service, {"query": query})) <= MINE


@pytest.mark.parametrize(
    "group",
    ["*", "%", "Board", "BOARD", "board,staff", "bo\u0430rd", "\uff42oard", "group:board", "board' OR '1",
     '["board"]', "everyone", "user:bea", "staff\\board", "b%", "boar_", "board\u0301"],
)  # fmt: skip
def test_a_group_s_name_is_no_other_group_s(service, group):
    """Look-alikes, wildcards and quoted lists in a token that the lake itself has signed."""
    assert found(ask(service, **service.bearer("eve", group))) == {("wiki", "plain.md")}


@pytest.mark.parametrize(
    "guess",
    [
        "theirs.md",
        "other/theirs.md",
        "../other/wiki/theirs.md",
        DocKey(tenant="other", source="wiki", doc_id="theirs.md").canonical,
        DocKey(tenant="other", source="wiki", doc_id="theirs.md").digest,
        "upwell://wiki/theirs.md",
        "theirs.md?tenant=other",
        "theirs.md#other",
        "theirs.md!/x",
        "plain.md!/../theirs.md",
        "secret.md",
        "SECRET.md",
        "secret.md/",
        "./secret.md",
        "secr%65t.md",
        "s_cret.md",
        "%",
        "secret.md' OR '1'='1",
    ],
)
@pytest.mark.parametrize("route", ["documents", "outline", "related"])
def test_no_spelling_of_an_id_leads_to_what_is_hidden(service, route, guess):
    answer = service.http.get(f"/v1/{route}", params={"doc_id": guess})
    assert (answer.status_code, answer.json()["error"]) == (404, "NotFound")
    assert "board" not in answer.text
    assert "others" not in answer.text


def test_answers_before_and_after_something_hidden_came_are_equal_byte_by_byte(changing):
    """Every route, for a reader who may not see it: its words, its id, its links and its source leave no trace."""
    service, library = changing

    def everything():
        library.now += 10_000_000_000
        asked = [
            service.http.post("/v1/search", json={"query": query, "k": 100, "sources": sources})
            for query in (WORDS, "quince", "hidden.md")
            for sources in ([], ["wiki"], ["vault"])
        ]
        asked += [
            service.http.get(f"/v1/{route}", params={"doc_id": doc, **source})
            for route in ("documents", "outline", "related")
            for doc in ("hidden.md", "plain.md", "hidden.md!/x")
            for source in ({}, {"source": "vault"}, {"source": "wiki"})
        ]
        asked += [
            service.http.post("/v1/context", json={"query": q, "budget": b})
            for q in (WORDS, "quince")
            for b in (9, 900)
        ]
        asked += [service.http.get(f"/v1/{route}") for route in ("sources", "freshness", "freshness?source=vault")]
        asked += [
            service.http.get("/v1/changes", params={"since": START, **more}) for more in ({}, {"sources": "vault"})
        ]
        return [(*timeless(answer)[:2], json.dumps(timeless(answer)[2])) for answer in asked]

    before = everything()
    words = f"# Hidden\n\n{WORDS} quince [x](/plain.md) [y](plain.md)\n"
    library.publish("hidden.md", words, acl=SECRET, source="vault")
    library.publish(
        "hidden.md", f"# Plain\n\n{WORDS} for all\n", acl=Acl(levels=PUBLIC.levels, deny=frozenset({"user:ana"}))
    )
    library.status("vault")
    assert "hidden" in ask(service, **service.bearer("bea", "board")).text
    assert [_without_places(one) for one in everything()] == [_without_places(one) for one in before]


def _without_places(one):
    """A feed's cursor names the time at which it was asked."""
    status, headers, text = one
    body = json.loads(text)
    if "changes" in body:
        body.pop("next")
    return status, headers, json.dumps(body)


def test_cursors_carry_no_rights(changing):
    """One reader's place in a document or a feed is of no use to another, nor to another tenant."""
    service, library = changing
    library.publish("long.md", "\n\n".join(f"## Part {n}\n\n{WORDS} {n} " + "word " * 60 for n in range(9)), acl=SECRET)
    board, theirs = service.bearer("bea", "board"), service.bearer("eve", tenant="other")
    page = service.http.get("/v1/documents/long.md", params={"tokens": 60}, headers=board).json()
    assert page["next"]
    stolen = {"doc_id": "long.md", "start": page["next"]}
    assert service.http.get("/v1/documents", params=stolen).status_code == 404
    assert service.http.get("/v1/documents", params=stolen, headers=theirs).status_code == 404
    assert service.http.get("/v1/documents", params={**stolen, "doc_id": "plain.md"}).status_code == 422
    feed = service.http.get("/v1/changes", params={"since": START, "limit": 1}, headers=board).json()["next"]
    for headers, ids in (
        (service.bearer("ana", "staff"), {"plain.md", "staff.md"}),
        (theirs, {"plain.md", "theirs.md"}),
    ):
        seen = service.http.get("/v1/changes", params={"since": feed, "limit": 100}, headers=headers)
        assert {change["document"]["doc_id"] for change in seen.json()["changes"]} <= ids


def test_equal_texts_of_two_tenants_share_neither_points_nor_vectors(tmp_path):
    """Same ids, same words, same embed_keys: each tenant's are its own, made by the model for it."""
    lake = Library(tmp_path)
    try:
        made = []
        embed = lake.embedder.embed
        lake.embedder.embed = lambda texts, **how: made.extend(texts) or embed(texts, **how)
        for tenant, times in (("a", 1), ("b", 2)):
            lake.publish("same.md", f"{WORDS} in both", tenant=tenant)
            assert len(made) == times
        lake.publish("copy.md", f"{WORDS} in both", tenant="a")
        assert len(made) == 2  # within a tenant it is reused
        keys = [DocKey(tenant=tenant, source="wiki", doc_id="same.md") for tenant in "ab"]
        entries = [lake.registry.manifest(key, "pipeline").entries[0] for key in keys]
        assert entries[0].embed_key == entries[1].embed_key
        assert entries[0].point_id != entries[1].point_id
        for key, entry in zip(keys, entries, strict=True):
            (held,) = lake.registry.points_of(key.tenant, "pipeline", [entry.embed_key]).values()
            assert held in lake.store.present(key) or held in lake.store.present(
                DocKey(tenant="a", source="wiki", doc_id="copy.md")
            )
            assert lake.registry.points_of("c", "pipeline", [entry.embed_key]) == {}
    finally:
        lake.close()


def test_what_is_kept_of_a_reader_is_kept_by_tenant(changing):
    """The same names in two tenants, one of which has a directory: neither answers for the other, in either order."""
    service, library = changing
    library.publish("staff.md", f"# Staff\n\n{WORDS} of their staff\n", acl=STAFF, tenant="other")
    here, there = (service.bearer("ana", "staff", tenant=tenant) for tenant in ("default", "other"))

    def seen(headers):
        return "staff.md" in {doc for _, doc in found(ask(service, **headers))}

    assert [seen(here), seen(there), seen(here)] == [True, True, True]
    told = Membership(tenant="other", principal="user:ana", version=1)
    library.registry.directory.put(told)
    assert [seen(there), seen(here), seen(there), seen(here)] == [False, True, False, True]


def test_counts_are_of_what_may_be_seen(service):
    """No answer has a total, a facet or a refusal count, and asking for more hits than there are shows no gap."""
    for k in (1, 2, 3, 100):
        answer = ask(service, {"k": k}).json()
        assert answer.keys() == {"query", "as_of", "hits"}
        assert [hit["rank"] for hit in answer["hits"]] == list(range(1, min(k, 2) + 1))
    nobody = service.bearer("eve", tenant="nowhere")
    assert found(ask(service, **nobody)) == set()
    assert service.http.get("/v1/sources", headers=nobody).json()["sources"] == []
    assert [one["source"] for one in service.http.get("/v1/sources").json()["sources"]] == ["wiki"]


def test_errors_repeat_nothing_that_is_hidden(service):
    """Wrong questions about hidden documents are answered as wrong questions about none."""
    wrong = [{"tokens": 0}, {"start": "x"}, {"start": "999999999"}, {"source": ""}, {"k": 0}, {"start": "AAAA"}]
    for route, more in itertools.product(("documents", "outline", "related"), wrong):
        said = [service.http.get(f"/v1/{route}", params={"doc_id": doc, **more}) for doc in ("secret.md", "absent.md")]
        assert said[0].status_code == said[1].status_code
        assert said[0].text.replace("secret.md", "absent.md") == said[1].text


@pytest.mark.parametrize("path", ["/v1/search", "/v1/context", "/mcp"])
def test_ten_megabytes_are_refused_wherever_they_go(service, path):
    big = b'{"query": "' + b"x" * 10_000_000 + b'"}'
    with httpx.Client(base_url=service.url, timeout=30) as http:
        for headers, expected in (({}, 401), (service.bearer("ana"), 413)):
            given = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream", **headers}
            answer = http.post(path, content=big, headers=given)
            assert answer.status_code == expected


@pytest.mark.parametrize("size", [5_000, 60_000, 1_000_000])
def test_an_address_that_long_is_refused(service, size):
    """By name as far as it is read at all, and by the end of the connection beyond that."""
    host, _, port = service.url.removeprefix("http://").partition(":")
    request = f"GET /v1/documents?doc_id={'x' * size} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n"
    said = b""
    with socket.create_connection((host, int(port)), timeout=30) as wire, contextlib.suppress(ConnectionError):
        wire.sendall(f"{request}Authorization: {service.bearer('ana')['Authorization']}\r\n\r\n".encode())
        while part := wire.recv(65_536):
            said += part
    assert said == b"" or said.split()[1] in {b"400", b"414", b"422", b"431"}
    assert ask(service).status_code == 200


def test_a_query_of_ten_thousand_letters_is_answered_and_one_more_is_not(service):
    assert ask(service, {"query": "x" * 10_000}).status_code == 200
    assert ask(service, {"query": "x" * 10_001}).status_code == 422
    assert ask(service, {"query": "\u202e" * 9_000 + "larch"}).status_code == 200
    assert ask(service, {"query": "\U000e0041" * 5_000}).status_code == 200


def test_no_hash_of_a_key_is_a_capability(service):
    """Chunk keys, embed keys and point ids of hidden text are not ids of anything that can be asked for."""
    key = DocKey(tenant="default", source="hr", doc_id="secret.md")
    entry = service.library.registry.manifest(key, "pipeline").entries[0]
    for guess in (
        entry.point_id,
        entry.chunk_key,
        entry.embed_key,
        entry.text_hash,
        key.digest,
        stable_hash(key.digest),
    ):
        assert service.http.get("/v1/documents", params={"doc_id": guess}).status_code == 404
        assert service.http.get("/v1/documents", params={"doc_id": "plain.md", "start": guess}).status_code == 422
