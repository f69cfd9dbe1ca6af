"""From a bucket to searchable text: objects on an S3 server, their notifications, an embedded lake that listens."""

import base64
import hashlib
import json
from contextlib import closing
from datetime import UTC, datetime, timedelta
from urllib.parse import quote_plus

import httpx
import pytest
import s3fs
from moto.server import ThreadedMotoServer

from upwell import wiring
from upwell.access import reader
from upwell.config import load

pytestmark = pytest.mark.integration

KEY, SECRET, BUCKET = "a-key", "a-secret", "handbook"
STAFF = reader("user:ana", "group:staff")
START = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)


@pytest.fixture(scope="module")
def s3():
    """A server of moto, and a client with a bucket in it."""
    server = ThreadedMotoServer("127.0.0.1", 0)
    server.start()
    host, port = server.get_host_and_port()
    options = {"endpoint_url": f"http://{host}:{port}", "key": "k", "secret": "s"}
    client = s3fs.S3FileSystem(**options, skip_instance_cache=True)
    client.mkdir(BUCKET)
    yield client, options
    server.stop()


@pytest.fixture
def lake(tmp_path, s3):
    settings = load(
        lake=tmp_path / "lake",
        embedder="hash",
        keys=({"sha256": hashlib.sha256(KEY.encode()).hexdigest(), "source": "notes"},),
        sources={
            "handbook": {
                "hook": "s3",
                "secret": SECRET,
                "connector": "s3",
                "options": s3[1],
                "roots": (f"s3://{BUCKET}/",),
                "acl": {"levels": [["group:staff"]]},
            },
            "notes": {"acl": {"levels": [["user:ana"]]}},
        },
    )
    with closing(Lake(wiring.own(settings))) as opened:
        yield opened


class Lake:
    """An embedded lake that listens, and a client of it."""

    def __init__(self, held):
        self.held = held
        self.http = httpx.Client(base_url=held.listen("127.0.0.1", 0), timeout=60)

    def notify(self, name, key, after_s=0, **more):
        """What S3 sends; `after_s` places it in time."""
        at = (START + timedelta(seconds=after_s)).isoformat(timespec="milliseconds").replace("+00:00", "Z")
        entity = {
            "bucket": {"name": BUCKET},
            "object": {"key": quote_plus(key), "sequencer": f"{after_s:016X}", **more},
        }
        body = {"Records": [{"eventSource": "aws:s3", "eventName": name, "eventTime": at, "s3": entity}]}
        answer = self.http.post("/v1/hooks/handbook", json=body, headers={"Authorization": SECRET})
        assert answer.status_code == 202, answer.text
        return answer.json()["accepted"]

    def event(self, **body):
        return self.http.post("/v1/events?wait=applied", json=body, headers={"Authorization": f"Bearer {KEY}"})

    def settled(self):
        """Wait until everything accepted has ended, and say how, by document."""
        self.event(doc_id="last", op="delete", version=1)
        while any(source.pending for source in self.held.status().sources):
            pass
        return {letter.doc_id: letter.reason for letter in self.held.dead_list()}

    def found(self, query, who=STAFF):
        return {hit.doc_id: hit for hit in self.held.search(query, principals=who).hits}

    def close(self):
        self.http.close()
        self.held.close()


def test_an_object_is_found_by_whom_the_source_admits_until_it_is_deleted(lake, s3):
    key = "policies/travel & expenses é+1.md"
    s3[0].pipe(f"{BUCKET}/{key}", b"# Travel\n\nThe aardvark allowance is ten euros.\n")
    lake.notify("ObjectCreated:Put", key, size=50)
    assert lake.settled() == {}
    hit = lake.found("aardvark allowance")[key]
    assert (hit.source, hit.url, "aardvark" in hit.text) == ("handbook", f"s3://{BUCKET}/{key}", True)
    assert lake.found("aardvark allowance", reader("user:eve")) == {}
    s3[0].rm(f"{BUCKET}/{key}")
    lake.notify("s3:ObjectRemoved:Delete", key, after_s=1)
    assert lake.settled() == {}
    assert lake.found("aardvark allowance") == {}


def test_replays_duplicates_and_lateness_change_nothing(lake, s3):
    s3[0].pipe(f"{BUCKET}/a.md", b"The first bandicoot.")
    first = lake.notify("ObjectCreated:Put", "a.md")
    assert first == lake.notify("s3:ObjectCreated:Put", "a.md")
    assert lake.settled() == {}
    s3[0].pipe(f"{BUCKET}/a.md", b"The second capybara.")
    lake.notify("ObjectCreated:Put", "a.md", after_s=2)
    lake.notify("ObjectCreated:Put", "a.md")
    assert lake.settled() == {}
    assert "capybara" in lake.found("capybara")["a.md"].text
    lake.notify("ObjectRemoved:DeleteMarkerCreated", "a.md", after_s=3)
    lake.notify("ObjectCreated:Put", "a.md", after_s=2)
    lake.notify("ObjectCreated:Copy", "a.md", after_s=1)
    assert lake.settled() == {}
    assert lake.found("capybara") == {}


def test_an_object_put_and_deleted_again_is_no_dead_letter(lake):
    """The delete overtakes; what cannot be fetched any more is superseded."""
    lake.notify("ObjectRemoved:Delete", "brief.md", after_s=5)
    lake.notify("ObjectCreated:Put", "brief.md", after_s=4)
    assert lake.settled() == {}


def test_an_object_that_is_not_there_is_a_dead_letter_with_its_reason_and_heals(lake, s3):
    lake.notify("ObjectCreated:Put", "gone.md")
    assert lake.settled() == {"gone.md": "unreadable"}
    s3[0].pipe(f"{BUCKET}/gone.md", b"Back again: the dugong.")
    lake.notify("ObjectCreated:Put", "gone.md", after_s=1)
    assert lake.settled() == {}
    assert lake.found("dugong").keys() == {"gone.md"}


def test_events_end_in_text_permissions_and_deletes_before_they_are_answered(lake):
    note = {"type": "inline", "data": "VGhlIGVjaGlkbmEgc2xlZXBzLg=="}
    answer = lake.event(doc_id="n.txt", op="upsert", version=1, content=note, media_type="text/plain")
    assert (answer.status_code, answer.json()["ended"][0]["outcome"]) == (200, "applied")
    assert lake.found("echidna").keys() == {"n.txt"}
    nobody = lake.event(doc_id="n.txt", op="acl", version=1, acl={"levels": [["user:bob"]]})
    assert nobody.status_code == 200
    assert lake.found("echidna") == {}
    assert lake.found("echidna", reader("user:bob")).keys() == {"n.txt"}
    again = lake.event(doc_id="n.txt", op="upsert", version=1, content=note, media_type="text/plain")
    assert again.json()["ended"][0]["outcome"] == "applied"
    assert lake.event(doc_id="n.txt", op="delete", version=2).status_code == 200
    late = lake.event(doc_id="n.txt", op="upsert", version=1, content=note, title="late")
    assert late.json()["ended"][0]["outcome"] == "superseded"
    assert lake.found("echidna", reader("user:bob")) == {}


def test_a_document_that_cannot_be_parsed_is_answered_as_dead_with_its_reason(lake):
    answer = lake.event(doc_id="x.pdf", op="upsert", content={"type": "inline", "data": "JVBERi0xLjcK"})
    (ended,) = answer.json()["ended"]
    assert (answer.status_code, ended["outcome"], ended["reason"]) == (200, "dead", "corrupt")


def test_an_erasure_leaves_no_word_of_the_document_in_the_log(lake, tmp_path):
    """Not in an event that ended, nor in a dead letter, which keeps its content to be replayed."""
    secret = base64.b64encode(b"%PDF-1.7 The pangolin is not a PDF.").decode()
    dead = lake.event(doc_id="p.pdf", op="upsert", title="pangolin", content={"type": "inline", "data": secret})
    assert dead.json()["ended"][0]["outcome"] == "dead"
    assert any(b"pangolin" in path.read_bytes() for path in (tmp_path / "lake").glob("events.sqlite*"))
    answer = lake.event(doc_id="p.pdf", op="erase")
    assert (answer.status_code, answer.json()["ended"][0]["outcome"]) == (200, "applied")
    assert lake.held.dead_list() == ()
    files = [path for path in (tmp_path / "lake").rglob("*") if path.is_file()]
    assert [path.name for path in files if b"pangolin" in path.read_bytes()] == []


def test_the_network_serves_nothing_of_the_operators_and_reads_only_for_tokens(lake):
    """Metrics stand here since this address is the machine's own."""
    assert lake.http.get("/readyz").text == "ok\n"
    assert "upwell_gateway_requests_total" in lake.http.get("/metrics").text
    for path in ("/v1/status", "/v1/dead", "/v1/erase", "/v1/erasures", "/v1/ingest", "/v1/read/search"):
        assert {lake.http.get(path).status_code, lake.http.post(path, json={}).status_code} == {404}
    assert lake.http.post("/v1/search", json={"query": "pumps"}).status_code == 401
    assert lake.http.get("/v1/documents/a.md").status_code == 401


def test_more_than_may_wait_is_429(tmp_path):
    settings = load(
        lake=tmp_path / "lake",
        embedder="hash",
        max_pending=1,
        keys=({"sha256": hashlib.sha256(KEY.encode()).hexdigest(), "source": "notes"},),
    )
    with closing(Lake(wiring.own(settings))) as lake:
        body = json.dumps([{"doc_id": str(n), "op": "delete"} for n in range(2)])
        answer = lake.http.post("/v1/events", content=body, headers={"Authorization": f"Bearer {KEY}"})
        assert (answer.status_code, answer.headers["Retry-After"]) == (429, "5")
