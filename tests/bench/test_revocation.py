"""How soon a revocation binds in the embedded lake while a hundred searches are in flight."""

import base64
import re
import shutil
import sqlite3
import subprocess
import threading
import time
from contextlib import closing

import httpx
import msgspec
import pytest
from measuring import UPWELL, p99, summary, until

from upwell.clock import now_us

pytestmark = [pytest.mark.bench, pytest.mark.timeout(1200)]

IN_FLIGHT = 100
REVOCATIONS = 200
EVERY_S = 0.1
DOCUMENTS = 50
QUESTIONS = ("collector pipeline", "export metrics to prometheus", "sampling of traces", "log records", "resource")


@pytest.fixture(scope="module")
def serving(otel_start, tmp_path_factory):
    """(URL, headers of the source's key, headers of a reader, the lake's folder) of `upwell run --listen` on MiniLM."""
    home = tmp_path_factory.mktemp("revocation")
    shutil.copytree(otel_start, home / "docs")

    def said(*line):
        return subprocess.run([*UPWELL, *line], cwd=home, check=True, capture_output=True, text=True).stdout

    key = msgspec.json.decode(said("gateway", "--new-key", "--json"))
    (home / "upwell.toml").write_text(
        f'rate_per_minute = 1000000\n[[keys]]\nsha256 = "{key["sha256"]}"\nsource = "notes"\n'
        '[sources.notes.acl]\nlevels = [["everyone"]]\n'
    )
    command = [*UPWELL, "run", "docs", "--owner", "user:ana", "--listen", "127.0.0.1:0"]
    with (
        (home / "log").open("wb") as log,
        subprocess.Popen(command, cwd=home, stdout=log, stderr=log) as process,
    ):
        until(lambda: "following" in (home / "log").read_text(), timeout_s=600, every_s=0.5)
        url = re.findall(r"listening on (http://[\d.:]+\d)", (home / "log").read_text())[0]
        token = said("token", "--as", "user:ana").strip()
        yield url, bearer(key["key"]), bearer(token), home / ".upwell"
        process.terminate()
        process.wait(timeout=30)


def bearer(secret):
    return {"Authorization": f"Bearer {secret}"}


def test_a_revocation_binds_within_50_ms_under_a_hundred_searches(serving, capsys):
    url, key, token, lake = serving
    events = [{"doc_id": f"{n}.md", "op": "upsert", "content": text(n)} for n in range(DOCUMENTS)]
    httpx.post(f"{url}/v1/events?wait=applied", json=events, headers=key, timeout=60).raise_for_status()
    calm = revoked(url, key, lake, 1)
    stop, answered = threading.Event(), []
    searching = [threading.Thread(target=search, args=(url, token, stop, answered)) for _ in range(IN_FLIGHT)]
    for thread in searching:
        thread.start()
    until(lambda: len(answered) > IN_FLIGHT, timeout_s=60)
    begun, before = time.monotonic(), len(answered)
    busy = revoked(url, key, lake, 2)
    rate = (len(answered) - before) / (time.monotonic() - begun)
    stop.set()
    for thread in searching:
        thread.join()
    with capsys.disabled():
        print("\n" + summary("accepted to effective, nobody searching", calm))
        print(summary(f"accepted to effective, {IN_FLIGHT} searches in flight", busy))
        print(f"{rate:.0f} searches/s meanwhile")
    assert set(answered) == {200}
    assert p99(busy) < 0.05


def text(n):
    return {"type": "inline", "data": base64.b64encode(f"Note {n} about a pipeline.".encode()).decode()}


def search(url, token, stop, answered):
    with httpx.Client(base_url=url, headers=token, timeout=60) as client:
        for n in range(10**9):
            if stop.is_set():
                return
            question = {"query": QUESTIONS[n % len(QUESTIONS)], "k": 5}
            answered.append(client.post("/v1/search", json=question).status_code)


def revoked(url, key, lake, turn):
    """Seconds from accepted to effective of each of REVOCATIONS narrowings, one after the other."""
    names = []
    with httpx.Client(base_url=url, headers=key, timeout=60) as client:
        for n in range(REVOCATIONS):
            name = f"narrow-{turn}-{n}"
            event = {
                "event_id": name,
                "doc_id": f"{n % DOCUMENTS}.md",
                "op": "acl",
                "version": 0,
                "acl_version": now_us(),
                "acl": {"levels": [["user:ana"]], "deny": [f"user:{n}"]},
            }
            client.post("/v1/events", json=[event]).raise_for_status()
            names.append(name)
            time.sleep(EVERY_S)
    until(lambda: len(effective(lake, names)) == len(names), timeout_s=60)
    return list(effective(lake, names).values())


def effective(lake, names):
    """event_id -> seconds from accepted (the log) to effective (the registry's transaction).

    The registry's time is taken before its transaction begins; that, with one wait for the disk, comes on top (3 ms at
    the median and 20 to 28 ms at the 99th percentile where this was measured).
    """
    with (
        closing(sqlite3.connect(lake / "events.sqlite")) as log,
        closing(sqlite3.connect(lake / "registry.sqlite")) as registry,
    ):
        accepted = dict(log.execute("SELECT event_id, received_at FROM events").fetchall())
        bound = dict(registry.execute("SELECT event_id, at FROM applied WHERE op = 'acl'").fetchall())
    return {name: (bound[name] - accepted[name]) / 1e6 for name in names if name in bound and name in accepted}
