"""A folder scanned again and again: which events its changes come to. Real files, a real database, a clock set by hand."""

import os
from threading import Event, Thread

import pytest

from folder_world import LONG_AGO, OWNER, World, codes, ops, refusing
from upwell.access import admits, reader
from upwell.errors import Misconfigured, Reason
from upwell.records import INLINE_LIMIT_BYTES, Inline, Lane, Op, SourceRef
from upwell.sources.folder.content import open_inside
from upwell.sources.folder.listing import REST_US
from upwell.sources.folder.source import FolderSource


@pytest.fixture
def world(tmp_path):
    made = World(tmp_path)
    yield made
    made.engine.dispose()


def test_a_new_file_is_an_upsert_with_its_bytes_and_permissions(world):
    world.write(".upwell-access.yaml", "allow: [group:staff]")
    world.write("a/b.md", "hello")
    diff = world.scan(lane=Lane.BACKFILL)
    (event,) = diff.events
    assert (event.op, event.doc_id, event.content) == (Op.UPSERT, "a/b.md", Inline(data=b"hello"))
    assert (event.source, event.tenant, event.lane) == ("docs", "default", Lane.BACKFILL)
    assert event.version == event.acl_version == event.received_at == world.now
    assert event.modified_at == LONG_AGO * 1_000_000
    assert event.acl.levels == (frozenset({"group:staff", OWNER}),)
    assert (diff.counts.seen, diff.counts.new) == (1, 1)


def test_a_second_run_opens_nothing(world):
    world.write(".upwell-access.yaml", "allow: [group:staff]")
    for number in range(300):
        world.write(f"{number % 7}/{number}.md", f"text {number}")
    world.scan()
    world.reopen()
    diff = world.scan()
    assert diff.events == ()
    assert world.source.reader.opened == 0
    assert (diff.counts.seen, diff.counts.unchanged) == (300, 300)


def test_an_edit_is_an_upsert_of_a_greater_version_with_the_same_permissions(world):
    world.write("a.md", "one")
    before = world.scan().events[0]
    world.write("a.md", "two")
    (after,) = world.scan().events
    assert (after.op, after.content) == (Op.UPSERT, Inline(data=b"two"))
    assert after.version > before.version
    assert after.acl_version == before.acl_version
    assert after.event_id != before.event_id


def test_versions_grow_when_the_clock_goes_back(world):
    world.write("a.md", "one")
    before = world.scan().events[0]
    world.now -= 10**12
    world.write("a.md", "two")
    (after,) = world.scan().events
    assert after.version == before.version + 1


def test_a_touched_file_is_read_once_and_is_no_change(world):
    world.write("a.md", "one")
    world.scan()
    world.write("a.md", "one")
    diff = world.scan()
    assert (diff.events, diff.counts.unchanged) == ((), 1)
    opened = world.source.reader.opened
    world.scan()
    assert world.source.reader.opened == opened


def test_a_file_written_just_before_it_was_read_is_read_again(world):
    file = world.write("a.md", "one")
    soon = (world.now + 1000) * 1000 + 1
    os.utime(file, ns=(soon, soon))
    world.scan()
    file.write_text("two")
    os.utime(file, ns=(soon, soon))
    assert ops(world.scan()) == [("upsert", "a.md")]


def test_evidence_reads_a_file_whose_size_and_time_stand(world):
    file = world.write("a.md", "one")
    world.scan()
    stat = file.stat()
    file.write_text("two")
    os.utime(file, ns=(stat.st_mtime_ns, stat.st_mtime_ns))
    assert ops(world.scan()) == []
    assert ops(world.scan("a.md")) == [("upsert", "a.md")]


def test_a_blanked_file_is_an_upsert_of_nothing(world):
    world.write("a.md", "one")
    world.scan()
    world.write("a.md", "")
    assert world.scan().events[0].content == Inline(data=b"")


def test_a_deleted_file_is_a_delete_and_comes_back_with_an_older_time(world):
    world.write("keep.md")
    file = world.write("a.md", "one")
    first = world.scan().events
    file.unlink()
    (gone,) = world.scan().events
    assert (gone.op, gone.doc_id) == (Op.DELETE, "a.md")
    world.write("a.md", "one")
    os.utime(file, (LONG_AGO - 9, LONG_AGO - 9))
    (back,) = world.scan().events
    assert (back.op, back.doc_id) == (Op.UPSERT, "a.md")
    assert first[0].version < gone.version < back.version
    assert back.acl_version > first[0].acl_version


def test_a_rename_is_one_event_that_names_the_old_id(world):
    file = world.write("a.md", "one")
    old = world.scan().events[0]
    (world.root / "sub").mkdir()
    file.rename(world.root / "sub/b.md")
    diff = world.scan()
    (event,) = diff.events
    assert (event.op, event.doc_id, event.previous_doc_id) == (Op.UPSERT, "sub/b.md", "a.md")
    assert event.content == Inline(data=b"one")
    assert event.version > old.version
    assert (diff.counts.renamed, diff.counts.new, diff.counts.deleted) == (1, 0, 0)
    (world.root / "sub/b.md").rename(file)
    (back,) = world.scan().events
    assert (back.doc_id, back.previous_doc_id) == ("a.md", "sub/b.md")
    assert back.version > event.version


def test_a_moved_folder_is_a_rename_of_each_file(world):
    for name in "abc":
        world.write(f"old/{name}.md", "the same text")
    world.scan()
    (world.root / "old").rename(world.root / "new")
    moved = {(event.previous_doc_id, event.doc_id) for event in world.scan().events}
    assert moved == {(f"old/{name}.md", f"new/{name}.md") for name in "abc"}


def test_a_copy_is_an_upsert_and_an_edited_move_is_a_delete_and_an_upsert(world):
    world.write("a.md", "one")
    world.scan()
    world.write("copy.md", "one")
    assert ops(world.scan()) == [("upsert", "copy.md")]
    (world.root / "a.md").unlink()
    world.write("b.md", "1ne")
    assert ops(world.scan()) == [("delete", "a.md"), ("upsert", "b.md")]


def test_a_rename_to_another_folder_takes_its_permissions(world):
    world.write(".upwell-access.yaml", "allow: [everyone]")
    world.write("hr/.upwell-access.yaml", "allow: [group:hr]")
    world.write("a.md", "one")
    world.scan()
    (world.root / "a.md").rename(world.root / "hr/a.md")
    (event,) = world.scan().events
    assert not admits(event.acl, reader("user:bob"))


def test_a_narrowed_access_file_is_an_acl_event_at_once(world):
    world.write(".upwell-access.yaml", "allow: [everyone]")
    world.write("a.md")
    before = world.scan().events[0]
    world.write(".upwell-access.yaml", "allow: [group:staff]", fresh=True)
    diff = world.scan()
    (event,) = diff.events
    assert (event.op, event.doc_id, event.version, event.content) == (Op.ACL, "a.md", before.version, None)
    assert event.acl_version > before.acl_version
    assert not admits(event.acl, reader("user:bob"))
    assert diff.counts.acl_changed == 1


def test_a_widened_access_file_binds_once_it_has_rested(world):
    world.write(".upwell-access.yaml", "allow: [group:staff]")
    world.write("a.md")
    world.scan()
    world.write(".upwell-access.yaml", "allow: [everyone]", fresh=True)
    diff = world.scan()
    assert diff.events == ()
    assert diff.recheck_at == world.now - 1000 + REST_US
    world.write("new.md")
    (new,) = world.scan().events
    assert not admits(new.acl, reader("user:bob"))
    world.reopen()
    world.now = diff.recheck_at
    widened = world.scan()
    assert ops(widened) == [("acl", "a.md"), ("acl", "new.md")]
    assert all(admits(event.acl, reader("user:bob")) for event in widened.events)
    assert widened.recheck_at is None


def test_a_removed_access_file_widens_once_its_absence_has_rested(world):
    world.write(".upwell-access.yaml", "allow: [everyone]")
    narrow = world.write("hr/.upwell-access.yaml", "allow: [group:hr]")
    world.write("hr/a.md")
    world.scan()
    narrow.unlink()
    diff = world.scan()
    assert diff.events == ()
    world.now = diff.recheck_at
    (event,) = world.scan().events
    assert admits(event.acl, reader("user:bob"))


def test_an_access_file_that_is_not_understood_hides_its_folder_and_says_so(world):
    world.write(".upwell-access.yaml", "allow: [everyone]")
    world.write("a/x.md")
    world.write("b/x.md")
    world.scan()
    world.write("a/.upwell-access.yaml", "allow: everyone")
    diff = world.scan()
    assert ops(diff) == [("acl", "a/x.md")]
    assert not admits(diff.events[0].acl, reader("user:bob"))
    assert admits(diff.events[0].acl, reader(OWNER))
    assert ("access_hidden", "a") in codes(diff)
    assert ("access_hidden", "a") in codes(world.scan())


@pytest.mark.parametrize("kind", ["folder", "pipe", "link outside", "link inside", "dangling link"])
def test_an_access_file_that_is_no_plain_file_hides_its_folder(world, kind, tmp_path):
    world.write(".upwell-access.yaml", "allow: [everyone]")
    world.write("a/x.md")
    outside = tmp_path / "outside.yaml"
    outside.write_text("allow: [everyone]")
    at = world.root / "a/.upwell-access.yaml"
    match kind:
        case "folder":
            at.mkdir()
        case "pipe":
            os.mkfifo(at)
        case "link outside":
            at.symlink_to(outside)
        case "link inside":
            at.symlink_to("../.upwell-access.yaml")
        case _:
            at.symlink_to("nowhere")
    diff = world.scan()
    assert not admits(diff.events[0].acl, reader("user:bob"))
    assert ("access_hidden", "a") in codes(diff)


def test_an_access_file_that_cannot_be_opened_hides_its_folder_until_it_can(world):
    world.write(".upwell-access.yaml", "allow: [everyone]")
    world.write("x.md")
    world.opener = refusing(".upwell-access.yaml")
    diff = world.scan()
    assert not admits(diff.events[0].acl, reader("user:bob"))
    world.opener = open_inside
    (event,) = world.scan().events
    assert admits(event.acl, reader("user:bob"))


def test_another_owner_changes_the_permissions(world):
    world.write("a.md")
    world.scan()
    world.owner = "user:eve"
    world.reopen()
    (event,) = world.scan().events
    assert (event.op, event.acl.levels) == (Op.ACL, (frozenset({"user:eve"}),))


def test_a_missing_folder_deletes_nothing_and_says_so(world, tmp_path):
    world.write("a.md")
    world.scan()
    world.root.rename(tmp_path / "away")
    diff = world.scan("a.md")
    assert (diff.events, codes(diff)) == ((), [("source_missing", "")])
    world.root.write_text("now a file")
    diff = world.scan()
    assert (diff.events, codes(diff)) == ((), [("source_missing", "")])
    world.root.unlink()
    (tmp_path / "away").rename(world.root)
    assert world.scan().events == ()


def test_a_suddenly_empty_folder_deletes_nothing_keeps_its_permissions_and_says_so(world):
    world.write(".upwell-access.yaml", "allow: [everyone]")
    narrow = world.write("hr/.upwell-access.yaml", "allow: [group:hr]")
    files = [world.write("a.md"), world.write("hr/b.md")]
    world.scan()
    for file in [*files, narrow]:
        file.unlink()
    diff = world.scan("a.md", "hr/b.md")
    assert (diff.events, codes(diff)) == ((), [("source_empty", "")])
    world.now += 2 * REST_US
    assert world.scan().events == ()


def test_the_last_file_of_a_folder_goes_when_its_deletion_was_seen(world):
    world.write("a.md").unlink()
    world.write("b.md")
    world.scan()
    (world.root / "b.md").unlink()
    assert world.scan().events == ()
    assert ops(world.scan("b.md")) == [("delete", "b.md")]


def test_a_file_that_cannot_be_read_is_a_dead_letter_and_keeps_its_last_version(world):
    world.write("a.md", "one")
    world.write("b.md", "two")
    world.scan()
    world.write("a.md", "changed")
    world.write("new.md", "words")
    world.opener = refusing("a.md", "new.md")
    diff = world.scan()
    assert diff.events == ()
    assert [(fault.doc_id, fault.reason) for fault in diff.faults] == [
        ("a.md", Reason.UNREADABLE),
        ("new.md", Reason.UNREADABLE),
    ]
    assert diff.counts.dead == 2
    again = world.scan()
    assert (again.faults, again.counts.dead) == ((), 2)
    world.opener = open_inside
    healed = world.scan()
    assert ops(healed) == [("upsert", "a.md"), ("upsert", "new.md")]
    assert len(healed.healed) == 2


def test_a_changed_file_that_cannot_be_read_is_narrowed_but_not_widened(world):
    world.write(".upwell-access.yaml", "allow: [group:staff]")
    world.write("a.md", "secret")
    world.scan()
    world.write("a.md", "redacted")
    world.write(".upwell-access.yaml", "allow: [everyone]")
    world.opener = refusing("a.md")
    assert world.scan().events == ()
    world.write(".upwell-access.yaml", "allow: [everyone]\ndeny: [group:interns]")
    (narrowed,) = world.scan().events
    assert (narrowed.op, narrowed.acl.deny) == (Op.ACL, {"group:interns"})
    assert not admits(narrowed.acl, reader("user:bob"))
    world.opener = open_inside
    (event,) = world.scan().events
    assert (event.op, event.content) == (Op.UPSERT, Inline(data=b"redacted"))
    assert admits(event.acl, reader("user:bob"))


def test_a_file_that_changes_while_it_is_read_is_left_for_the_next_scan(world):
    world.write("b.md", "before")
    world.scan()
    file = world.write("b.md", b"x" * 16_000_000)
    stop = Event()

    def append() -> None:
        with file.open("ab", buffering=0) as more:
            while not stop.is_set():
                more.write(b"!")

    writer = Thread(target=append)
    writer.start()
    try:
        diff = world.scan()
    finally:
        stop.set()
        writer.join()
    assert (diff.events, codes(diff)) == ((), [("restless", "b.md")])
    assert world.now < diff.recheck_at < world.now + REST_US
    assert ops(world.scan()) == [("upsert", "b.md")]


def test_a_large_file_is_a_reference_with_its_hash(world):
    world.write("edge.txt", b"x" * INLINE_LIMIT_BYTES)
    world.write("large.txt", b"x" * (INLINE_LIMIT_BYTES + 1))
    edge, large = world.scan().events
    assert isinstance(edge.content, Inline)
    assert isinstance(large.content, SourceRef)
    assert (large.content.connector, large.content.uri) == ("folder", str(world.root / "large.txt"))
    assert large.content.size == INLINE_LIMIT_BYTES + 1
    assert len(large.content.sha256) == 64


def test_batches_are_bounded_and_a_scan_cut_short_goes_on_where_it_was(world):
    for number in range(600):
        world.write(f"{number}.md", f"text {number}")
    scan = world.source.scan()
    first = next(scan)
    assert 0 < len(first.events) <= 256
    with world.engine.begin() as conn:
        world.source.save(conn, first)
    scan.close()
    world.reopen()
    rest = world.scan()
    assert len(first.events) + len(rest.events) == 600


def test_a_batch_that_was_not_saved_is_found_again(world):
    world.write("a.md")
    for _ in world.source.scan():
        break
    assert ops(world.scan()) == [("upsert", "a.md")]


def test_a_source_name_is_bound_to_its_folder(world, tmp_path):
    other = tmp_path / "other/docs"
    other.mkdir(parents=True)
    with world.engine.begin() as conn, pytest.raises(Misconfigured, match=r"'docs' is the folder .* --source"):
        FolderSource(other, owner=OWNER).open(conn)
    with world.engine.begin() as conn:
        FolderSource(other, owner=OWNER, source="other").open(conn)
    with world.engine.begin() as conn, pytest.raises(Misconfigured, match="is not a folder"):
        FolderSource(tmp_path / "nowhere", owner=OWNER).open(conn)
