"""Permissions end with their document: what a re-used id keeps of the old one (nothing), and what fills no row."""

import itertools

import msgspec
import pytest

from upwell.access import EVERYONE, admits, reader
from upwell.lake import decide
from upwell.lake.permissions import MOST_ENDS, MOST_PERMISSIONS, offers_of
from upwell.ports import DocumentRow
from upwell.records import Acl, ChangeEvent, DocKey, Op, ParseStatus, PreparedDocument

KEY = DocKey(tenant="t", source="s", doc_id="a")
PUBLIC = Acl(levels=(frozenset({EVERYONE}),))
ANA = Acl(levels=(frozenset({"user:ana"}),))
BEN = Acl(levels=(frozenset({"user:ben"}),))
OK = PreparedDocument(status=ParseStatus.OK, content_sha256="c")


def event(op, version, **changes):
    fields = {"event_id": "e", "tenant": "t", "source": "s", "doc_id": "a", "op": op, "version": version}
    return ChangeEvent(**(fields | {"received_at": 5} | changes))


def after(*events, start=None):
    row = start or DocumentRow(key=KEY)
    for one in events:
        if one.doc_id != "a":
            row = decide.moved_away(row, one) or decide.ended(row, one) or row
            continue
        row = decide.permitted(row, one) or row
        if one.op in {Op.DELETE, Op.ERASE}:
            row = decide.buried(row, one) or decide.ended(row, one) or row
        elif one.op is Op.UPSERT and one.version > row.version:
            row = decide.published(row, one, OK, "model")
    return row


def may(row, *who):
    return admits(row.effective_acl, reader(*who))


OPEN = event(Op.UPSERT, 10, acl=PUBLIC, acl_version=5)
ENDS = [
    event(Op.DELETE, 20, acl_version=5),
    event(Op.DELETE, 20),
    event(Op.ERASE, 20),
    event(Op.UPSERT, 20, doc_id="b", previous_doc_id="a", acl=BEN, acl_version=6),
]
AGAIN = event(Op.UPSERT, 30)


@pytest.mark.parametrize("end", ENDS)
def test_a_used_id_inherits_no_permission(end):
    """Neither with the source's default, which is older in number, nor with an unknown one, nor with none."""
    for order in itertools.permutations([OPEN, end, AGAIN]):
        assert not may(after(*order), "user:ana")
    unknown = msgspec.structs.replace(AGAIN, acl_missing="away", acl_version=7)
    for order in itertools.permutations([OPEN, end, unknown]):
        assert (may(after(*order), "user:ana"), after(*order).acl_missing_since) == (False, 5)
    default = msgspec.structs.replace(AGAIN, acl=ANA)
    for order in itertools.permutations([OPEN, end, default]):
        assert (after(*order).effective_acl, after(*order).acl_version) == (ANA, 0)


@pytest.mark.parametrize("end", ENDS)
def test_a_tombstone_keeps_the_permission_of_what_it_ended(end):
    assert after(OPEN, end).effective_acl == PUBLIC


def test_a_permission_that_is_newer_than_the_tombstone_binds_what_comes_after_it():
    for order in itertools.permutations([ENDS[0], AGAIN, event(Op.ACL, 0, acl=ANA, acl_version=6)]):
        assert after(*order).effective_acl == ANA


def test_what_was_read_with_any_content_narrows_after_a_tombstone_without_a_number():
    """Nobody knows whether it came before the end; what is older than a permission of the old content did."""
    default = msgspec.structs.replace(AGAIN, acl=PUBLIC)
    narrow, wide = event(Op.ACL, 0, acl=ANA, acl_version=6), event(Op.ACL, 0, acl=PUBLIC, acl_version=6)
    for order in itertools.permutations([OPEN, ENDS[1], narrow, default]):
        assert [may(after(*order), who) for who in ("user:ana", "user:ben")] == [True, False]
    for order in itertools.permutations([OPEN, ENDS[1], wide, AGAIN]):
        assert not may(after(*order), "user:ana")
    old = msgspec.structs.replace(narrow, acl_version=4)
    for order in itertools.permutations([OPEN, ENDS[1], old, default]):
        assert after(*order).effective_acl == PUBLIC


def test_an_unknown_permission_ends_with_the_document():
    """What the old source could not say hides nothing of the new document."""
    missing = event(Op.ACL, 10, acl_missing="away", acl_version=6)
    default = msgspec.structs.replace(AGAIN, acl=ANA)
    for order in itertools.permutations([OPEN, missing, ENDS[1], default]):
        assert after(*order).acl_missing_since is None


def test_very_many_permissions_fill_no_row_and_admit_nobody_when_they_would_be_needed():
    """Each newer in content and older in number: a late tombstone may uncover any of them."""
    many = 3 * MOST_PERMISSIONS
    row = after(*(event(Op.UPSERT, n, acl=PUBLIC, acl_version=1000 - n) for n in range(1, many)))
    assert len(offers_of(row)) == MOST_PERMISSIONS
    assert may(row, "user:ana"), "the newest is kept"
    assert may(after(event(Op.DELETE, 1, acl_version=999), start=row), "user:ana")
    assert not may(after(event(Op.DELETE, many - 2, acl_version=1000), start=row), "user:ana")
    again = event(Op.UPSERT, many, acl=BEN, acl_version=1000)
    assert after(again, start=row).effective_acl == BEN


def test_very_many_tombstones_fill_no_row_and_admit_nobody_whom_they_might_not():
    """Each higher in content and lower in number."""
    many = 3 * MOST_ENDS
    row = after(*(event(Op.DELETE, 10 * n, acl_version=1000 - n) for n in range(1, many)))
    assert len(row.ends) <= MOST_ENDS + 1
    back = event(Op.UPSERT, 10 * many, acl=PUBLIC)
    assert not may(after(back, start=row), "user:ana"), "too old a number to be sure of"
    assert may(after(msgspec.structs.replace(back, acl_version=1000), start=row), "user:ana")
