"""A folder that lost much deletes nothing before a person says so, or the files are back."""

import pytest

from folder_world import OWNER, World, codes, ops
from upwell.access import admits, reader
from upwell.records import Op
from upwell.sources.folder import state
from upwell.sources.folder.listing import REST_US
from upwell.sources.folder.records import Verdict
from upwell.sources.folder.shrink import HANDFUL

MANY = 30


@pytest.fixture
def world(tmp_path):
    made = World(tmp_path)
    yield made
    made.engine.dispose()


def fill(world, count=MANY):
    return [world.write(f"f{number:02}.md", f"text {number}") for number in range(count)]


def decided(world, verdict):
    """What a person says, as another process would write it down; the events of what then passes."""
    with world.engine.begin() as conn:
        state.decide(conn, "default", "docs", verdict)
        world.source.refresh(conn)
    events = []
    world.now += 1000
    for diff in world.source.let_pass():
        events += diff.events
        with world.engine.begin() as conn:
            world.source.save(conn, diff)
    return events


def waiting(world):
    with world.engine.begin() as conn:
        return [(name, count) for name, _, count, _ in state.waiting(conn, "default")]


def test_a_handful_goes_whatever_its_share(world):
    files = fill(world, HANDFUL + 1)
    world.scan()
    for file in files[:HANDFUL]:
        file.unlink()
    diff = world.scan()
    assert [op for op, _ in ops(diff)] == ["delete"] * HANDFUL
    assert (diff.held, codes(diff)) == (0, [])


def test_more_than_a_handful_go_while_their_share_is_small(world):
    files = fill(world, 40)
    world.scan()
    for file in files[:12]:
        file.unlink()
    assert len(world.scan().events) == 12


def test_a_listing_that_lost_a_larger_share_deletes_nothing_and_says_so(world):
    files = fill(world)
    world.scan()
    for file in files[:11]:
        file.unlink()
    diff = world.scan()
    assert (diff.events, diff.held, diff.counts.deleted) == ((), 11, 0)
    assert codes(diff) == [("deletes_held", "")]
    assert "11 documents are gone" in diff.notices[0].detail
    assert "upwell approve --source docs" in diff.notices[0].detail
    assert "f00.md, f01.md, f02.md …" in diff.notices[0].detail


def test_what_waits_waits_on_through_restarts_and_other_changes(world):
    files = fill(world)
    world.scan()
    for file in files[:20]:
        file.unlink()
    world.scan()
    world.reopen()
    world.write("new.md")
    files[20].unlink()
    diff = world.scan()
    assert ops(diff) == [("upsert", "new.md")]  # unasked and unnoticed, one more waits with the others
    assert (diff.held, waiting(world)) == (21, [("docs", 21)])


def test_a_deletion_that_was_noticed_passes_beside_those_that_wait(world):
    files = fill(world)
    world.scan()
    for file in files[:20]:
        file.unlink()
    world.scan()
    files[20].unlink()
    assert ops(world.scan("f20.md")) == [("delete", "f20.md")]
    assert world.scan().held == 20


def test_many_noticed_at_once_are_a_mass_delete_too(world):
    files = fill(world)
    world.scan()
    names = [file.name for file in files[:15]]
    for file in files[:15]:
        file.unlink()
    assert (world.scan(*names).held, waiting(world)) == (15, [("docs", 15)])


def test_files_that_are_back_wait_no_more_and_are_no_news(world):
    files = fill(world)
    world.scan()
    kept = [(file, file.read_bytes(), file.stat()) for file in files[:20]]
    for file in files[:20]:
        file.rename(file.with_name(f".hidden-{file.name}").with_suffix(".tmp~"))
    assert world.scan().held == 20
    for file, _, _ in kept:
        file.with_name(f".hidden-{file.name}").with_suffix(".tmp~").rename(file)
    diff = world.scan()
    assert (diff.events, diff.held, codes(diff), waiting(world)) == ((), 0, [], [])


def test_one_that_is_back_with_other_words_is_an_edit(world):
    files = fill(world)
    world.scan()
    for file in files[:20]:
        file.unlink()
    world.scan()
    world.write("f00.md", "other words")
    assert ops(world.scan()) == [("upsert", "f00.md")]
    assert waiting(world) == [("docs", 19)]


def test_a_folder_that_moves_whole_is_a_move_and_nothing_waits(world):
    for number in range(MANY):
        world.write(f"old/{number}.md", f"text {number}")
    world.write("stays.md")
    world.scan()
    (world.root / "old").rename(world.root / "new")
    diff = world.scan()
    assert len(diff.events) == MANY
    assert all(event.op is Op.UPSERT and event.previous_doc_id for event in diff.events)
    assert diff.held == 0


def test_what_waits_and_turns_up_elsewhere_has_moved(world):
    files = fill(world)
    world.scan()
    for file in files[:20]:
        file.unlink()
    world.scan()
    world.write("elsewhere/a.md", "text 3")
    (event,) = world.scan().events
    assert (event.doc_id, event.previous_doc_id) == ("elsewhere/a.md", "f03.md")
    assert waiting(world) == [("docs", 19)]


def test_approval_deletes_them_whatever_the_folder_holds_now(world, tmp_path):
    files = fill(world)
    world.scan()
    for file in files[:20]:
        file.unlink()
    world.scan()
    world.root.rename(tmp_path / "away")
    events = decided(world, Verdict.PASSES)
    assert sorted((event.op, event.doc_id) for event in events) == [("delete", f"f{n:02}.md") for n in range(20)]
    assert all(event.version > event.received_at - 10**9 for event in events)
    (tmp_path / "away").rename(world.root)
    assert (world.scan().events, waiting(world)) == ((), [])


def test_approval_that_comes_while_nobody_scans_is_carried_out_by_who_does(world):
    files = fill(world)
    world.scan()
    for file in files[:20]:
        file.unlink()
    world.scan()
    with world.engine.begin() as conn:
        state.decide(conn, "default", "docs", Verdict.PASSES)
    world.reopen()
    assert len(decided(world, Verdict.PASSES)) == 20


def test_an_approved_document_whose_file_came_back_is_brought_again(world):
    files = fill(world)
    versions = {event.doc_id: event.version for event in world.scan().events}
    for file in files[:20]:
        file.unlink()
    world.scan()
    world.write("f00.md", "text 0")
    deleted = {event.doc_id: event.version for event in decided(world, Verdict.PASSES)}
    (event,) = world.scan().events
    assert (event.op, event.doc_id) == (Op.UPSERT, "f00.md")
    assert event.version > deleted["f00.md"] > versions["f00.md"]


def test_discarded_ones_stay_and_nobody_is_asked_again(world):
    files = fill(world)
    world.scan()
    for file in files[:20]:
        file.unlink()
    world.scan()
    assert decided(world, Verdict.STAYS) == []
    diff = world.scan()
    assert (diff.events, diff.held, codes(diff)) == ((), 0, [])
    files[25].unlink()
    assert ops(world.scan()) == [("delete", "f25.md")]
    world.write("f00.md", "text 0")
    world.scan()
    (world.root / "f00.md").unlink()
    assert ops(world.scan()) == [("delete", "f00.md")]


def test_a_small_folder_that_is_suddenly_empty_deletes_nothing_when_a_new_file_comes(world):
    files = [world.write("a.md", "one"), world.write("b.md", "two"), world.write("c.md", "three")]
    world.scan()
    for file in files:
        file.unlink()
    assert codes(world.scan()) == [("source_empty", "")]
    world.write("new.md", "four")
    diff = world.scan("new.md")
    assert (ops(diff), diff.held, codes(diff)) == ([("upsert", "new.md")], 3, [("deletes_held", "")])
    world.write("a.md", "one")
    assert (world.scan().held, waiting(world)) == (2, [("docs", 2)])


def test_a_folder_that_is_away_forgets_nothing_that_waits(world, tmp_path):
    files = fill(world)
    world.scan()
    for file in files[:20]:
        file.unlink()
    world.scan()
    world.root.rename(tmp_path / "away")
    diff = world.scan()
    assert (diff.held, codes(diff)) == (20, [("source_missing", ""), ("deletes_held", "")])


def test_what_waits_is_narrowed_by_what_is_said_and_not_by_what_is_gone_too(world):
    world.write(".upwell-access.yaml", "allow: [group:staff]")
    rules = world.write("hr/.upwell-access.yaml", "allow: [group:hr]")
    files = [world.write(f"hr/{number}.md", f"text {number}") for number in range(20)]
    world.write("a.md")
    world.scan()
    for file in [*files, rules]:
        file.unlink()
    world.now += 2 * REST_US
    diff = world.scan()
    assert (diff.events, diff.held) == ((), 20)
    world.write(".upwell-access.yaml", "allow: [group:staff]\ndeny: [group:guests]")
    narrowed = [event for event in world.scan().events if event.doc_id.startswith("hr/")]
    assert len(narrowed) == 20
    for event in narrowed:
        assert not admits(event.acl, reader("group:hr", "group:staff", "group:guests"))
        assert not admits(event.acl, reader("group:staff"))
        assert admits(event.acl, reader("group:hr", "group:staff"))
        assert admits(event.acl, reader(OWNER))


def test_the_limit_is_the_settings(world):
    files = fill(world)
    world.shrink_limit = 0.9
    world.reopen()
    world.scan()
    for file in files[:25]:
        file.unlink()
    assert len(world.scan().events) == 25
