"""Topics on a real broker: made once, compared, described; and what compaction does to an erased document."""

import time
from contextlib import closing

import msgspec
import pytest
from kafka import KafkaAdminClient, KafkaConsumer, TopicPartition
from kafka.admin import ConfigResource
from kafka.structs import OffsetAndMetadata

from broker import create_topics, records, settings_of, started, wait_for
from stream_samples import event, memory_blobs
from upwell.answers import TopicsAnswer, TopicsCheck
from upwell.cli.app import app
from upwell.cli.errors import run
from upwell.errors import Misconfigured, Retryable
from upwell.messages import Change
from upwell.records import Lane
from upwell.runtime.stream import topics
from upwell.runtime.stream.admin import TopicAdmin, found
from upwell.runtime.stream.contract import Outgoing
from upwell.runtime.stream.lag import LagReader
from upwell.runtime.stream.producer import LogProducer
from upwell.runtime.stream.topics import Line, Role

pytestmark = pytest.mark.integration

CHANGES = topics.laned(topics.CHANGES, Lane.LIVE)


@pytest.fixture
def cli(kafka, monkeypatch, tmp_path, capfdbinary):
    """Runs a command against the broker; its status, what it printed, and its notes."""
    monkeypatch.chdir(tmp_path)
    for name, value in {"BROKERS": kafka.address, "PARTITIONS": "4", "REPLICATION": "1"}.items():
        monkeypatch.setenv(f"UPWELL_{name}", value)

    def call(*words):
        capfdbinary.readouterr()
        status = run(app, ["topics", *words])
        out, err = capfdbinary.readouterr()
        return status, out, err.decode()

    return call


def changed(kafka, topic, name, value):
    """Changed by hand, and seen to be so."""
    with closing(KafkaAdminClient(bootstrap_servers=kafka.address)) as admin:
        admin.alter_configs([ConfigResource("TOPIC", topic, {name: value})], incremental=True)
        wait_for(lambda: found(admin, [topic])[topic].configs[name] == value, 10, "the config is changed")


def test_create_makes_all_once(kafka):
    """All thirteen, as the settings want them; a second time there is nothing to do."""
    with closing(TopicAdmin(settings_of(kafka))) as admin:
        assert [mismatch.found for mismatch in admin.check()] == ["missing"] * len(topics.ALL)
        assert set(admin.create()) == set(topics.ALL)
        assert admin.check() == ()
        assert admin.create() == ()


def test_create_makes_what_is_missing_and_changes_nothing(kafka):
    """One was lost, another was changed by hand: the first is made anew, the second only reported."""
    with closing(TopicAdmin(settings_of(kafka))) as admin:
        admin.create()
        changed(kafka, CHANGES, "retention.ms", "1000000")
        with closing(KafkaAdminClient(bootstrap_servers=kafka.address)) as client:
            client.delete_topics([topics.APPLIED])
            wait_for(lambda: topics.APPLIED not in client.list_topics(), 10, "deleted")
        assert admin.create() == (topics.APPLIED,)
        (only,) = admin.check()
        assert (only.topic, only.what, only.found) == (CHANGES, "retention.ms", "1000000")
    with closing(TopicAdmin(settings_of(kafka, partitions=6, retention_days=3.0))) as other:
        assert other.create() == ()
        differing = {(one.topic, one.what, one.found) for one in other.check()}
        assert {(topic, "partitions", "4") for topic in topics.ALL} <= differing
        assert (CHANGES, "retention.ms", "1000000") in differing
        assert other.found()[topics.CONTROL].partitions == 4


def test_the_commands_say_what_they_found(cli, kafka):
    """Missing, made, as wanted, changed: with the status that a script can use."""
    status, out, err = cli("check", "--json")
    assert status == 1
    assert len(msgspec.json.decode(out, type=TopicsCheck).mismatches) == len(topics.ALL)
    status, out, _ = cli("check")
    assert status == 1
    assert f"{topics.DEAD}: missing; upwell topics create makes it" in out.decode()
    status, out, err = cli("describe")
    assert status == 0
    assert "none of the lake's topics" in err
    status, out, err = cli("create", "--json")
    assert (status, err) == (0, "")
    assert set(msgspec.json.decode(out, type=TopicsCheck).created) == set(topics.ALL)
    assert cli("check")[:2] == (0, b"every topic is as the settings have it\n")
    changed(kafka, topics.DEAD, "max.message.bytes", "1234567")
    status, out, _ = cli("check")
    assert status == 1
    assert out.decode() == f"{topics.DEAD}: max.message.bytes is 1234567, the settings say 1000000\n"
    status, out, err = cli("create")
    assert status == 0
    assert "nothing was changed" in err
    status, out, _ = cli("describe")
    assert status == 0
    assert "upwell-parse-live" in out.decode()


def test_settings_that_no_broker_can_meet_are_named(kafka):
    """Three replicas of one broker."""
    with closing(TopicAdmin(settings_of(kafka, replication=3))) as admin, pytest.raises(Misconfigured) as e:
        admin.create()
    assert "replication" in str(e.value)


def test_lag_is_what_lies_beyond_the_committed_offsets(kafka, cli):
    """Before a group's first commit all of it; after one the rest; retention takes nothing twice."""
    create_topics(kafka)
    reader = LagReader(kafka.address)
    assert set(reader.totals().values()) == {0}
    with closing(LogProducer(kafka.address, blobs=memory_blobs(), message_bytes=100_000)) as producer:
        events = [event(f"{n}.md") for n in range(20)]
        producer.send([Outgoing(topic=CHANGES, key=one.key, message=Change(event=one)) for one in events])
    parse, ledger = topics.group_of(Role.PARSE, Line.LIVE), topics.group_of(Role.LEDGER, Line.LIVE)
    assert reader.totals()[parse] == 20
    assert reader.totals()[ledger] == 20
    assert reader.totals()[topics.group_of(Role.PARSE, Line.BACKFILL)] == 0
    with closing(KafkaConsumer(bootstrap_servers=kafka.address, group_id=parse, enable_auto_commit=False)) as consumer:
        here = [TopicPartition(CHANGES, n) for n in range(4)]
        ends = consumer.end_offsets(here)
        assert min(ends.values()) > 0  # the keys are spread over all partitions
        consumer.assign(here)
        consumer.commit({here[0]: OffsetAndMetadata(ends[here[0]], "", -1)})
        assert reader.totals()[parse] == 20 - ends[here[0]]
        with closing(KafkaAdminClient(bootstrap_servers=kafka.address)) as admin:
            admin.delete_records({here[1]: ends[here[1]], here[0]: ends[here[0]]})
        assert reader.totals()[parse] == 20 - ends[here[0]] - ends[here[1]]
    by_topic = {state.topic: state for state in reader.topics()}
    assert by_topic[CHANGES].end == 20
    assert by_topic[CHANGES].begin == ends[here[0]] + ends[here[1]]
    answer = msgspec.json.decode(cli("describe", "--json")[1], type=TopicsAnswer)
    assert {state.group: state.lag for state in answer.groups if state.topic == CHANGES}[parse] == (
        20 - ends[here[0]] - ends[here[1]]
    )
    reader.close()


def test_lag_outlives_the_broker(tmp_path):
    """While it is away Retryable within a bounded time, then the truth again."""
    with started(tmp_path) as broker:
        create_topics(broker)
        reader = LagReader(broker.address, answer_s=2.0)
        assert sum(reader.totals().values()) == 0
        broker.stop(kill=True)
        begun = time.monotonic()
        with pytest.raises(Retryable):
            reader.totals()
        assert time.monotonic() - begun < 15
        broker.start()
        assert sum(reader.totals().values()) == 0
        reader.close()


def test_an_erased_document_leaves_the_brokers_files(tmp_path):
    """After a tombstone its words are soon in no segment; the words of others are, though as old."""
    seconds = 8  # and the broker's own intervals, which are nothing beside days
    with started(tmp_path) as broker:
        create_topics(broker, partitions=1, compaction_lag_days=seconds / 86400)
        blobs = memory_blobs()
        with closing(LogProducer(broker.address, blobs=blobs, message_bytes=100_000)) as producer:
            doomed, kept = event("doomed.md", data=b"doomed-words"), event("kept.md", data=b"kept-words")
            for one in (kept, doomed):
                producer.send([Outgoing(topic=CHANGES, key=one.key, message=Change(event=one))])
            assert on_disk(tmp_path, b"doomed-words")
            producer.send([Outgoing(topic=CHANGES, key=doomed.key, message=None)])
            erased = time.monotonic()
            number = 0
            while on_disk(tmp_path, b"doomed-words"):
                assert time.monotonic() - erased < 3 * seconds, "the words are still there"
                time.sleep(0.5)
                number += 1  # what else goes on in the partition: it closes segments
                other = event(f"other{number}.md")
                producer.send([Outgoing(topic=CHANGES, key=other.key, message=Change(event=other))])
        assert on_disk(tmp_path, b"kept-words")
        assert topics.key_of(kept.key) in {record.key for record in records(broker, CHANGES)}


def on_disk(folder, words):
    """True while a segment of the broker holds these bytes; files that are about to be deleted count."""
    found = False
    for path in (folder / "data").glob("upwell.*/*.log*"):
        try:
            found = found or words in path.read_bytes()
        except FileNotFoundError:
            continue
    return found
