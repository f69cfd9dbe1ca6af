"""How long until an edit is found, and until a narrowing hides, while `run` follows the real start state."""

import os
import random
import re
import shutil
import subprocess
import time
from pathlib import Path

import msgspec
import pytest
from measuring import UPWELL, p99, summary, until

from upwell.runtime.owner.lock import OwnerInfo
from upwell.runtime.owner.remote import RemoteLake

pytestmark = [pytest.mark.bench, pytest.mark.timeout(2400)]
ANA, GUEST = frozenset({"user:ana"}), frozenset({"user:guest", "group:guests"})


@pytest.fixture(scope="module")
def running(otel_start, tmp_path_factory):
    """A copy of the start state, followed by `upwell run` with MiniLM; ready when everything is searchable."""
    base = tmp_path_factory.mktemp("fresh")
    folder = base / "docs"
    shutil.copytree(otel_start, folder)
    (folder / ".upwell-access.yaml").write_text("allow: [group:guests]\n")
    lake = base / "lake"
    command = [*UPWELL, "run", str(folder), "--owner", "user:ana", "--lake", str(lake)]
    with (base / "log").open("wb") as log, subprocess.Popen(command, stdout=log, stderr=log) as process:
        client = RemoteLake(_socket(lake))
        until(lambda: _settled(client), timeout_s=1200, every_s=0.5)
        yield folder, client
        client.close()
        process.terminate()
        process.wait(timeout=30)


def test_an_edit_is_found_within_a_second(running, capsys):
    folder, client = running
    rng = random.Random(7)
    files = sorted(folder.rglob("*.md"))
    seconds = []
    for n in range(100):
        word = f"zq{n}x{rng.randrange(10**9)}"
        edit_paragraph(rng.choice(files), word, rng, atomic=n % 2 == 0)
        seconds.append(until(lambda word=word: found(client, word, ANA), timeout_s=20))
        time.sleep(rng.uniform(0.2, 1.5))
    with capsys.disabled():
        print("\n" + summary("file closed until found", seconds))
    assert p99(seconds) < 1.0


def test_a_narrowing_hides_within_a_second(running, capsys):
    folder, client = running
    rng = random.Random(8)
    folders = sorted({path.parent for path in folder.rglob("*.md")} - {folder})
    seconds = []
    for n in range(20):
        target = folders[n % len(folders)]
        document = next(iter(sorted(target.glob("*.md"))))
        word = f"zn{n}x{rng.randrange(10**9)}"
        edit_paragraph(document, word, rng, atomic=True)
        until(lambda word=word: found(client, word, GUEST), timeout_s=20)
        access = target / ".upwell-access.yaml"
        access.write_text("deny: [group:guests]\n")
        seconds.append(until(lambda word=word: not found(client, word, GUEST), timeout_s=20))
        access.unlink()
        until(lambda word=word: found(client, word, GUEST), timeout_s=30, every_s=0.05)
    with capsys.disabled():
        print("\n" + summary("access file closed until hidden", seconds))
    assert p99(seconds) < 1.0


def edit_paragraph(path: Path, word: str, rng: random.Random, *, atomic: bool) -> None:
    """Put a new word at the end of one paragraph, in place or by writing beside and renaming over (as editors do)."""
    parts = re.split(r"(\n\s*\n)", path.read_text())
    candidates = [
        i
        for i in range(0, len(parts), 2)
        if len(parts[i].split()) > 12 and not parts[i].startswith(("#", "-", "`", "{", "|"))
    ]
    at = rng.choice(candidates) if candidates else len(parts) - 1
    parts[at] += f" The marker {word} stands here."
    if atomic:
        beside = path.with_name(f".{path.name}.tmp")
        beside.write_text("".join(parts))
        os.replace(beside, path)  # noqa: PTH105  the call that editors make
    else:
        path.write_text("".join(parts))


def found(client: RemoteLake, word: str, reader: frozenset[str]) -> bool:
    answer = client.search(word, principals=reader, k=5)
    return any(word in hit.text for hit in answer.hits)


def _socket(lake: Path) -> str:
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        try:
            return msgspec.json.decode((lake / "lock").read_bytes(), type=OwnerInfo).socket
        except (OSError, msgspec.DecodeError):
            time.sleep(0.2)
    raise AssertionError("run did not take the lake")


def _settled(client: RemoteLake) -> bool:
    """Everything is in, and the widening by the new access file has taken effect."""
    sources = client.status().sources
    there = bool(sources) and sources[0].documents >= 228 and not any(source.pending for source in sources)
    return there and len(client.search("collector", principals=GUEST, k=5).hits) == 5
