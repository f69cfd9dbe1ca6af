"""What readers may ask: each answer whole, allowed to them, audited; and nothing told of what they may not see."""

import msgspec
import pytest

from readings import HOUR, PUBLIC, SECRET, Library, who
from upwell.errors import Misconfigured, NotFound, Retryable
from upwell.ports import Act
from upwell.ports.registry import MissingAcl
from upwell.records import Acl, Membership, Op
from upwell.runtime.rolls import digest_of

ANA = who("user:ana")
BOARD = who("user:eve", "group:board")
LONG = "# Leave\n\n" + "\n\n".join(f"## Part {n}\n\n" + " ".join(f"w{n}x{m}" for m in range(150)) for n in range(6))


@pytest.fixture
def lake(tmp_path):
    made = Library(tmp_path)
    yield made
    made.close()


def pages(lake, doc_id, tokens, reader=ANA):
    """All pages of a document."""
    start, found = None, []
    while True:
        answer = lake.reading.fetch(doc_id, reader=reader, start=start, tokens=tokens)
        found.append(answer)
        start = answer.next
        if start is None:
            return found


def test_a_document_is_fetched_in_reading_order(lake):
    lake.publish(
        "hr/leave.md", "# Leave\n\nSixteen weeks.\n\n## Parental\n\nBoth parents.\n", url="https://example.org/l"
    )
    answer = lake.reading.fetch("hr/leave.md", reader=ANA)
    text = "\n\n".join(section.text for section in answer.sections)
    assert text.index("Sixteen weeks.") < text.index("Both parents.")
    assert (answer.document.source, answer.document.doc_id) == ("wiki", "hr/leave.md")
    assert (answer.document.title, answer.document.url) == ("Leave", "https://example.org/l")
    assert answer.next is None
    assert answer.lineage["parser"]
    assert sum(section.tokens for section in answer.sections) > 0


def test_pages_together_are_the_document_once(lake):
    """Whatever the size of the pages: every word, none twice."""
    lake.publish("long.md", LONG)
    (whole,) = pages(lake, "long.md", 32_000)
    for tokens in (1, 200, 700):
        found = pages(lake, "long.md", tokens)
        assert len(found) > 1
        words = " ".join(section.text for page in found for section in page.sections).split()
        assert words == " ".join(section.text for section in whole.sections).split()
        ordinals = [section.ordinal for page in found for section in page.sections]
        assert ordinals == sorted(set(ordinals))


def test_a_document_that_changes_between_two_pages_starts_again_and_says_so(lake):
    """The cursor knows its version: no answer goes on in another one."""
    lake.publish("long.md", LONG)
    first = lake.reading.fetch("long.md", reader=ANA, tokens=200)
    lake.publish("long.md", LONG.replace("w0x0 ", "new "))
    second = lake.reading.fetch("long.md", reader=ANA, start=first.next, tokens=200)
    assert second.document.version > first.document.version
    assert second.sections[0].ordinal == 0
    assert "new " in second.sections[0].text


def test_a_permission_that_changes_between_two_pages_moves_no_page(lake):
    """Who may read is no part of the text: a cursor outlives a grant, and a revocation ends it."""
    lake.publish("long.md", LONG)
    first = lake.reading.fetch("long.md", reader=ANA, tokens=200)
    lake.permit("long.md", Acl(levels=(frozenset({"user:ana"}),)))
    second = lake.reading.fetch("long.md", reader=ANA, start=first.next, tokens=200)
    assert second.sections[0].ordinal > 0
    lake.permit("long.md", SECRET)
    with pytest.raises(NotFound):
        lake.reading.fetch("long.md", reader=ANA, start=second.next, tokens=200)


@pytest.mark.parametrize("forged", ["!", "x" * 600, "AAAA", "kw", "é", "", " 1", "-1", "99999999999"])
def test_what_is_no_cursor_is_refused(lake, forged):
    lake.publish("a.md", "Words.")
    for ask in (lake.reading.fetch, lake.reading.outline):
        with pytest.raises(Misconfigured, match="start"):
            ask("a.md", reader=ANA, start=forged)
    if forged != "":
        with pytest.raises(Misconfigured, match="since"):
            lake.reading.changes(forged, reader=ANA)


def test_a_cursor_of_another_document_is_refused(lake):
    """It carries a place, and grants nothing."""
    lake.publish("secret.md", LONG, acl=SECRET)
    lake.publish("open.md", "Words.")
    stolen = lake.reading.fetch("secret.md", reader=BOARD, tokens=200).next
    with pytest.raises(NotFound):
        lake.reading.fetch("secret.md", reader=ANA, start=stolen)
    with pytest.raises(Misconfigured, match="start"):
        lake.reading.fetch("open.md", reader=ANA, start=stolen)


@pytest.mark.parametrize("tokens", [0, -1, 32_001])
def test_a_page_has_limits(lake, tokens):
    lake.publish("a.md", "Words.")
    with pytest.raises(Misconfigured, match="tokens"):
        lake.reading.fetch("a.md", reader=ANA, tokens=tokens)


def test_fetch_goes_on_where_an_outline_says(lake):
    """An entry's ordinal is a start."""
    lake.publish("long.md", LONG)
    outline = lake.reading.outline("long.md", reader=ANA)
    assert [(e.level, e.heading) for e in outline.entries] == [(1, "Leave"), *((2, f"Part {n}") for n in range(6))]
    assert outline.entries[0].tokens == outline.tokens == sum(e.tokens for e in outline.entries[1:])
    part = outline.entries[4]
    answer = lake.reading.fetch("long.md", reader=ANA, start=str(part.ordinal), tokens=1)
    assert answer.sections[0].heading_path[-1] == "Part 3"
    assert answer.sections[0].ordinal == part.ordinal


def test_an_attachment_is_read_under_its_parent_s_rights(lake):
    """`parent!/name`, listed in the outline, hidden with the parent."""
    mail = (
        b"From: a@example.org\r\nTo: b@example.org\r\nSubject: Plans\r\nMIME-Version: 1.0\r\n"
        b'Content-Type: multipart/mixed; boundary="x"\r\n\r\n--x\r\nContent-Type: text/plain\r\n\r\nSee the plan.\r\n'
        b'--x\r\nContent-Type: text/markdown\r\nContent-Disposition: attachment; filename="plan.md"\r\n\r\n'
        b"# Plan\n\nMarch in May.\r\n--x--\r\n"
    )
    lake.publish("m.eml", mail, acl=SECRET)
    outline = lake.reading.outline("m.eml", reader=BOARD)
    assert [child.doc_id for child in outline.children] == ["m.eml!/plan.md"]
    answer = lake.reading.fetch("m.eml!/plan.md", reader=BOARD)
    assert "March in May." in answer.sections[-1].text
    assert answer.sections[0].ordinal == 0
    assert answer.document.doc_id == "m.eml!/plan.md"
    for ask in (lake.reading.fetch, lake.reading.outline, lake.reading.related):
        with pytest.raises(NotFound):
            ask("m.eml!/plan.md", reader=ANA)
        with pytest.raises(NotFound):
            ask("m.eml!/other.md", reader=BOARD)


def test_of_two_documents_of_one_name_the_visible_one_is_meant(lake):
    """That another source has one too is told only to whom may see it."""
    lake.publish("a.md", "Mine.", source="wiki")
    lake.publish("a.md", "Theirs.", source="board", acl=SECRET)
    assert lake.reading.fetch("a.md", reader=ANA).document.source == "wiki"
    with pytest.raises(Misconfigured, match="board, wiki"):
        lake.reading.fetch("a.md", reader=BOARD)
    assert lake.reading.fetch("a.md", reader=BOARD, source="board").sections[0].text == "Theirs."


def test_another_tenant_s_document_is_not_there(lake):
    lake.publish("a.md", "Theirs.", tenant="theirs")
    with pytest.raises(NotFound):
        lake.reading.fetch("a.md", reader=ANA)
    assert lake.reading.fetch("a.md", reader=who("user:x", tenant="theirs")).sections[0].text == "Theirs."


def test_a_document_that_is_only_permitted_yet_is_not_there(lake):
    """A permission may come before its document."""
    lake.publisher.control(lake._event(Op.ACL, "a.md", "wiki", "default", acl=PUBLIC))
    for ask in (lake.reading.fetch, lake.reading.outline, lake.reading.related):
        with pytest.raises(NotFound):
            ask("a.md", reader=ANA)


class Happens:
    """A store under which something happens once, after it gave texts."""

    def __init__(self, store, action):
        self._store, self._actions = store, [action]

    def texts(self, ids):
        found = self._store.texts(ids)
        while self._actions:
            self._actions.pop()()
        return found

    def __getattr__(self, name):
        return getattr(self._store, name)


def test_a_revocation_while_texts_are_fetched_is_obeyed(lake):
    """The last step is a snapshot: what it forbids does not leave."""
    lake.publish("a.md", "Words.")
    reading = lake.reading_over(Happens(lake.store, lambda: lake.permit("a.md", SECRET)))
    with pytest.raises(NotFound):
        reading.fetch("a.md", reader=ANA)


def test_a_publish_while_texts_are_fetched_gives_the_new_version_whole(lake):
    lake.publish("a.md", "Old words.")
    reading = lake.reading_over(Happens(lake.store, lambda: lake.publish("a.md", "New words.")))
    assert [section.text for section in reading.fetch("a.md", reader=ANA).sections] == ["New words."]


def test_a_text_that_the_store_has_lost_is_no_empty_text(lake):
    """A page with a hole is not shown."""
    event = lake.publish("a.md", "Words.")
    manifest = lake.registry.manifest(event.key, "pipeline")
    lake.store.prune(event.key, manifest.generation, set())
    with pytest.raises(Retryable):
        lake.reading.fetch("a.md", reader=ANA)
    (entry,) = lake.audit.entries
    assert (entry.outcome, entry.reason, entry.hits, entry.principals) == ("refused", "unavailable", (), ())


def test_a_permission_that_nobody_could_confirm_for_too_long_hides(lake):
    """From everybody, by every method."""
    event = lake.publish("a.md", "Words that are here.")
    row = lake.registry.row(event.key)
    missing = MissingAcl(acl_version=row.acl_version + 1, since=lake.now)
    lake.registry.commit(msgspec.structs.replace(row, acl_missing=(missing,)), expected_rev=row.rev)
    lake.status("wiki")
    assert lake.reading.fetch("a.md", reader=ANA).sections
    assert lake.reading.sources(reader=ANA).sources
    lake.now += 25 * HOUR
    with pytest.raises(NotFound):
        lake.reading.fetch("a.md", reader=ANA)
    assert lake.reading.sources(reader=ANA).sources == ()
    assert lake.reading.changes("2020-01-01T00:00:00Z", reader=ANA).changes == ()
    assert lake.reading.search("words", reader=ANA).hits == ()


def test_sources_are_those_that_hold_something_visible(lake):
    """With their freshness, and without a count of anything."""
    lake.publish("a.md", "Words.", source="wiki")
    lake.publish("b.md", "Words.", source="board", acl=SECRET)
    lake.publish("c.md", "Words.", source="gone")
    lake.delete("c.md", source="gone")
    lake.publish("d.md", "Words.", source="theirs", tenant="theirs")
    for source in ("wiki", "board", "gone", "empty"):
        lake.status(source)
    lake.status("wiki", tenant="theirs", watermark=None)
    answer = lake.reading.sources(reader=ANA)
    assert [(s.source, s.watermark, s.staleness_s) for s in answer.sources] == [("wiki", "2026-01-01T00:00:00Z", 1.5)]
    assert [s.source for s in lake.reading.sources(reader=BOARD).sources] == ["board", "wiki"]
    assert [s.source for s in lake.reading.sources(reader=who("user:x", tenant="theirs")).sources] == ["theirs"]


def test_a_source_of_many_permissions_is_found_by_a_search(lake):
    """Forty documents, each for one person: the fortieth finds their source."""
    for n in range(40):
        lake.publish(f"{n}.md", f"Words {n}.", acl=Acl(levels=(frozenset({f"user:{n}"}),)))
    for n in range(40):
        assert [s.source for s in lake.reading.sources(reader=who(f"user:{n}")).sources] == ["wiki"]
    assert lake.reading.sources(reader=who("user:40")).sources == ()


def test_a_hidden_source_costs_no_search_whose_time_would_tell_of_it(lake):
    """Nobody is told how many sources they may not see, by the clock either; a source in doubt is still searched."""
    for n in range(5):
        lake.publish("a.md", "Words.", source=f"hidden-{n}", acl=SECRET)
    lake.publish("a.md", "Words.", source="mixed")
    lake.publish("b.md", "More words.", source="mixed")
    lake.delete("a.md", source="mixed")
    asked = []
    embed = lake.embedder.embed_query
    lake.embedder.embed_query = lambda text: asked.append(text) or embed(text)
    assert [s.source for s in lake.reading.sources(reader=ANA).sources] == ["mixed"]
    assert asked in ([], ["mixed"])


def test_every_read_is_audited_before_it_leaves(lake):
    """Who, for which principals, what was shown: ids and a hash, no words."""
    lake.publish("a.md", "Sixteen weeks.")
    lake.reading.search("how long is leave", reader=ANA)
    lake.reading.fetch("a.md", reader=ANA)
    search, fetch = lake.audit.entries
    assert (search.act, search.actor, search.via, search.tenant) == (Act.SEARCH, "user:ana", "library", "default")
    assert search.principals == ("everyone", "user:ana")
    assert len(search.query) == 32
    assert search.hits == fetch.hits
    assert search.hits[0].startswith("wiki/a.md#")
    assert (fetch.act, fetch.document.doc_id, fetch.outcome) == (Act.READ, "a.md", "ok")
    assert not any("weeks" in str(msgspec.to_builtins(entry)) or "leave" in entry.query for entry in lake.audit.entries)


def test_a_long_roll_of_principals_is_written_once_a_day_and_by_its_digest_after_that(lake):
    """A reader in thousands of groups must not fill the disk by asking; what is not durable is not counted."""
    lake.publish("a.md", "Words.")
    crowd = who("user:ana", *(f"group:{n}" for n in range(5000)))
    lake.audit.away = True
    with pytest.raises(Retryable):
        lake.reading.search("words", reader=crowd)
    lake.audit.away = False
    for _ in range(3):
        lake.reading.search("words", reader=crowd)
    lake.reading.search("words", reader=who("user:bea", *(f"group:{n}" for n in range(5000))))
    lake.now += 24 * HOUR
    lake.reading.search("words", reader=crowd)
    first, second, third, other, morrow = (entry.principals for entry in lake.audit.entries)
    assert first == morrow == tuple(sorted({"everyone", *crowd.asker.principals}))
    assert second == third == (digest_of(first),)
    assert len(other) == 5002


def test_a_refused_read_is_audited_too(lake):
    lake.publish("a.md", "Words.", acl=SECRET)
    with pytest.raises(NotFound):
        lake.reading.fetch("a.md", reader=ANA)
    (entry,) = lake.audit.entries
    assert (entry.act, entry.outcome, entry.reason, entry.hits) == (Act.READ, "refused", "not_found", ())
    assert entry.document.doc_id == "a.md"


def test_nothing_is_shown_that_the_audit_cannot_keep(lake):
    """A refusal neither: all is Retryable."""
    lake.publish("a.md", "Words.")
    lake.audit.away = True
    for ask in EVERY.values():
        with pytest.raises(Retryable):
            ask(lake.reading, "a.md", ANA)
        with pytest.raises(Retryable):
            ask(lake.reading, "no such.md", ANA)


EVERY = {
    "fetch": lambda api, doc, reader: api.fetch(doc, reader=reader),
    "outline": lambda api, doc, reader: api.outline(doc, reader=reader),
    "related": lambda api, doc, reader: api.related(doc, reader=reader),
    "search": lambda api, doc, reader: api.search("words", reader=reader),
    "changes": lambda api, doc, reader: api.changes("2020-01-01T00:00:00Z", reader=reader),
    "sources": lambda api, doc, reader: api.sources(reader=reader),
}


def test_a_user_whom_the_directory_does_not_know_sees_nothing_and_the_audit_says_why(lake):
    lake.publish("a.md", "Words.")
    lake.registry.directory.put(Membership(tenant="default", principal="user:bob", version=1))
    assert lake.reading.search("words", reader=ANA).hits == ()
    assert lake.audit.entries[-1].reason == "unknown_user"
    with pytest.raises(NotFound):
        lake.reading.fetch("a.md", reader=ANA)
    assert lake.audit.entries[-1].reason == "unknown_user"
    assert lake.reading.sources(reader=ANA).sources == ()
    assert lake.reading.fetch("a.md", reader=who("user:bob")).sections
