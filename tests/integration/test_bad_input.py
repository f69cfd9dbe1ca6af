"""Bad input never stops the run: each file ends in a status that a person understands, and its neighbours are fine."""

import os
import shutil
import subprocess
import threading
import time
import unicodedata
import zipfile

import pytest

from lakes import contents
from upwell import config, wiring
from upwell.errors import Retryable

pytestmark = [pytest.mark.integration, pytest.mark.timeout(300)]
OWNER = "user:ana"


@pytest.fixture
def world(tmp_path):
    """An empty folder and a lake that is closed at the end."""
    folder = tmp_path / "docs"
    folder.mkdir()
    lake = wiring.connect(config.load(lake=tmp_path / "lake", embedder="hash"))
    yield folder, lake
    lake.close()


def dead(lake) -> dict[str, str]:
    return {letter.doc_id: letter.reason for letter in lake.dead_list()}


def found(lake, word: str) -> set[str]:
    return {hit.doc_id for hit in lake.search(word, principals=frozenset({OWNER}), k=20).hits if word in hit.text}


def test_each_bad_file_has_its_own_status_and_the_good_one_is_there(world):
    folder, lake = world
    (folder / "good.md").write_text("# Good\n\nThe word is larch.\n")
    (folder / "empty.md").write_bytes(b"")
    (folder / "blank.txt").write_text(" \n\n ")
    (folder / "corrupt.pdf").write_bytes(b"%PDF-1.7\nnothing more")
    (folder / "corrupt.docx").write_bytes(b"PK\x03\x04 not a zip")
    (folder / "noise.bin").write_bytes(os.urandom(5000))
    (folder / "named.docx").write_text("Plain words in a file with another name: alder.")
    with zipfile.ZipFile(folder / "bomb.zip", "w", zipfile.ZIP_DEFLATED) as bomb:
        bomb.writestr("zeros.txt", b"0" * 50_000_000)
    with (folder / "huge.txt").open("wb") as huge:
        for _ in range(50):
            huge.write(b"word " * 209_715)
    answer = lake.ingest(folder, owner=OWNER)
    reasons = dead(lake)
    assert found(lake, "larch") == {"good.md"}
    assert found(lake, "alder") == {"named.docx"}
    assert reasons["corrupt.pdf"] == "corrupt"
    assert reasons["corrupt.docx"] in {"corrupt", "unsupported"}
    assert reasons["noise.bin"] == "unsupported"
    assert reasons["huge.txt"] == "too_large"
    assert "empty.md" not in reasons
    assert lake.show("empty.md").status == "empty"
    assert lake.show("blank.txt").status == "empty"
    assert answer.documents.dead == len(reasons)
    assert answer.documents.new == 9
    assert lake.ingest(folder, owner=OWNER).documents.unchanged >= 9 - len(reasons)


def test_an_encrypted_document_says_so(world):
    corpora = os.environ.get("UPWELL_CORPORA")
    if not corpora:
        pytest.skip("UPWELL_CORPORA is not set")
    folder, lake = world
    for name in ("pdf_encrypted.pdf", "docx_encrypted.docx"):
        shutil.copy(f"{corpora}/parsing/docs/{name}", folder)
    lake.ingest(folder, owner=OWNER)
    assert dead(lake) == {"pdf_encrypted.pdf": "encrypted", "docx_encrypted.docx": "encrypted"}


def test_a_document_that_becomes_corrupt_keeps_its_last_good_version_marked_stale(world):
    folder, lake = world
    path = folder / "book.docx"
    path.write_text("Words in a plain file: larch.")
    lake.ingest(folder, owner=OWNER)
    path.write_bytes(b"PK\x03\x04" + bytes(100))
    lake.ingest(folder, owner=OWNER)
    (hit,) = lake.search("larch", principals=frozenset({OWNER})).hits
    assert hit.stale_since is not None
    assert hit.stale_reason == dead(lake)["book.docx"]
    path.write_text("Words in a plain file: maple.")
    lake.ingest(folder, owner=OWNER)
    assert (found(lake, "larch"), found(lake, "maple"), dead(lake)) == (set(), {"book.docx"}, {})


def test_a_blanked_files_text_is_gone_and_comes_back_with_it(world):
    folder, lake = world
    path = folder / "page.md"
    path.write_text("The word is larch.")
    lake.ingest(folder, owner=OWNER)
    path.write_text("")
    lake.ingest(folder, owner=OWNER)
    assert found(lake, "larch") == set()
    path.write_text("The word is larch again.")
    lake.ingest(folder, owner=OWNER)
    assert found(lake, "larch") == {"page.md"}


def test_a_file_restored_with_an_older_time_or_moved_away_and_back_is_found_again(world):
    folder, lake = world
    path = folder / "page.md"
    (folder / "other.md").write_text("A folder that is suddenly empty would be another matter.")
    path.write_text("The old word is larch.")
    os.utime(path, (1_000_000_000, 1_000_000_000))
    saved = folder.parent / "saved.md"
    shutil.copy2(path, saved)
    lake.ingest(folder, owner=OWNER)
    path.write_text("The new word is maple.")
    lake.ingest(folder, owner=OWNER)
    shutil.copy2(saved, path)
    lake.ingest(folder, owner=OWNER)
    assert (found(lake, "larch"), found(lake, "maple")) == ({"page.md"}, set())
    path.rename(folder.parent / "away.md")
    lake.ingest(folder, owner=OWNER)
    assert found(lake, "larch") == set()
    (folder.parent / "away.md").rename(path)
    lake.ingest(folder, owner=OWNER)
    assert found(lake, "larch") == {"page.md"}


def test_names_of_all_kinds(world):
    folder, lake = world
    names = [
        "with space.md",
        "quo'te\".md",
        "emoji 🌲.md",
        "new\nline.md",
        "-dash.md",
        "#hash?&%.md",
        "ünïcode.md",
        "[x].md",
    ]
    for n, name in enumerate(names):
        (folder / name).write_text(f"This is number{n}x.")
    lake.ingest(folder, owner=OWNER)
    for n, name in enumerate(names):
        assert found(lake, f"number{n}x") == {unicodedata.normalize("NFC", name)}
        assert len(lake.show(unicodedata.normalize("NFC", name)).chunks) == 1


def test_twins_in_nfc_and_nfd_and_names_that_are_no_text(world):
    folder, lake = world
    (folder / "caf\u00e9.md").write_text("composed larch")
    (folder / "cafe\u0301.md").write_text("decomposed larch")
    with open(os.fsencode(folder) + b"/\xff.md", "w") as file:  # noqa: PTH123  a name that no Path of text spells
        file.write("no text in its name")
    lake.ingest(folder, owner=OWNER)
    assert sorted(dead(lake).values()) == ["name_collision", "unsupported"]
    (hit,) = lake.search("larch", principals=frozenset({OWNER})).hits
    assert (hit.doc_id, hit.text) == ("caf\u00e9.md", "decomposed larch")


def test_ten_thousand_tiny_files(world):
    folder, lake = world
    for n in range(10_000):
        path = folder / f"d{n % 100}" / f"{n}.txt"
        path.parent.mkdir(exist_ok=True)
        path.write_text(f"tiny number{n}x")
    answer = lake.ingest(folder, owner=OWNER)
    assert (answer.documents.new, answer.documents.dead) == (10_000, 0)
    assert found(lake, "number4711x") == {"d11/4711.txt"}


def test_a_file_that_changes_while_it_is_read_ends_as_what_it_became(world):
    folder, lake = world
    path = folder / "busy.txt"
    stop = threading.Event()

    def scribble():
        n = 0
        while not stop.is_set():
            n += 1
            path.write_text(f"round{n}x " + "filler words " * 30_000)
        path.write_text("the last word is larch " + "filler words " * 30_000)

    writer = threading.Thread(target=scribble)
    writer.start()
    time.sleep(0.1)
    lake.ingest(folder, owner=OWNER)
    stop.set()
    writer.join()
    lake.ingest(folder, owner=OWNER)
    assert found(lake, "larch") == {"busy.txt"}
    assert dead(lake) == {}


def test_a_folder_that_vanishes_or_is_suddenly_empty_deletes_nothing_and_says_so(world):
    folder, lake = world
    (folder / "a.md").write_text("The word is larch.")
    lake.ingest(folder, owner=OWNER)
    folder.rename(folder.parent / "unmounted")
    answer = lake.ingest(folder, owner=OWNER)
    assert answer.documents.deleted == 0
    assert "source_missing" in answer.warnings[0]
    assert "source_missing" in lake.status().sources[0].warnings[0]
    folder.mkdir()
    answer = lake.ingest(folder, owner=OWNER)
    assert "source_empty" in answer.warnings[0]
    assert found(lake, "larch") == {"a.md"}
    folder.rmdir()
    (folder.parent / "unmounted").rename(folder)
    assert lake.ingest(folder, owner=OWNER).warnings == ()


@pytest.mark.skipif(os.geteuid() != 0, reason="needs a small file system of its own, which only root can mount")
def test_a_full_disk_stops_with_one_line_and_goes_on_when_there_is_room(tmp_path):
    folder, small = tmp_path / "docs", tmp_path / "small"
    folder.mkdir()
    small.mkdir()
    for n in range(400):
        words = " ".join(f"word{n * i}" for i in range(400))
        (folder / f"{n}.md").write_text(f"# Document {n}\n\n{words}\n")
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=160m", "tmpfs", small], check=True)
    try:
        lake = wiring.connect(config.load(lake=small / "lake", embedder="hash"))
        try:
            with pytest.raises(Retryable, match="the disk is full"):
                lake.ingest(folder, owner=OWNER)
        finally:
            lake.close()
        subprocess.run(["mount", "-o", "remount,size=900m", small], check=True)
        lake = wiring.connect(config.load(lake=small / "lake"))
        try:
            lake.ingest(folder, owner=OWNER)
            status = lake.status().sources[0]
            assert (status.documents, status.pending, status.dead) == (400, 0, 0)
        finally:
            lake.close()
        assert len(contents(small / "lake")) == 400
    finally:
        subprocess.run(["umount", "-l", small], check=True)
