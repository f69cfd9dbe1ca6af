"""Readers served by the installed command: over HTTP, over MCP by streamable HTTP, and over standard input and output."""

import json
import re
import subprocess

import httpx
import pytest
from command import INTERRUPT, LIMIT_S, PROGRAM, TERMINATE
from mcp.client.stdio import StdioServerParameters

from agents import TOOLS, talk, talk_http

pytestmark = pytest.mark.e2e

DOCS = {
    "plain.md": "# Plain\n\nThe giraffe is tall.\n\n## Costs\n\nMuch, see [more](more.md).\n",
    "more.md": "# More\n\nA giraffe eats leaves.\n",
    "board/secret.md": "# Secret\n\nThe giraffe is for sale.\n",
    "board/.upwell-access.yaml": "inherit: false\nallow: [group:board]\n",
}


class Background:
    """A command that runs beside the test, saying where it listens on standard error."""

    def __init__(self, upwell, *words):
        self.log = upwell.home / f"{words[0]}.log"
        with self.log.open("wb") as log:
            self.process = subprocess.Popen(
                [PROGRAM, *words], cwd=upwell.home, env=upwell.env, stdin=subprocess.DEVNULL, stdout=log, stderr=log
            )

    def url(self, upwell):
        upwell.until(lambda: self.said() or self.process.poll() is not None, f"it listens: {self.log.read_text()}")
        return self.said()[0]

    def said(self):
        return re.findall(r"listening on (http://\S+):", self.log.read_text())

    def end(self, number):
        self.process.send_signal(number)
        return self.process.wait(LIMIT_S)

    def close(self):
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()


@pytest.fixture
def background(upwell):
    started = []

    def start(*words):
        started.append(Background(upwell, *words))
        return started[-1]

    yield start
    for one in started:
        one.close()


@pytest.fixture
def lake(upwell):
    """A lake with DOCS, whose owner has gone again."""
    upwell("ingest", str(upwell.write(DOCS)), "--owner", "ana")
    return upwell


def bearer(upwell, *words):
    return {"Authorization": f"Bearer {upwell.json('token', *words, '--ttl', '10m')['token']}"}


async def everything(client):
    """Each tool's answer, and each listed document as it reads."""
    listed = (await client.list_tools()).tools
    answers = {name: await client.call_tool(name, given) for name, given in TOOLS.items()}
    resources = (await client.list_resources()).resources
    read = {one.name: (await client.read_resource(one.uri)).contents[0].text for one in resources}
    return {tool.name for tool in listed}, answers, read


def check(outcome):
    names, answers, read = outcome
    assert names == set(TOOLS)
    assert {name: answer.is_error for name, answer in answers.items()} == dict.fromkeys(TOOLS, False)
    found = {hit["doc_id"] for hit in answers["search"].structured_content["hits"]}
    assert found == {"plain.md", "more.md"}
    assert "for sale" not in json.dumps([answer.structured_content for answer in answers.values()])
    assert set(read) == {"plain.md", "more.md"}
    assert "The giraffe is tall." in read["plain.md"]
    related = answers["related"].structured_content["related"]
    assert ("more.md", "links_to") in {(one["document"]["doc_id"], one["relation"]) for one in related}


def test_run_answers_readers_over_http_and_mcp(upwell, run):
    running = run(str(upwell.write(DOCS)), "--owner", "ana", "--listen", "127.0.0.1:0")
    running.ready()
    (url,) = re.findall(r"listening on (http://\S+):", running.log.read_text())
    ana = bearer(upwell, "--as", "ana")
    with httpx.Client(base_url=url, timeout=LIMIT_S, headers=ana) as http:
        hits = http.post("/v1/search", json={"query": "giraffe", "k": 10}).json()["hits"]
        assert {hit["doc_id"] for hit in hits} == {"plain.md", "more.md", "board/secret.md"}
        board = bearer(upwell, "--as", "bea", "--group", "board")
        hits = http.post("/v1/search", json={"query": "giraffe", "k": 10}, headers=board).json()["hits"]
        assert {hit["doc_id"] for hit in hits} == {"board/secret.md"}
        nobody = bearer(upwell, "--as", "eve")
        assert http.post("/v1/search", json={"query": "giraffe"}, headers=nobody).json()["hits"] == []
        hidden = http.get("/v1/documents/board/secret.md", headers=nobody)
        absent = http.get("/v1/documents/board/nothing.md", headers=nobody)
        assert (hidden.status_code, absent.status_code) == (404, 404)
    names, answers, read = talk_http(url, ana, everything)
    assert (names, set(read)) == (set(TOOLS), {"plain.md", "more.md", "board/secret.md"})
    assert not any(answer.is_error for answer in answers.values())
    assert running.end(TERMINATE) == 0


def test_serve_has_the_lake_until_it_is_told_to_stop(lake, background):
    serving = background("serve", "--listen", "127.0.0.1:0")
    url = serving.url(lake)
    answer = httpx.post(f"{url}/v1/search", json={"query": "giraffe"}, headers=bearer(lake, "--as", "ana"))
    assert answer.status_code == 200
    assert httpx.post(f"{url}/v1/events", json={}).status_code == 404
    assert lake.found("giraffe", "--as", "ana") == {"plain.md", "more.md", "board/secret.md"}
    assert "run DIR --listen" in lake("serve", "--listen", "127.0.0.1:0", status=2).stderr
    assert serving.end(INTERRUPT) == 130


def test_serve_without_a_lake_says_what_to_do(upwell):
    assert "upwell ingest DIR" in upwell("serve", status=2).stderr
    assert "upwell ingest DIR" in upwell("mcp", status=2).stderr


def test_a_lake_without_documents_says_so_and_names_no_folder(upwell, run):
    (upwell.home / "docs").mkdir()
    running = run("docs", "--owner", "ana", "--listen", "127.0.0.1:0")
    running.ready()
    (url,) = re.findall(r"listening on (http://\S+):", running.log.read_text())
    answer = httpx.get(f"{url}/v1/sources", headers=bearer(upwell, "--as", "ana"))
    assert answer.status_code in {200, 503}
    assert str(upwell.home) not in answer.text
    assert ".upwell" not in answer.text


def agent(upwell, *words):
    return StdioServerParameters(command=str(PROGRAM), args=["mcp", *words], env=upwell.env, cwd=upwell.home)


@pytest.mark.parametrize("mode", ["auto", "legacy"])
def test_an_agent_asks_over_standard_input_and_output(lake, mode):
    lake.write({".upwell-access.yaml": "allow: [group:staff]\n"})
    lake("ingest", "docs", "--owner", "ana")
    check(talk(agent(lake, "--as", "sam", "--group", "staff"), everything, mode=mode))


def test_an_agent_asks_beside_a_run(upwell, run):
    running = run(str(upwell.write(DOCS)), "--owner", "olga", "--source", "docs")
    running.ready()
    outcome = talk(agent(upwell, "--as", "bea", "--group", "board"), everything)
    assert set(outcome[2]) == {"board/secret.md"}
    assert running.end(TERMINATE) == 0


def test_an_agent_that_rests_leaves_the_lake_to_others(lake, run):
    async def conversation(client):
        await client.call_tool("search", {"query": "giraffe"})
        running = run(str(lake.home / "docs"), "--owner", "ana")
        assert running.ready()["documents"]["unchanged"] == 3
        return await client.call_tool("search", {"query": "giraffe"})

    answer = talk(agent(lake, "--as", "ana"), conversation)
    assert len(answer.structured_content["hits"]) >= 3


def test_a_signal_ends_the_conversation_while_the_input_is_open(lake):
    process = subprocess.Popen(
        [PROGRAM, "mcp", "--as", "ana"], cwd=lake.home, env=lake.env, stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    try:
        ping = b'{"jsonrpc": "2.0", "id": 1, "method": "ping"}\n'
        process.stdin.write(ping)
        process.stdin.flush()
        assert json.loads(process.stdout.readline())["id"] == 1
        process.send_signal(TERMINATE)
        assert process.wait(LIMIT_S) == 0
    finally:
        process.kill()
        process.communicate()
