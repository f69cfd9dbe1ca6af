"""The documentation of the read side, and what it answers, held against one another by schemathesis."""

import re
import subprocess
import sys
from pathlib import Path

import pytest
from command import TERMINATE

from readers import ODD, serving

pytestmark = [pytest.mark.e2e, pytest.mark.timeout(400)]

PROGRAM = Path(sys.executable).parent / "schemathesis"
READ = "^/v1/(search|context|documents|outline|related|changes|sources|freshness)"


def held(url, headers, folder, *, examples, seed, without=()):
    """Ask all documented routes of the read side; every check that schemathesis knows must pass (`without` these)."""
    words = [
        PROGRAM, "--no-color", "run", f"{url}/openapi.json", "--include-path-regex", READ, "--mode", "all",
        "--phases", "examples,coverage,fuzzing", "--max-examples", str(examples), "--seed", str(seed),
        "--checks", "all", "--continue-on-failure",
    ]  # fmt: skip
    words += [word for name in without for word in ("--exclude-checks", name)]
    for name, value in headers.items():
        words += ["-H", f"{name}: {value}"]
    done = subprocess.run(words, cwd=folder, capture_output=True, text=True, timeout=360, check=False)
    assert done.returncode == 0, done.stdout
    return int(re.findall(r"(\d+) generated", done.stdout)[0])


def test_a_lake_in_memory_answers_as_documented(tmp_path):
    with serving(tmp_path) as service:
        for doc_id in ODD:
            service.lake.put(doc_id, "the giraffe is tall")
        asked = held(service.url, service.bearer("ana", "staff"), tmp_path, examples=30, seed=7)
    assert asked > 500


def test_a_real_lake_answers_as_documented(upwell, run):
    docs = upwell.write({"people/leave.md": "# Leave\n\nParental leave is long.\n\n## How\n\nAsk [hr](hr.md).\n"})
    upwell.env["UPWELL_RATE_PER_MINUTE"] = "100000"
    running = run(str(docs), "--owner", "ana", "--source", "handbook", "--listen", "127.0.0.1:0")
    running.ready()
    (url,) = re.findall(r"listening on (http://\S+):", running.log.read_text())
    token = upwell.json("token", "--as", "ana", "--ttl", "10m")["token"]
    # No schema can say which texts are cursors or names of tokenizers: those that are none may be refused.
    cursors = ("positive_data_acceptance",)
    asked = held(url, {"Authorization": f"Bearer {token}"}, upwell.home, examples=8, seed=11, without=cursors)
    assert asked > 200
    assert running.end(TERMINATE) == 0
    assert "not_answered" not in running.log.read_text()
