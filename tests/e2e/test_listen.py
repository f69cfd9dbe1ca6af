"""`upwell run DIR --listen` and `upwell gateway` as people start them."""

import base64
import re
import tomllib

import httpx
import pytest
from command import LIMIT_S, TERMINATE

pytestmark = pytest.mark.e2e

BODY = {
    "doc_id": "n.md",
    "op": "upsert",
    "content": {"type": "inline", "data": base64.b64encode(b"The giraffe is tall.").decode()},
}


def url_of(running):
    """Where it says that it listens."""
    found = []

    def said():
        found[:] = re.findall(r"listening on (http://\S+):", running.log.read_text())
        return found

    return said, found


def keyed(upwell):
    """Settings with a new key for the source `notes`; the key."""
    made = upwell.json("gateway", "--new-key")
    upwell.home.joinpath("upwell.toml").write_text(
        f'[[keys]]\nsha256 = "{made["sha256"]}"\nsource = "notes"\n\n[sources.notes.acl]\nlevels = [["user:ana"]]\n'
    )
    return {"Authorization": f"Bearer {made['key']}"}


def test_an_event_over_the_network_is_found_and_sigterm_ends_cleanly(upwell, run):
    headers = keyed(upwell)
    running = run(str(upwell.write({"a.md": "# A\n\nSomething else.\n"})), "--listen", "127.0.0.1:0", "--owner", "ana")
    running.ready()
    said, found = url_of(running)
    upwell.until(said, "the gateway listens")
    with httpx.Client(base_url=found[0], timeout=LIMIT_S) as http:
        assert http.post("/v1/events", json=BODY).status_code == 401
        answer = http.post("/v1/events?wait=applied", json=BODY, headers=headers)
        assert (answer.status_code, answer.json()["ended"][0]["outcome"]) == (200, "applied")
        assert upwell.found("giraffe", "--as", "ana", "-k", "1") == {"n.md"}
        assert http.post("/v1/search", json={"query": "giraffe"}, headers=headers).status_code == 401
        assert 'upwell_parsed_documents_total{media_type="text/markdown",status="ok"} 2.0' in http.get("/metrics").text
    assert running.end(TERMINATE) == 0
    assert upwell.found("giraffe", "--as", "ana", "-k", "1") == {"n.md"}
    assert upwell.found("giraffe", "--as", "eve") == set()


def test_events_accepted_before_the_end_are_there_afterwards(upwell, run):
    """What was answered 202 is durable, although the process is told to end at once."""
    headers = keyed(upwell)
    running = run(str(upwell.write({"a.md": "a"})), "--listen", "127.0.0.1:0", "--owner", "ana")
    running.ready()
    said, found = url_of(running)
    upwell.until(said, "the gateway listens")
    accepted = httpx.post(
        f"{found[0]}/v1/events", json=[{**BODY, "doc_id": f"{n}.md"} for n in range(30)], headers=headers
    )
    assert (accepted.status_code, running.end(TERMINATE)) == (202, 0)
    upwell("ingest", "docs", "--owner", "ana")
    upwell.until(
        lambda: len(upwell.found("giraffe", "--as", "ana", "-k", "40")) >= 30, "what was accepted is searchable"
    )


def test_a_new_key_is_printed_as_settings_with_its_digest(upwell):
    said = upwell("gateway", "--new-key").stdout
    assert len(tomllib.loads(said)["keys"][0]["sha256"]) == 64


def test_what_cannot_be_listened_on_is_one_line(upwell):
    docs = str(upwell.write({"a.md": "a"}))
    assert "HOST:PORT" in upwell("run", docs, "--listen", "8080", status=2).stderr
    assert "--listen 192.0.2.1:80" in upwell("run", docs, "--listen", "192.0.2.1:80", status=2).stderr


def test_a_gateway_without_brokers_says_what_to_do(upwell):
    assert "upwell run DIR --listen" in upwell("gateway", status=2).stderr


def test_a_hook_without_a_secret_is_refused_at_the_start(upwell):
    upwell.home.joinpath("upwell.toml").write_text('[sources.wiki]\nhook = "hmac"\n')
    assert (
        "sources.wiki.secret"
        in upwell("run", str(upwell.write({"a.md": "a"})), "--listen", "127.0.0.1:0", status=2).stderr
    )


def test_a_folder_and_a_key_of_one_source_are_kept_apart(upwell):
    keyed(upwell)
    said = upwell(
        "run", str(upwell.write({"a.md": "a"})), "--source", "notes", "--listen", "127.0.0.1:0", status=2
    ).stderr
    assert "name another --source" in said
