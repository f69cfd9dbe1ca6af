"""What readers ask, over a registry in PostgreSQL whose sessions see one tenant: as much as without that, and no more."""

import pytest

from readings import SECRET, Library, who
from upwell.errors import NotFound
from upwell.lake.registry import SqlRegistry

pytestmark = pytest.mark.integration
BEFORE = "2025-12-31T00:00:00Z"


@pytest.fixture
def lake(tmp_path, postgres_url):
    made = Library(tmp_path, where=postgres_url)
    made.readers = SqlRegistry.at(postgres_url, made.clock, reading=True)
    made.reading = made.reading_over(made.store, registry=made.readers)
    yield made
    made.readers.close()
    made.close()


def test_every_question_is_answered(lake):
    lake.publish("a.md", "# Leave\n\nSee [pay](b.md) for sixteen weeks.", url="https://x.org/a")
    lake.publish("b.md", "Pay rises in March.")
    lake.publish("c.md", "Board only.", acl=SECRET)
    lake.publish("a.md", "Theirs.", tenant="theirs")
    lake.status("wiki")
    ana, api = who("user:ana"), lake.reading
    assert {hit.doc_id for hit in api.search("weeks", reader=ana).hits} == {"a.md", "b.md"}
    assert "sixteen weeks" in api.fetch("a.md", reader=ana).sections[0].text
    assert api.outline("a.md", reader=ana).entries[0].heading == "Leave"
    assert ("links_to", "b.md") in {(r.relation, r.document.doc_id) for r in api.related("a.md", reader=ana).related}
    assert ("linked_from", "a.md") in {(r.relation, r.document.doc_id) for r in api.related("b.md", reader=ana).related}
    assert [c.document.doc_id for c in api.changes(BEFORE, reader=ana).changes] == ["a.md", "b.md"]
    assert [s.source for s in api.sources(reader=ana).sources] == ["wiki"]
    assert api.fetch("a.md", reader=who("user:x", tenant="theirs")).sections[0].text == "Theirs."
    lake.permit("a.md", SECRET)
    with pytest.raises(NotFound):
        api.fetch("a.md", reader=ana)


def test_a_feed_tells_what_rivals_publish_at_once(lake):
    """Eight writers; a reader who follows meanwhile is told of every document in the end."""
    import threading

    names = [f"{n}.md" for n in range(24)]
    threads = [
        threading.Thread(target=lambda mine=names[n::8]: [lake.publish(name, f"Words of {name}.") for name in mine])
        for n in range(8)
    ]
    for thread in threads:
        thread.start()
    told, since = set(), BEFORE
    while any(thread.is_alive() for thread in threads) or told != set(names):
        answer = lake.reading.changes(since, reader=who("user:ana"), limit=5)
        told |= {change.document.doc_id for change in answer.changes}
        since = answer.next
    assert told == set(names)
