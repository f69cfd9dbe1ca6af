"""A folder that loses its documents at once, in a real lake: nothing goes before somebody approves it."""

import shutil
import threading

import pytest

from broker import wait_for
from upwell import config, wiring

pytestmark = [pytest.mark.integration, pytest.mark.timeout(300)]
OWNER = "user:ana"
COUNT = 30


@pytest.fixture
def docs(tmp_path):
    folder = tmp_path / "docs"
    (folder / "guide").mkdir(parents=True)
    for number in range(COUNT):
        (folder / "guide" / f"{number:02}.md").write_text(f"The word is larch, {number}.")
    (folder / "a.md").write_text("The word is larch.")
    return folder


def found(lake):
    return len(lake.search("larch", principals=frozenset({OWNER}), k=COUNT + 5).hits)


def test_a_followed_folder_that_is_emptied_keeps_its_documents_until_they_are_approved(tmp_path, docs):
    """The first file that comes afterwards makes it no real deletion; the people who watch and `status` are told."""
    lake = wiring.own(config.load(lake=tmp_path / "lake", embedder="hash"))
    lines, ready, stop = [], threading.Event(), threading.Event()
    following = threading.Thread(
        target=lambda: lake.follow(
            docs, owner=OWNER, stop=stop, on_ready=lambda _answer: ready.set(), on_change=lines.append
        )
    )
    following.start()
    try:
        assert ready.wait(60)
        shutil.rmtree(docs / "guide")
        (docs / "a.md").unlink()
        wait_for(lambda: any("upwell approve --source docs" in line for line in lines), 30, "somebody is told")
        (docs / "new.md").write_text("The word is alder.")
        wait_for(lambda: any("new.md: searchable" in line for line in lines), 30, "the new file is taken in")
        kept = found(lake)
        assert kept >= COUNT - 10  # a handful of single deletions may have been noticed one by one
        (warning,) = lake.status().sources[0].warnings
        assert warning.startswith("deletes_held: .: ")
        (deletes,) = lake.approve().sources
        assert deletes.documents >= kept - 1
        assert found(lake) <= 1
        assert lake.status().sources[0].warnings == ()
    finally:
        stop.set()
        following.join(30)
        lake.close()


def test_what_waits_outlives_the_process_and_is_approved_by_another(tmp_path, docs):
    settings = config.load(lake=tmp_path / "lake", embedder="hash")
    lake = wiring.connect(settings)
    lake.ingest(docs, owner=OWNER)
    away = docs.rename(tmp_path / "away")
    docs.mkdir()
    assert "source_empty" in lake.ingest(docs, owner=OWNER).warnings[0]
    lake.close()
    lake = wiring.connect(settings)
    try:
        docs.rmdir()
        assert found(lake) == COUNT + 1
        (deletes,) = lake.approve(source="docs").sources
        assert (deletes.tenant, deletes.source, deletes.documents) == ("default", "docs", COUNT + 1)
        assert found(lake) == 0
        away.rename(docs)
        assert lake.ingest(docs, owner=OWNER).documents.new == COUNT + 1
        assert found(lake) == COUNT + 1
    finally:
        lake.close()


def test_a_re_used_name_inherits_neither_words_nor_readers(tmp_path, docs):
    """Deleted, then a new file of the same name: whoever could read the old one finds nothing of either."""
    access = docs / "guide" / ".upwell-access.yaml"
    access.write_text("allow: [everyone]")
    lake = wiring.connect(config.load(lake=tmp_path / "lake", embedder="hash"))
    try:
        lake.ingest(docs, owner=OWNER)
        hits = lake.search("larch", principals=frozenset({"user:bob"}), k=50).hits
        assert len(hits) == COUNT
        (docs / "guide" / "00.md").unlink()
        access.unlink()
        lake.ingest(docs, owner=OWNER)
        (docs / "guide" / "00.md").write_text("The word is alder.")
        lake.ingest(docs, owner=OWNER)
        shown = lake.show("guide/00.md")
        assert [chunk.text for chunk in shown.chunks] == ["The word is alder."]
        assert shown.acl.levels == ((OWNER,),)
        assert lake.search("alder", principals=frozenset({"user:bob"}), k=50).hits == ()
        texts = [hit.text for hit in lake.search("larch alder", principals=frozenset({OWNER}), k=50).hits]
        assert not any("larch, 0." in text for text in texts)
    finally:
        lake.close()
