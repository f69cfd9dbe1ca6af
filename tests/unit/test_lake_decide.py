"""What an event makes of a row: permissions that wait, tombstones that hold, failures that keep the last good version."""

import itertools

import msgspec
import pytest

from upwell.access import EVERYONE, admits, reader
from upwell.lake import decide
from upwell.lake.permissions import MOST_MISSING, heard
from upwell.ports import DocumentRow
from upwell.records import (
    Acl,
    BlobRef,
    ChangeEvent,
    DocKey,
    Inline,
    Op,
    ParseStatus,
    PreparedDocument,
    SourceRef,
)

KEY = DocKey(tenant="t", source="s", doc_id="a")
PUBLIC = Acl(levels=(frozenset({EVERYONE}),))
ANA = Acl(levels=(frozenset({"user:ana"}),))
BEN = Acl(levels=(frozenset({"user:ben"}),))
OK = PreparedDocument(status=ParseStatus.OK, content_sha256="c1", title="Own", parser="p", chunker="c", prefixer="x")


def event(op=Op.UPSERT, version=1, **changes):
    fields = {"event_id": "e", "tenant": "t", "source": "s", "doc_id": "a", "op": op, "version": version}
    return ChangeEvent(**(fields | {"received_at": 5} | changes))


def acl_event(acl, acl_version, version):
    return event(Op.ACL, version, acl=acl, acl_version=acl_version)


def row(**changes):
    return DocumentRow(key=KEY, **changes)


def live(version=3, acl=ANA, acl_version=1, **changes):
    fields = {"version": version, "acl": acl, "acl_version": acl_version, "acl_read": version}
    return row(status=ParseStatus.OK, **(fields | changes))


def may(found, *who):
    return admits(found.effective_acl, reader(*who))


def after(start, *events):
    for each in events:
        start = decide.permitted(start, each) or start
    return start


def test_a_document_without_permission_admits_nobody():
    assert not may(row(), "user:ana")


def test_a_permission_read_with_this_content_binds_at_once():
    found = decide.permitted(live(), acl_event(PUBLIC, 2, 3))
    assert may(found, "user:ben")
    assert (found.acl_version, found.pending) == (2, ())


def test_a_wider_permission_waits_for_its_content():
    """Redact, then make public: the unredacted text is never public."""
    found = decide.permitted(live(), acl_event(PUBLIC, 2, 4))
    assert may(found, "user:ana")
    assert not may(found, "user:ben")
    assert may(heard(msgspec.structs.replace(found, version=4)), "user:ben")


def test_a_narrower_permission_binds_while_it_waits():
    found = decide.permitted(live(acl=PUBLIC), acl_event(BEN, 2, 9))
    assert may(found, "user:ben")
    assert not may(found, "user:ana")


def test_an_older_or_equal_permission_changes_nothing():
    assert decide.permitted(live(acl_version=2), acl_event(PUBLIC, 1, 3)) is None
    assert decide.permitted(live(acl_version=2), acl_event(ANA, 2, 3)) is None
    same = decide.permitted(live(acl_version=2), acl_event(ANA, 2, 9))
    assert (same.effective_acl, same.pending) == (ANA, ()), "kept only for a tombstone between the two"
    waiting = decide.permitted(live(), acl_event(BEN, 2, 9))
    assert decide.permitted(waiting, acl_event(BEN, 2, 9)) is None


def test_a_waiting_permission_that_can_never_bind_is_forgotten():
    """A newer one, reached no later, takes its place."""
    found = after(live(), acl_event(BEN, 2, 9), acl_event(PUBLIC, 3, 8))
    assert [p.acl_version for p in found.pending] == [3]
    kept = after(live(), acl_event(BEN, 2, 8), acl_event(PUBLIC, 3, 9))
    assert [p.acl_version for p in kept.pending] == [2, 3]


def test_settling_takes_the_newest_that_is_reached_and_drops_older_ones():
    found = after(live(), acl_event(BEN, 2, 5), acl_event(PUBLIC, 3, 6), acl_event(ANA, 4, 9))
    reached = heard(msgspec.structs.replace(found, version=6))
    assert (reached.acl, reached.acl_version) == (PUBLIC, 3)
    assert [p.acl_version for p in reached.pending] == [4]


def test_two_permissions_of_one_number_meet_in_one_end():
    """Whichever comes first: the hash decides."""
    one, other = acl_event(PUBLIC, 2, 3), acl_event(BEN, 2, 3)
    assert after(live(), one, other) == after(live(), other, one)


def test_an_acl_event_without_an_acl_admits_nobody_and_an_upsert_says_nothing():
    assert not may(decide.permitted(live(), event(Op.ACL, 3, acl_version=2)), "user:ana")
    assert decide.permitted(live(), event(version=4, acl_version=2)) is None


def unknown(acl_version, received_at=50, op=Op.ACL, **changes):
    """A source's word that it cannot say who may read."""
    return event(op, 3, acl_version=acl_version, received_at=received_at, acl_missing="away", **changes)


@pytest.mark.parametrize("op", [Op.ACL, Op.UPSERT])
@pytest.mark.parametrize("acl", [None, PUBLIC])
def test_an_unknown_permission_changes_none_and_is_noted(op, acl):
    found = decide.permitted(live(), unknown(2, op=op, acl=acl))
    assert found.effective_acl == ANA
    assert (found.acl_missing_since, found.acl_version) == (50, 1)
    assert decide.permitted(found, unknown(2, op=op)) is None, "said once more, it says nothing"


def test_content_with_an_unknown_permission_is_published_under_the_one_that_is_known():
    found = decide.published(live(), unknown(2, op=Op.UPSERT), OK, "model")
    assert (found.acl, found.acl_missing_since) == (ANA, 50)
    new = decide.published(row(), unknown(0, op=Op.UPSERT), OK, "model")
    assert not may(new, "user:ana")
    assert new.acl_missing_since == 50


def test_a_permission_is_unknown_since_the_first_word_after_the_last_readable_one():
    """Whatever the order: a word as old as what is known says nothing, a newer permission answers it."""
    said = [unknown(1, 10), unknown(3, 30), unknown(4, 20), unknown(6, 60), unknown(6, 61), acl_event(BEN, 2, 3)]
    for order in itertools.permutations(said):
        found = after(live(), *order)
        assert (found.acl_missing_since, found.acl) == (20, BEN)
        assert after(found, acl_event(PUBLIC, 5, 3)).acl_missing_since == 60
        assert after(found, acl_event(PUBLIC, 6, 3)).acl_missing_since is None
        assert after(found, acl_event(PUBLIC, 6, 9)).acl_missing_since is None, "also one that waits for its content"


def test_what_is_said_of_permissions_outlives_the_content():
    """Tombstones, moves and failures keep it, as they keep the permission itself."""
    noted = decide.permitted(live(), unknown(2))
    assert decide.buried(noted, event(Op.DELETE, 4)).acl_missing_since == 50
    assert decide.buried(live(), unknown(2, op=Op.DELETE)).acl_missing_since == 50
    assert decide.moved_away(noted, event(version=4, doc_id="b")).acl_missing_since == 50
    assert decide.failed(live(), unknown(2, op=Op.UPSERT), None, "away", 9).acl_missing_since == 50


def test_a_source_that_never_knows_fills_no_row():
    """Of very many words the oldest time stays, and a late permission answers what it can; never too lenient."""
    found = after(live(), *(unknown(number, 100 + number) for number in range(2, 1000)))
    assert len(found.acl_missing) == MOST_MISSING
    assert found.acl_missing_since == 102
    for number in range(2, 1000, 7):
        since = after(found, acl_event(BEN, number, 3)).acl_missing_since
        assert since is not None
        assert since <= 101 + number
    assert after(found, acl_event(BEN, 999, 3)).acl_missing_since is None


def test_an_unknown_permission_is_too_old_after_its_age():
    found = decide.permitted(live(), unknown(2, 1000))
    assert [found.acl_expired(at, 500) for at in (0, 1500, 1501)] == [False, False, True]
    assert not found.acl_expired(10**15, None)
    assert not live().acl_expired(10**15, 0)


def test_publishing_settles_permissions_and_clears_older_marks():
    start = decide.permitted(live(failed_version=4, stale_since=1, stale_reason="corrupt"), acl_event(PUBLIC, 2, 5))
    found = decide.published(start, event(version=5, url="u", metadata={"m": "1"}), OK, "model")
    assert (found.version, found.content_sha256, found.title, found.url) == (5, "c1", "Own", "u")
    assert (found.failed_version, found.stale_since, found.stale_reason) == (-1, None, None)
    assert found.lineage == {"parser": "p", "chunker": "c", "prefixer": "x", "model": "model"}
    chosen = decide.published(start, event(version=6), msgspec.structs.replace(OK, choice="fuller text"), "model")
    assert chosen.lineage["choice"] == "fuller text"
    assert (found.acl, found.pending) == (PUBLIC, ())


def test_publishing_below_a_failed_version_stays_stale():
    start = decide.failed(live(version=3), event(version=6), ParseStatus.CORRUPT, "corrupt", 9)
    found = decide.published(start, event(version=4), OK, "model")
    assert (found.version, found.failed_version, found.stale_reason) == (4, 6, "corrupt")


def test_the_sources_title_comes_before_the_documents_own():
    assert decide.published(live(), event(version=5, title="Given"), OK, "model").title == "Given"


@pytest.mark.parametrize(("op", "rank"), [(Op.DELETE, 1), (Op.ERASE, 2)])
def test_a_tombstone_keeps_no_word(op, rank):
    found = decide.buried(live(title="T", url="u", metadata={"a": "b"}, content_sha256="c"), event(op, 3))
    assert (found.version, found.rank, found.deleted) == (3, rank, True)
    assert (found.title, found.url, found.metadata, found.content_sha256, found.status) == (None, None, {}, "", None)
    assert found.acl == ANA


def test_ties_go_upsert_delete_erase_and_nothing_goes_back():
    deleted = decide.buried(live(), event(Op.DELETE, 3))
    assert decide.buried(deleted, event(Op.DELETE, 3)) is None
    assert decide.overtaken(deleted, event(version=3))
    assert not decide.overtaken(deleted, event(version=4))
    erased = decide.buried(deleted, event(Op.ERASE, 3))
    assert decide.buried(erased, event(Op.DELETE, 3)) is None
    assert decide.buried(live(version=9), event(Op.DELETE, 3)) is None
    assert not decide.overtaken(live(version=3), event(version=3)), "the content hash decides"


def test_a_move_hides_and_holds_until_its_event_has_ended():
    move = event(version=4, doc_id="b", previous_doc_id="a")
    held = decide.moved_away(live(), move)
    assert (held.deleted, held.hold, held.moved_to, held.version, held.rank) == (True, True, "b", 4, 1)
    assert decide.moved_away(held, move) is None
    assert decide.released(held, event(version=4, doc_id="c")) is None
    assert decide.released(held, event(version=5, doc_id="b")) is None
    free = decide.released(held, move)
    assert not free.hold
    assert decide.released(free, move) is None
    assert decide.moved_away(live(version=5), move) is None


def test_a_delete_and_a_move_of_one_version_meet_in_one_end():
    """Whichever comes first, the tombstone says where the document went."""
    move, delete = event(version=4, doc_id="b", previous_doc_id="a"), event(Op.DELETE, 4)
    assert decide.buried(decide.moved_away(live(), move), delete) is None
    assert decide.moved_away(decide.buried(live(), delete), move).moved_to == "b"


def test_a_failure_keeps_the_last_good_version_and_the_first_date():
    stale = decide.failed(live(), event(version=4), ParseStatus.CORRUPT, "corrupt", 9)
    assert (stale.version, stale.status, stale.failed_version) == (3, ParseStatus.OK, 4)
    assert (stale.stale_since, stale.stale_reason) == (9, "corrupt")
    again = decide.failed(stale, event(version=5), ParseStatus.TOO_LARGE, "too_large", 99)
    assert (again.stale_since, again.stale_reason, again.failed_version) == (9, "too_large", 5)
    assert decide.failed(again, event(version=4), ParseStatus.CORRUPT, "corrupt", 100) == again
    assert decide.failed(live(version=9), event(version=4), ParseStatus.CORRUPT, "corrupt", 9) == live(version=9)


def test_a_first_version_that_fails_makes_a_row_that_says_so():
    found = decide.failed(row(), event(version=4, acl=PUBLIC, acl_version=1), ParseStatus.CORRUPT, "corrupt", 9)
    assert (found.version, found.status, found.stale_reason) == (-1, ParseStatus.CORRUPT, "corrupt")
    assert not may(found, "user:ana")


def test_the_content_hash_is_what_was_read_or_what_the_event_says():
    inline = event(content=Inline(data=b"abc"))
    assert decide.content_hash(inline, OK) == "c1"
    assert decide.content_hash(inline) == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
    assert decide.content_hash(event(content=BlobRef(uri="u", sha256="b1", size=1))) == "b1"
    assert decide.content_hash(event(content=SourceRef(connector="c", uri="u"))) == ""
    assert decide.content_hash(event()) == ""
