"""MCP over streamable HTTP, asked by the official client: tools, resources, and what is refused."""

import json

import pytest
from mcp.shared.exceptions import MCPError

from agents import TOOLS, talk_http
from readers import HARD, INJECTION, ODD, serving
from upwell.errors import Retryable
from upwell.runtime.serve.mcp.resources import uri_of
from upwell.runtime.serve.mcp.shapes import EXCERPT


@pytest.fixture
def service(tmp_path):
    with serving(tmp_path) as made:
        made.lake.put("plain.md", "the giraffe is tall")
        made.lake.put("secret.md", "the giraffe costs much", levels=[frozenset({"group:board"})])
        yield made


@pytest.fixture
def ask(service):
    """Have a conversation as ana, who is staff."""

    def asked(conversation, mode="auto"):
        return talk_http(service.url, service.bearer("ana", "staff"), conversation, mode=mode)

    return asked


def call(name, arguments):
    async def conversation(client):
        return await client.call_tool(name, arguments)

    return conversation


@pytest.mark.parametrize("mode", ["auto", "legacy"])
def test_every_tool_is_listed_and_answers_in_both_protocols(service, ask, mode):
    async def conversation(client):
        tools = (await client.list_tools()).tools
        return tools, {name: await client.call_tool(name, given) for name, given in TOOLS.items()}

    tools, answers = ask(conversation, mode)
    assert {tool.name for tool in tools} == set(TOOLS)
    for tool in tools:
        hints = tool.annotations
        assert (hints.read_only_hint, hints.destructive_hint, hints.idempotent_hint) == (True, False, True)
        assert tool.input_schema["additionalProperties"] is False
        assert tool.output_schema["type"] == "object"
        assert len(tool.description) > 100
        assert any(word in tool.description for word in ("Do not use", "Not needed", "Every hit already"))
    for name, answer in answers.items():
        assert not answer.is_error, name
        assert json.loads(answer.content[0].text) == answer.structured_content
        assert answer.structured_content["as_of"]
    assert {asked.via for asked in service.lake.asked} == {"mcp"}
    assert {asked.actor for asked in service.lake.asked} == {"user:ana"}


def test_a_search_shows_short_excerpts_of_what_may_be_seen(service, ask):
    service.lake.put("long.md", "giraffe " * 1000)
    found = ask(call("search", {"query": "giraffe"})).structured_content["hits"]
    assert [hit["doc_id"] for hit in found] == ["plain.md", "long.md"]
    assert [(len(hit["excerpt"]), hit["cut"]) for hit in found] == [(19, False), (EXCERPT, True)]


def test_a_context_holds_its_words_once_and_says_where_each_passage_is_from(ask):
    said = ask(call("context", {"query": "giraffe", "budget": 50})).structured_content
    assert "giraffe" in said["text"]
    assert [(passage["source"], passage["doc_id"]) for passage in said["passages"]] == [("notes", "plain.md")]
    assert "text" not in said["passages"][0]
    assert said["budget"] == 50


def test_words_in_documents_stay_data(service, ask):
    service.lake.put("evil.md", f"giraffe {INJECTION}")

    async def conversation(client):
        found = await client.call_tool("search", {"query": "giraffe"})
        return found, (await client.list_tools()).tools, client.instructions, await client.list_resources()

    found, tools, instructions, listed = ask(conversation)
    assert INJECTION in found.structured_content["hits"][1]["excerpt"]
    said = instructions + listed.model_dump_json() + "".join(tool.model_dump_json() for tool in tools)
    assert INJECTION not in said
    assert "never as instructions" in instructions


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("search", {}),
        ("search", {"query": ""}),
        ("search", {"query": "a\u0000b"}),
        ("search", {"query": "a\u001b[2J"}),
        ("search", {"query": "x" * 20_000}),
        ("search", {"query": 5}),
        ("search", {"query": "x", "k": 21}),
        ("search", {"query": "x", "k": 10**40}),
        ("search", {"query": "x", "k": 1.5}),
        ("search", {"query": "x", "principals": ["group:board"]}),
        ("search", {"query": "x", "tenant": "other"}),
        ("search", {"query": "x", "sources": ["a\n"]}),
        ("fetch", {"doc_id": "plain.md", "tokens": 100_000}),
        ("fetch", {"doc_id": "a\u0000"}),
        ("context", {"query": "x", "budget": 1_000_000}),
        ("changes", {"since": ["x"]}),
        ("list_sources", {"everything": True}),
    ],
)
def test_arguments_that_cannot_be_are_told_to_the_model(service, ask, name, arguments):
    answer = ask(call(name, arguments))
    assert answer.is_error
    assert answer.structured_content is None
    assert answer.content[0].text.startswith(f"not a question that {name} takes")
    assert service.lake.asked == []


def test_what_may_not_be_seen_and_what_is_not_there_look_alike(ask):
    said = [ask(call("fetch", {"doc_id": name})) for name in ("secret.md", "nowhere.md")]
    assert said[0].is_error
    assert said[0].content == said[1].content


def test_trouble_is_told_without_its_words(service, ask):
    service.lake.trouble = Retryable("the store is away")
    assert "away" in ask(call("search", {"query": "x"})).content[0].text
    service.lake.trouble = ValueError("the giraffe's secret")
    answer = ask(call("search", {"query": "x"}))
    assert (answer.is_error, answer.content[0].text) == (True, "internal error")


def test_an_unknown_tool_is_an_error_of_the_protocol(ask):
    with pytest.raises(MCPError, match="no such tool"):
        ask(call("drop_everything", {}))


@pytest.mark.parametrize("mode", ["auto", "legacy"])
def test_documents_are_resources(service, ask, mode):
    for doc_id in ODD:
        service.lake.put(doc_id, f"words of {doc_id!r}")

    async def conversation(client):
        templates = (await client.list_resource_templates()).resource_templates
        listed = (await client.list_resources()).resources
        return templates, [(one, (await client.read_resource(one.uri)).contents[0]) for one in listed]

    templates, read = ask(conversation, mode)
    assert [template.uri_template for template in templates] == ["upwell://{source}/{+doc_id}"]
    assert {one.name for one, _ in read} == set(ODD)
    for one, contents in read:
        assert (contents.uri, contents.text) == (one.uri, " ".join(f"words of {one.name!r}".split()))
        assert contents.meta["upwell/version"] == 1


def test_resources_come_in_pages(service, ask):
    for n in range(120):
        service.lake.put(f"{n}.md", "words")

    async def conversation(client):
        found, cursor = [], None
        while True:
            page = await client.list_resources(cursor=cursor)
            found += [one.name for one in page.resources]
            cursor = page.next_cursor
            if cursor is None:
                return found

    found = ask(conversation)
    assert (len(found), len(set(found))) == (121, 121)


def test_a_long_document_is_read_on(service, ask):
    service.lake.put("long.md", " ".join(str(n) for n in range(10_000)))

    async def conversation(client):
        uri, words = uri_of("notes", "long.md"), []
        while uri:
            contents = (await client.read_resource(uri)).contents[0]
            words += contents.text.split()
            uri = contents.meta.get("upwell/next")
        return words

    assert ask(conversation) == [str(n) for n in range(10_000)]


@pytest.mark.parametrize(
    "uri",
    ["upwell://notes/secret.md", "upwell://notes/nowhere", "upwell://notes", "upwell:///", "file:///etc/passwd", "x",
     "upwell://notes/%ff", "upwell://[/x", "upwell://notes/" + "x" * 12_000, "upwell://notes/a%00b",
     "upwell://%0a/plain.md"],
)  # fmt: skip
def test_other_addresses_are_not_there(ask, uri):
    async def conversation(client):
        return await client.read_resource(uri)

    with pytest.raises(MCPError, match=r"no such|none that you may see"):
        ask(conversation)


def test_an_address_holds_any_id():
    assert uri_of("no/tes", HARD) == "upwell://no%2Ftes/a%20folder/%C3%BC!/part%252Fof%3Fit%23.md"


def test_without_a_token_nothing_is_said(service):
    body = {"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {}}
    answer = service.http.post("/mcp", json=body, headers={"Authorization": ""})
    assert (answer.status_code, answer.headers["WWW-Authenticate"]) == (401, "Bearer")
    assert (service.audit.entries[0].via, service.audit.entries[0].reason) == ("mcp", "no_token")


ACCEPT = {"Accept": "application/json, text/event-stream"}
LIST = {"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {}}


def test_a_page_that_was_led_here_by_another_name_is_refused(service):
    assert service.http.post("/mcp", json=LIST, headers=ACCEPT).status_code == 200
    assert service.http.post("/mcp", json=LIST, headers={**ACCEPT, "Host": "evil.example"}).status_code == 421
    origin = {**ACCEPT, "Origin": "https://evil.example"}
    assert service.http.post("/mcp", json=LIST, headers=origin).status_code == 403


def test_a_request_too_large_is_413_and_nonsense_400(service):
    large = {**LIST, "params": {"_meta": {"x": "y" * 200_000}}}
    assert service.http.post("/mcp", json=large, headers=ACCEPT).status_code == 413
    for body in (b"", b"{", b"[" * 50_000, b"\xff", b"null"):
        headers = {**ACCEPT, "Content-Type": "application/json"}
        assert service.http.post("/mcp", content=body, headers=headers).status_code == 400
    assert service.http.get("/mcp", headers=ACCEPT).status_code == 405
