"""What an edit may cost, counted: chunks embedded and files opened, never seconds."""

import os
import random
import sys
import time

import pytest

from lakes import contents
from upwell import config, wiring

pytestmark = [pytest.mark.integration, pytest.mark.timeout(300)]
DOCUMENTS = 300
LISTENERS: list[list[str]] = []


def _listen(event, args):
    if LISTENERS and event == "open" and isinstance(args[0], (str, bytes)):
        LISTENERS[-1].append(os.fsdecode(args[0]))


sys.addaudithook(_listen)


@pytest.fixture(scope="module")
def world(tmp_path_factory):
    """300 Markdown documents, ingested once."""
    base = tmp_path_factory.mktemp("bounds")
    rng = random.Random(3)
    words = [f"word{n}" for n in range(800)]
    for n in range(DOCUMENTS):
        path = base / "docs" / f"area{n % 10}" / f"{n}.md"
        path.parent.mkdir(parents=True, exist_ok=True)
        sections = [
            f"## Section {s}\n\n" + "\n\n".join(" ".join(rng.choices(words, k=70)) + "." for _ in range(4))
            for s in range(3)
        ]
        path.write_text(f"# Document {n}\n\n" + "\n\n".join(sections) + "\n")
    lake = wiring.connect(config.load(lake=base / "lake", embedder="hash"))
    first = lake.ingest(base / "docs", owner="user:ana")
    assert first.documents.new == DOCUMENTS
    assert first.chunks.embedded > 2 * DOCUMENTS
    yield base / "docs", lake
    lake.close()
    contents(base / "lake")


def settle():
    """Let what was written be older than the clock's grain, so that its times can be trusted."""
    time.sleep(0.05)


def again(world):
    folder, lake = world
    settle()
    return lake.ingest(folder, owner="user:ana")


def test_a_second_run_embeds_nothing_and_opens_no_document(world):
    again(world)
    LISTENERS.append([])
    try:
        answer = again(world)
    finally:
        opened = [path for path in LISTENERS.pop() if path.endswith(".md")]
    assert opened == []
    assert answer.documents.unchanged == DOCUMENTS
    assert (answer.chunks.embedded, answer.chunks.reused, answer.tokens_embedded) == (0, 0, 0)


def test_an_edited_paragraph_embeds_at_most_two_chunks(world):
    folder, _ = world
    rng = random.Random(5)
    for n in rng.sample(range(DOCUMENTS), 12):
        path = folder / f"area{n % 10}" / f"{n}.md"
        paragraphs = path.read_text().split("\n\n")
        at = rng.choice([i for i, text in enumerate(paragraphs) if not text.startswith("#")])
        kept = paragraphs[at].split()
        kept[len(kept) // 2] = f"changed{n}"
        paragraphs[at] = " ".join(kept)
        path.write_text("\n\n".join(paragraphs))
        answer = again(world)
        assert answer.documents.changed == 1
        assert 1 <= answer.chunks.embedded <= 2


def test_a_renamed_and_a_moved_file_embed_nothing(world):
    folder, lake = world
    (folder / "area1" / "1.md").rename(folder / "area1" / "renamed.md")
    answer = again(world)
    assert (answer.documents.renamed, answer.documents.deleted, answer.chunks.embedded) == (1, 0, 0)
    (folder / "area2" / "2.md").rename(folder / "area3" / "moved.md")
    answer = again(world)
    assert (answer.documents.renamed, answer.documents.deleted, answer.chunks.embedded) == (1, 0, 0)
    assert lake.show("area1/1.md").moved_to == "area1/renamed.md"
    assert len(lake.show("area1/renamed.md").chunks) > 2


def test_a_whole_folder_renamed_embeds_nothing(world):
    folder, _ = world
    (folder / "area9").rename(folder / "area9b")
    answer = again(world)
    assert (answer.documents.renamed, answer.chunks.embedded) == (DOCUMENTS // 10, 0)


def test_an_access_change_embeds_nothing(world):
    folder, lake = world
    (folder / "area4" / ".upwell-access.yaml").write_text("allow: [group:four]\n")
    answer = again(world)
    assert answer.documents.acl_changed == DOCUMENTS // 10
    assert (answer.chunks.embedded, answer.chunks.removed) == (0, 0)
    assert lake.show("area4/4.md").acl.levels == (("group:four", "user:ana"),)


def test_a_touched_file_embeds_nothing(world):
    folder, _ = world
    path = folder / "area5" / "5.md"
    os.utime(path, (time.time(), time.time()))
    answer = again(world)
    assert (answer.documents.changed, answer.chunks.embedded) == (0, 0)


def test_a_copy_embeds_nothing(world):
    folder, _ = world
    (folder / "area6" / "copy.md").write_bytes((folder / "area6" / "6.md").read_bytes())
    answer = again(world)
    assert answer.documents.new == 1
    assert answer.chunks.embedded == 0
    assert answer.chunks.reused > 2


def test_a_deleted_file_leaves_no_points(world):
    folder, lake = world
    (folder / "area7" / "7.md").unlink()
    answer = again(world)
    assert answer.documents.deleted == 1
    assert answer.chunks.removed > 2
    shown = lake.show("area7/7.md")
    assert shown.deleted
    assert shown.chunks == ()
