"""Erasure of a distributed lake, on a real Kafka and a real PostgreSQL: what is left, and that it leaves in time."""

import dataclasses
import json
import threading

import psycopg
import pytest
from test_commands_on_kafka import MESSAGE_BYTES, World

from broker import create_topics, started, wait_for
from canaries import Canaries
from upwell.answers import EraseWish, Scope
from upwell.cli.output import as_json
from upwell.erase.certificate import jwks_verifier, verified
from upwell.erase.remaining import Surroundings, Topics
from upwell.errors import NotFound
from upwell.identity.own_key import LakeKey
from upwell.records import Acl, ChangeEvent, Inline, Op, stable_hash
from upwell.runtime.erasing import erase
from upwell.runtime.erasing_parts import Certifying
from upwell.runtime.replaying import pending_of
from upwell.runtime.stream import topics
from upwell.runtime.stream.erasing import erasing

pytestmark = [pytest.mark.integration, pytest.mark.timeout(300)]
LAG_S = 8
"""How long the topics keep what a tombstone stands behind; and the broker's own intervals, which are nothing to days."""
OPEN = Acl(levels=(frozenset({"everyone"}),))
WHERE = Surroundings(
    lake="kafka",
    registry_server=True,
    store_server=True,
    blobs="file",
    topics=Topics(
        forgetting=tuple((topic, 7.0) for topic in topics.FORGETTING),
        passing=((topics.CONTROL, 7.0), (topics.APPLIED, 7.0)),
        members=topics.PRINCIPALS,
        compaction_lag_days=LAG_S / 86400,
    ),
)


@pytest.fixture
def world(postgres_url, tmp_path):
    with started(tmp_path / "broker") as broker:
        create_topics(broker, message_bytes=MESSAGE_BYTES, partitions=1, compaction_lag_days=LAG_S / 86400)
        made = World(broker, postgres_url, tmp_path)
        made.key = LakeKey.at(tmp_path / "signing-key.json")
        made.url = postgres_url
        yield made
        made.close()


def event(doc_id, text, version=1, **fields):
    about = {"acl": OPEN, "acl_version": version, "content": Inline(data=text.encode())} | fields
    return ChangeEvent(
        event_id=stable_hash("wiki", doc_id, version), tenant="default", source="wiki", doc_id=doc_id,
        op=about.pop("op", Op.UPSERT), version=version, received_at=version, **about,
    )  # fmt: skip


def send(world, *events):
    world.lake._parts.sink.accept(events)


def settled(world, *events):
    send(world, *events)
    wait_for(lambda: not any(pending_of(world.ledger, one.key) for one in events), 60, "all events have ended")
    wait_for(lambda: world.registry.row(events[-1].key) is not None, 60, "the last one is known")


def erased(world, **wish):
    certifying = Certifying(signer=world.key.signing_key, where=WHERE)
    parts = dataclasses.replace(erasing(world.lake._parts), certifying=certifying, noted=world.lag.noted)
    return erase(parts, EraseWish(**wish))


def dump(url):
    """Every row of every table, as text; bytes in it are hex."""
    with psycopg.connect(url) as connection:
        names = [name for (name,) in connection.execute("SELECT tablename FROM pg_tables WHERE schemaname = 'public'")]
        assert {"documents", "chunks", "events", "dead_letters"} <= set(names)
        text = "\n".join(
            row for name in names for (row,) in connection.execute(f'SELECT t::text FROM "{name}" AS t').fetchall()
        )
    found = text.encode()
    for piece in text.split("\\x")[1:]:
        digits = piece.split(",")[0].rstrip('")').lower()
        found += bytes.fromhex(digits) if len(digits) % 2 == 0 and set(digits) <= set("0123456789abcdef") else b""
    return found


def on_brokers(folder, words):
    """topic -> the places whose words any of its segments holds; files that are about to be deleted count."""
    found = {}
    for path in (folder / "broker" / "data").glob("upwell.*/*.log*"):
        try:
            held = words.among(path.read_bytes())
        except FileNotFoundError:
            continue
        if held:
            found.setdefault(path.parent.name.rpartition("-")[0], set()).update(held)
    return found


def plant(world, words):
    about = {
        "title": f"T {words['title']}",
        "url": f"https://e.org/{words['url']}",
        "metadata": {"m": words["metadata"]},
    }
    settled(world, event("kept.md", "alder"), event("letter.md", f"larch {words['older']}", 1, **about))
    settled(world, event("letter.md", f"maple {words['text']}" + " " * 100_000, 2, **about))
    settled(world, event("letter.md", "!corrupt", 3, title=words["dead"]))
    wait_for(world.lake.dead_list, 60, "the letter is there")


def test_a_planted_word_leaves_every_table_and_blob_at_once_and_every_topic_in_time(world, tmp_path):
    words = Canaries(("text", "older", "title", "url", "metadata", "dead", "pending"))
    plant(world, words)
    send(world, event("letter.md", f"beech {words['pending']}", 4))
    assert words.among(dump(world.url)) >= {"title", "url", "metadata", "dead"}, "the search can find them"
    assert "text" in words.in_folder(tmp_path / "blobs")
    answer = erased(world, scope=Scope.DOCUMENT, name="letter.md")
    assert answer.remaining == ()
    data = as_json(answer).encode()
    assert verified(data, jwks_verifier(json.dumps(world.key.public_jwks()).encode())).valid

    assert words.among(dump(world.url)) == set()
    assert words.in_folder(tmp_path / "blobs") == {}
    assert words.among(repr(vars(world.store)).encode()) == set()
    assert world.store.present(event("letter.md", "").key) == {}
    still = on_brokers(tmp_path, words)
    said = {one.place.removeprefix("topic ") for one in answer.certificate.remaining if one.until is not None}
    assert still.keys() <= said - {topics.CONTROL, topics.APPLIED}, "only where the certificate says so"
    number = 0

    def gone():
        nonlocal number
        number += 1  # what else goes on closes segments: others' text, and others' dead letters
        settled(world, event(f"other{number}.md", "elm"), event(f"bad{number}.md", "!corrupt"))
        return on_brokers(tmp_path, words) == {}

    wait_for(gone, 10 * LAG_S, "the brokers have compacted it away")
    assert "letter.md" not in {
        hit.doc_id for hit in world.lake.search("x", principals=frozenset({"everyone"}), k=50).hits
    }
    assert {"kept.md", "other1.md"} <= {row.key.doc_id for row in world.registry.rows() if not row.deleted}


def test_a_source_is_erased_while_its_events_are_in_flight_and_again_after_it(world):
    """Twice, from two commands at once; then a newer version may come."""
    send(world, *(event(f"d{n}.md", f"larch {n}", version) for n in range(15) for version in (1, 2)))
    answers = []

    def run():
        answers.append(erased(world, scope=Scope.SOURCE, name="wiki"))

    wait_for(lambda: world.registry.row(event("d14.md", "").key) is not None, 60, "all are on their way")
    both = [threading.Thread(target=run) for _ in range(2)]
    for one in both:
        one.start()
    for one in both:
        one.join(120)
    assert [answer.remaining for answer in answers] == [(), ()]
    assert all(len(answer.certificate.documents) == 15 for answer in answers)
    assert world.store.count() == 0
    again = erased(world, scope=Scope.SOURCE, name="wiki", dry_run=True)
    assert (again.documents, again.removed) == (15, {"points": 0})
    newest = max(document.version for answer in answers for document in answer.certificate.documents)
    settled(world, event("d0.md", "larch", newest + 1))
    wait_for(lambda: not world.registry.row(event("d0.md", "").key).deleted, 60, "a newer version comes anew")
    with pytest.raises(NotFound):
        erased(world, scope=Scope.DOCUMENT, name="nowhere.md")
