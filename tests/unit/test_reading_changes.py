"""What changed in what a reader may see: told in order, to nobody who may not, and never left out."""

import pytest

from readings import HOUR, SECRET, START, Library, who
from upwell.errors import Misconfigured
from upwell.lake.browsing import SqlBrowsing
from upwell.records import Acl, Op
from upwell.search.changes import MOST_TOLD, OVERLAP_US, FeedPlace
from upwell.search.cursors import cursor_of

ANA = who("user:ana")
BOARD = who("group:board")
BEFORE = "2025-12-31T00:00:00Z"


@pytest.fixture
def lake(tmp_path):
    made = Library(tmp_path)
    yield made
    made.close()


def told(answer):
    return [(change.document.doc_id, change.change) for change in answer.changes]


def feed(lake, since, reader=ANA, limit=2, **how):
    """Everything that a feed tells until it says that it is complete; and where it goes on."""
    found = []
    while True:
        answer = lake.reading.changes(since, reader=reader, limit=limit, **how)
        found += told(answer)
        since = answer.next
        if answer.complete:
            return found, since


def test_changes_come_in_order_and_each_document_once(lake):
    for name in ("a.md", "b.md", "c.md", "d.md", "e.md"):
        lake.publish(name, f"Words of {name}.")
    lake.publish("b.md", "Other words.")
    lake.delete("c.md")
    found, since = feed(lake, BEFORE)
    assert found == [(n, "changed") for n in ("a.md", "d.md", "e.md", "b.md")] + [("c.md", "deleted")]
    assert feed(lake, since)[0] == []
    lake.publish("a.md", "New words.")
    assert feed(lake, since)[0] == [("a.md", "changed")]


def test_since_is_a_time_too(lake):
    """RFC 3339 with any offset; what happened before it is not told."""
    lake.publish("a.md", "Words.")
    lake.now = START + HOUR
    lake.publish("b.md", "Words.")
    assert told(lake.reading.changes("2026-01-01T01:30:00+01:00", reader=ANA)) == [("b.md", "changed")]
    assert told(lake.reading.changes("2026-01-01T02:00:00Z", reader=ANA)) == []


@pytest.mark.parametrize("since", ["2026-01-01", "2026-13-01T00:00:00Z", "0001-01-01T00:00:00+14:00", "yesterday"])
def test_what_is_no_time_is_refused(lake, since):
    with pytest.raises(Misconfigured, match="since"):
        lake.reading.changes(since, reader=ANA)


@pytest.mark.parametrize("since", ["0001-01-01T00:00:00Z", "1600-01-01T00:00:00Z", "9999-12-31T23:59:59Z"])
def test_where_a_feed_goes_on_is_taken_back_from_any_time_on(lake, since):
    """Also from one beyond what the numbers of a lake reach."""
    for name in ("a.md", "b.md", "c.md"):
        lake.publish(name, f"Words of {name}.")
    found, place = feed(lake, since, limit=1)
    assert found == ([] if since.startswith("9") else [(n, "changed") for n in ("a.md", "b.md", "c.md")])
    assert feed(lake, place)[0] == []


@pytest.mark.parametrize("doc", ["\0", "A" * 32, "a" * 33, "é", "a\n"])
def test_a_feed_s_place_names_a_document_as_the_index_does(lake, doc):
    """No other text reaches the database: PostgreSQL takes no NUL."""
    forged = cursor_of(FeedPlace(at=0, doc=doc, base=0, sure=0))
    with pytest.raises(Misconfigured, match="since"):
        lake.reading.changes(forged, reader=ANA)


@pytest.mark.parametrize("limit", [0, 201])
def test_a_page_has_limits(lake, limit):
    with pytest.raises(Misconfigured, match="limit"):
        lake.reading.changes(BEFORE, reader=ANA, limit=limit)


def test_what_is_hidden_is_not_told_nor_counted(lake):
    """Pages and their ends are of what may be seen alone."""
    for n in range(6):
        lake.publish(f"secret-{n}.md", "Words.", acl=SECRET)
    lake.publish("a.md", "Words.")
    lake.delete("secret-1.md")
    answer = lake.reading.changes(BEFORE, reader=ANA, limit=1)
    assert told(answer) == [("a.md", "changed")]
    assert answer.complete
    assert len(feed(lake, BEFORE, BOARD)[0]) == 7


def test_an_erased_document_is_told_to_nobody(lake):
    lake.publish("a.md", "Words.")
    lake.delete("a.md", op=Op.ERASE)
    assert feed(lake, BEFORE)[0] == []


def test_a_move_says_where_to_only_if_that_may_be_seen(lake):
    """Else it is a document that is gone."""
    lake.publish("a.md", "Words.")
    lake.publish("b.md", "Words.")
    lake.publish("new/a.md", "Words.", previous_doc_id="a.md")
    lake.publish("board/b.md", "Words.", previous_doc_id="b.md", acl=SECRET)
    answer = lake.reading.changes(BEFORE, reader=ANA)
    found = {change.document.doc_id: (change.change, change.moved_to) for change in answer.changes}
    assert found["a.md"] == ("moved", "new/a.md")
    assert found["b.md"] == ("deleted", None)
    assert "board/b.md" not in found


def test_a_grant_tells_and_a_revocation_does_not(lake):
    """What comes into sight has changed for whoever sees it; what goes out of sight is not told to whom it leaves."""
    lake.publish("a.md", "Words.", acl=SECRET)
    _, since = feed(lake, BEFORE)
    lake.permit("a.md", Acl(levels=(frozenset({"user:ana", "group:board"}),)))
    assert feed(lake, since)[0] == [("a.md", "changed")]
    _, since = feed(lake, since)
    lake.permit("a.md", SECRET)
    assert feed(lake, since)[0] == []


def test_sources_narrow(lake):
    lake.publish("a.md", "Words.", source="wiki")
    lake.publish("b.md", "Words.", source="mail")
    assert feed(lake, BEFORE, sources=frozenset({"mail"}))[0] == [("b.md", "changed")]


def test_a_commit_that_becomes_visible_late_is_not_left_out(lake, monkeypatch):
    """Another writer's change, with an earlier time, is seen only after later ones were told."""
    lake.publish("late.md", "Words.")
    lake.publish("a.md", "Words.")
    late = lake.registry.browsing("default").changed((0, ""), limit=1)[0].doc
    real = SqlBrowsing.changed

    def without(self, *given, **how):
        return [glance for glance in real(self, *given, **how) if glance.doc != late]

    with monkeypatch.context() as patch:
        patch.setattr(SqlBrowsing, "changed", without)
        found, since = feed(lake, BEFORE)
    assert found == [("a.md", "changed")]
    assert feed(lake, since)[0] == [("late.md", "changed")]


def test_more_changes_at_once_than_a_cursor_names_are_told_again_rather_than_lost(lake):
    names = [f"{n}.md" for n in range(MOST_TOLD + 5)]
    for name in names:
        lake.publish(name, "Words.")
    found, since = feed(lake, BEFORE, limit=50)
    assert [name for name, _ in found] == names
    assert len(since) < 500
    again = {name for name, _ in feed(lake, since, limit=50)[0]}
    assert again <= set(names)
    lake.now += 2 * OVERLAP_US
    assert feed(lake, feed(lake, since, limit=50)[1])[0] == []
