"""Events through the six handlers, one after the other: what each document, move, failure and erasure comes to."""

from chains import chain, key, upsert
from upwell.records import Op, Outcome, ParseStatus
from upwell.runtime.stream import topics

__all__ = ["chain"]


def test_a_document_goes_through_every_stage(chain):
    """It ends applied, with every word embedded once, and its event's content travels no further than it must."""
    ended = chain.run(upsert("one two one"))
    assert (ended.fate.outcome, ended.embedded, ended.reused, ended.tokens_embedded) == (Outcome.APPLIED, 2, 0, 2)
    assert chain.texts() == ["one", "two", "one"]
    assert chain.embedder.asked == ["one", "two"]
    assert ended.event.content is None


def test_an_edit_embeds_what_is_new_alone(chain):
    """Kept, reused and embedded are told apart as the embedded lake does."""
    ended = chain.run(upsert("one two"), upsert("two three", 2))
    assert (ended.kept, ended.embedded, ended.removed) == (1, 1, 1)
    assert chain.embedder.asked == ["one", "two", "three"]


def test_a_move_embeds_nothing(chain):
    """The new id's points take their vectors from the old one's, which go when its event has ended."""
    ended = chain.run(upsert("one two"), upsert("one two", 2, "b", previous_doc_id="a"))
    assert (ended.reused, ended.embedded) == (2, 0)
    assert chain.embedder.asked == ["one", "two"]
    assert chain.texts("b") == ["one", "two"]
    assert chain.store.present(key("a")) == {}


def test_what_will_not_parse_keeps_the_last_version_and_is_a_dead_letter(chain):
    """The registry knows the status, `applied` the fate, and `dead` has the whole event to be replayed."""
    bad = upsert("!corrupt", 2)
    ended = chain.run(upsert("one"), bad)
    assert (ended.fate.outcome, ended.fate.reason, ended.fate.stage) == (Outcome.DEAD, "corrupt", "parse")
    assert chain.texts() == ["one"]
    row = chain.registry.row(key("a"))
    assert (row.stale_reason, row.failed_version, row.status) == ("corrupt", 2, ParseStatus.OK)
    (dead,) = chain.log.messages(topics.DEAD)
    assert dead.event == bad
    assert dead.fate == ended.fate


def test_an_erasure_leaves_no_word_and_no_blob(chain):
    """Points, blobs and, once the topics are compacted, messages: every laned topic gets the key's tombstone."""
    event = upsert("one two")
    chain.blobs.put(event.key, b"large", 1)
    ended = chain.run(event, upsert("", 2, op=Op.ERASE, content=None))
    assert ended.fate.outcome is Outcome.APPLIED
    assert chain.store.present(key("a")) == {}
    assert chain.blobs.kept == {}
    for topic in topics.LANED:
        last = [records[-1] for (name, _), records in chain.log.records.items() if name == topic]
        assert [(k, value) for k, value, _ in last] == [(topics.key_of(key("a")), None)]


def test_an_erasure_that_comes_late_leaves_newer_content_alone(chain):
    """Superseded: neither blobs nor messages of what stands are touched."""
    event = upsert("one", 5)
    chain.run(event)
    old, new = (chain.blobs.put(event.key, b"large", version) for version in (1, 5))
    ended = chain.run(upsert("", 2, op=Op.ERASE, content=None))
    assert ended.fate.outcome is Outcome.SUPERSEDED
    assert chain.texts() == ["one"]
    assert old.uri not in chain.blobs.kept
    assert new.uri in chain.blobs.kept
    assert all(value is not None for records in chain.log.records.values() for _, value, _ in records)
