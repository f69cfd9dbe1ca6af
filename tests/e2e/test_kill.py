"""kill -9 of the real process at any moment of an ingest: started again, it ends in the same lake."""

import os
import random
import signal
import subprocess
import time

import pytest
from command import PROGRAM, Upwell

from lakes import contents, outcomes

pytestmark = [pytest.mark.e2e, pytest.mark.timeout(600)]
DOCUMENTS, KILLS = 200, 20


@pytest.fixture
def folder(tmp_path):
    """200 documents of a few chunks each, in folders with different rights."""
    rng = random.Random(20)
    words = [f"word{n}" for n in range(500)]
    root = tmp_path / "docs"
    for n in range(DOCUMENTS):
        paragraphs = [" ".join(rng.choices(words, k=60)) + "." for _ in range(rng.randrange(1, 8))]
        path = root / f"part{n % 7}" / f"{n}.md"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"# Document {n}\n\n" + "\n\n".join(paragraphs) + "\n")
    (root / "part3" / ".upwell-access.yaml").write_text("allow: [group:three]\n")
    past = time.time() - 60
    for path in root.rglob("*"):
        os.utime(path, (past, past))
    return root


def test_killed_twenty_times_it_ends_in_the_same_lake(folder, tmp_path):
    rng = random.Random(7)
    lake = tmp_path / "killed"
    command = [PROGRAM, "ingest", folder, "--owner", "ana", "--embedder", "hash", "--lake", lake, "--json"]
    killed = rounds = 0
    while killed < KILLS:
        rounds += 1
        assert rounds < 5 * KILLS, "most runs ended before they could be killed"
        if rounds > 5:  # by now most documents are in: give the next run work to be killed at
            edit_some(folder, rng, rounds)
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            process.wait(timeout=rng.uniform(0.4, 2.0))
        except subprocess.TimeoutExpired:
            process.send_signal(signal.SIGKILL)
            process.wait()
            killed += 1
    upwell = Upwell(tmp_path)
    upwell.json("ingest", folder, "--owner", "ana", "--lake", lake)
    upwell.json("ingest", folder, "--owner", "ana", "--lake", tmp_path / "whole")
    assert contents(lake) == contents(tmp_path / "whole")
    ended = outcomes(lake)
    assert ended.get("pending", 0) == 0
    assert ended["applied"] + ended.get("superseded", 0) >= DOCUMENTS


def edit_some(folder, rng, number):
    """Add a paragraph to sixty documents, and take one away from some."""
    for path in rng.sample(sorted(folder.rglob("*.md")), 60):
        paragraphs = path.read_text().split("\n\n")
        if len(paragraphs) > 3:
            del paragraphs[rng.randrange(1, len(paragraphs))]
        path.write_text("\n\n".join([*paragraphs, f"In round {number} this was added to {path.stem}."]))
