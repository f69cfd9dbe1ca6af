"""Which files of a folder are documents: names, ignores, links, and everything that is no plain file."""

import os
import socket
import subprocess
from contextlib import chdir

import pytest

from folder_world import World, codes, ops
from upwell.access import admits, reader
from upwell.errors import Misconfigured, Reason
from upwell.records import Op
from upwell.sources.folder.source import FolderSource


@pytest.fixture
def world(tmp_path):
    made = World(tmp_path)
    yield made
    made.engine.dispose()


def ids(diff) -> list[str]:
    assert all(event.op == "upsert" for event in diff.events)
    return [event.doc_id for event in diff.events]


def test_names_may_hold_anything_that_is_utf_8(world):
    names = [
        "a b.md",
        'it\'s "so".md',
        "📄 déjà.md",
        "two\nlines.md",
        "-rf.md",
        "back\\slash.md",
        "%41.md",
        "!x.md",
        "a",
    ]
    for name in names:
        world.write(f"ünter ordner/{name}", name)
    diff = world.scan()
    assert sorted(ids(diff)) == sorted(f"ünter ordner/{name}" for name in names)
    world.reopen()
    assert world.scan().events == ()


def test_ids_are_nfc_and_equal_names_are_a_collision_that_the_bytewise_first_wins(world):
    world.write("cafe\u0301.md", "decomposed")
    diff = world.scan()
    assert ids(diff) == ["caf\u00e9.md"]
    world.write("caf\u00e9.md", "composed")
    diff = world.scan()
    assert diff.events == ()
    assert [(fault.doc_id, fault.reason) for fault in diff.faults] == [("caf\u00e9.md", Reason.NAME_COLLISION)]
    (world.root / "cafe\u0301.md").unlink()
    diff = world.scan()
    assert [event.content.data for event in diff.events] == [b"composed"]
    assert diff.faults == ()
    assert len(diff.healed) == 1


def test_of_two_folders_equal_in_nfc_the_second_is_one_dead_letter(world):
    world.write("caf\u00e9/a.md")
    world.write("cafe\u0301/b.md")
    diff = world.scan()
    assert ids(diff) == ["caf\u00e9/b.md"]
    assert [(fault.doc_id, fault.reason) for fault in diff.faults] == [("caf\u00e9", Reason.NAME_COLLISION)]


def test_a_name_that_is_not_utf_8_is_a_dead_letter(world):
    file = world.root / os.fsdecode(b"caf\xe9.md")
    try:
        file.write_text("latin")
    except OSError:
        pytest.skip("this file system takes UTF-8 names alone")
    diff = world.scan()
    assert diff.events == ()
    assert [(fault.doc_id, fault.reason) for fault in diff.faults] == [("caf\\xe9.md", Reason.UNSUPPORTED)]
    file.unlink()
    assert len(world.scan().healed) == 1


def test_git_lakes_access_files_and_what_editors_leave_are_never_documents(world):
    for path in (
        ".git/config",
        "sub/.git/HEAD",
        ".upwell/events.sqlite",
        "lake/registry.sqlite",
        ".upwell-access.yaml",
        ".#a.md",
        "#a.md#",
        "a.md~",
        ".a.md.swp",
        "4913",
        ".goutputstream-X1Y2Z3",
        "a.md___jb_tmp___",
        "~$plan.docx",
        ".~lock.plan.odt#",
        "._a.md",
        ".DS_Store",
    ):
        world.write(path, "allow: [everyone]")
    world.write(".hidden/.env.md")
    world.write("sub/lake/a.md")
    world.write("14913")
    assert ids(world.scan()) == [".hidden/.env.md", "14913", "sub/lake/a.md"]


def test_what_holds_a_lake_s_secrets_is_never_a_document(world):
    """The settings have senders' secrets in them, the key file signs tokens; a link to one is left out as well."""
    for path in ("upwell.toml", "sub/Upwell.toml", "sub/signing-key.json"):
        world.write(path, "secret = 'x'")
    world.write("upwell.toml.md")
    (world.root / "settings.toml").symlink_to(world.root / "upwell.toml")
    diff = world.scan()
    assert ids(diff) == ["upwell.toml.md"]
    assert codes(diff) == [("link_skipped", "settings.toml")]


def test_another_lake_in_the_folder_is_never_entered_and_what_was_indexed_of_it_goes(world):
    for path in ("a.md", "far/away/registry.sqlite", "far/away/lock", "far/away/store/points/segment.json"):
        world.write(path)
    assert "far/away/lock" in ids(world.scan())
    world.write("far/away/events.sqlite")
    gone = {event.doc_id for event in world.scan().events if event.op is Op.DELETE}
    assert gone == {"far/away/lock", "far/away/registry.sqlite", "far/away/store/points/segment.json"}


def test_a_lake_is_no_source_nor_is_a_folder_inside_the_own_lake(world, tmp_path):
    for name in ("lock", "events.sqlite", "registry.sqlite"):
        world.write(f"other/{name}")
    (tmp_path / "lake" / "store").mkdir(parents=True)
    for folder in (world.root / "other", tmp_path / "lake", tmp_path / "lake" / "store"):
        with pytest.raises(Misconfigured, match="a lake's own folder"):
            FolderSource(folder, owner="user:ana", excluded=[tmp_path / "lake"])


def test_an_access_file_by_a_wrong_name_is_pointed_out_and_not_indexed(world):
    world.write("a/.upwell-access.yml", "allow: [everyone]")
    world.write("a/x.md")
    diff = world.scan()
    assert ids(diff) == ["a/x.md"]
    assert codes(diff) == [("access_name", "a")]


def test_ignores_are_as_git_has_them(world, tmp_path):
    world.write(".gitignore", "*.log\n!keep.log\n/build/\nsecret*\n**/deep/*.tmp\ncafe\u0301.md\n\\#x\n# comment\n!\n")
    world.write("sub/.gitignore", "!b.log\n*.txt\n")
    paths = [
        "a.log",
        "keep.log",
        "build/x.md",
        "sub/build/x.md",
        "sub/b.log",
        "sub/c.log",
        "sub/n.txt",
        "n.txt",
        "secrets/keep.log",
        "sub/secret.md",
        "x/deep/a.tmp",
        "x/deep/y/a.tmp",
        "caf\u00e9.md",
        "#x",
        "sub/deeper/b.log",
        "sub/deeper/n.txt",
    ]
    for path in paths:
        world.write(path)
    found = set(ids(world.scan())) - {".gitignore", "sub/.gitignore"}
    git = ["git", "-c", "core.quotepath=off", "-c", "core.excludesFile=/dev/null"]
    environment = {**os.environ, "GIT_DIR": str(tmp_path / "repo.git"), "GIT_WORK_TREE": str(world.root)}
    subprocess.run([*git, "init", "-q"], env=environment, check=True, cwd=world.root)
    listed = subprocess.run(
        [*git, "ls-files", "-z", "--others", "--exclude-standard"],
        env=environment,
        check=True,
        cwd=world.root,
        capture_output=True,
    ).stdout.decode()
    expected = {path for path in listed.split("\0") if path and not path.endswith(".gitignore")}
    assert found == expected - {"caf\u00e9.md"}


def test_what_becomes_ignored_is_deleted_and_what_no_longer_is_waits_for_the_rest(world):
    world.write("a.log")
    world.write("b.md")
    world.scan()
    world.write(".gitignore", "*.log\n", fresh=True)
    diff = world.scan()
    assert ("delete", "a.log") in ops(diff)
    world.write(".gitignore", "", fresh=True)
    diff = world.scan()
    assert "a.log" not in [doc_id for _, doc_id in ops(diff)]
    world.now = diff.recheck_at
    assert ("upsert", "a.log") in ops(world.scan())


@pytest.mark.parametrize("text", [b"#" * (1024 * 1024 + 1), b"*a*a*a*b\n", b"**/a/**/a/**/a/**/b\n"])
def test_a_gitignore_that_cannot_be_understood_leaves_its_folder_as_it_was(world, text):
    world.write("sub/a.md")
    world.write("b.md")
    world.scan()
    (world.root / "sub/a.md").unlink()
    world.write("sub/new.md")
    world.write("sub/.gitignore", text)
    diff = world.scan()
    assert diff.events == ()
    assert codes(diff) == [("ignores_unreadable", "sub")]


def test_a_link_to_a_document_of_the_folder_is_read_by_those_who_may_read_both(world):
    world.write(".upwell-access.yaml", "allow: [everyone]")
    world.write("hr/.upwell-access.yaml", "allow: [group:hr]")
    world.write("hr/a.md", "salaries")
    (world.root / "public.md").symlink_to("hr/a.md")
    linked = next(event for event in world.scan().events if event.doc_id == "public.md")
    assert linked.content.data == b"salaries"
    assert not admits(linked.acl, reader("user:bob"))
    assert admits(linked.acl, reader("group:hr"))
    world.write("hr/a.md", "more")
    assert ops(world.scan()) == [("upsert", "hr/a.md"), ("upsert", "public.md")]
    world.write("hr/.upwell-access.yaml", "allow: [group:board]")
    assert sorted(ops(world.scan())) == [("acl", "hr/a.md"), ("acl", "public.md")]


def test_links_never_lead_outside_into_folders_or_to_what_is_ignored(world, tmp_path):
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "x.md").write_text("secret")
    world.write(".gitignore", "hidden.md\n")
    world.write("hidden.md")
    world.write(".upwell-access.yaml", "allow: [everyone]")
    world.write("real/a.md")
    links = {
        "out.md": outside / "x.md",
        "out": outside,
        "up.md": "../outside/x.md",
        "etc": "/etc/passwd",
        "hidden": "hidden.md",
        "access": ".upwell-access.yaml",
        "folder": "real",
        "root": ".",
        "nowhere": "missing.md",
        "loop": "loop",
    }
    for name, target in links.items():
        (world.root / name).symlink_to(target)
    (world.root / "real/via").symlink_to("../out.md")
    diff = world.scan()
    assert ids(diff) == [".gitignore", "real/a.md"]
    said = {path: code for code, path in codes(diff)}
    outward = {"out.md", "out", "up.md", "etc", "real/via"}
    assert said == {**dict.fromkeys(links, "link_skipped"), **dict.fromkeys(outward, "link_outside")}


def test_a_file_swapped_for_a_link_or_a_folder_for_a_link_is_not_read(world, tmp_path):
    world.write("keep.md")
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "a.md").write_text("secret")
    (world.root / "sub").symlink_to(outside)
    found = world.source.reader("sub/a.md")
    assert found.why == "gone"
    (world.root / "b.md").symlink_to(outside / "a.md")
    assert world.source.reader("b.md").why == "gone"


def test_pipes_and_sockets_are_never_opened(world):
    world.write("a.md")
    os.mkfifo(world.root / "pipe.md")
    with socket.socket(socket.AF_UNIX) as listening:
        with chdir(world.root):  # The path of a socket is short.
            listening.bind("s.md")
        diff = world.scan()
    assert ids(diff) == ["a.md"]
    assert codes(diff) == [("special_file", "pipe.md"), ("special_file", "s.md")]
    assert world.source.reader.opened == 1
    assert world.source.reader("pipe.md").why == "gone"


def test_a_file_that_becomes_a_folder_is_deleted(world):
    world.write("a").unlink()
    world.write("a")
    world.scan()
    (world.root / "a").unlink()
    world.write("a/b.md", "other words")
    assert sorted(ops(world.scan())) == [("delete", "a"), ("upsert", "a/b.md")]
