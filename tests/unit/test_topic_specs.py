"""What the topics must look like: every topic, no value that would lose an event or keep an erased word."""

import msgspec
import pytest

from upwell.answers import TopicMismatch
from upwell.config import Settings
from upwell.runtime.stream import topics
from upwell.runtime.stream.specs import TopicSpec, mismatches, wanted

DAY_MS = 86_400_000


@pytest.mark.parametrize("days", [2.0, 0.01, 30.0])
def test_topics_with_words_forget_in_time_and_not_too_soon(days):
    """Nothing is compacted for half of the time; a tombstone is done with it, segment included, before all of it."""
    specs = wanted(Settings(compaction_lag_days=days))
    for topic in topics.FORGETTING:
        configs = specs[topic].configs
        assert configs["cleanup.policy"] == "compact,delete"
        least, most = int(configs["min.compaction.lag.ms"]), int(configs["max.compaction.lag.ms"])
        limit = days * DAY_MS
        assert limit * 0.45 <= least <= most < limit
        assert int(configs["segment.ms"]) + least <= most


def test_topics_without_words_are_never_compacted():
    """Each event of a document is counted on its own."""
    specs = wanted(Settings())
    for topic in (topics.CONTROL, topics.APPLIED):
        assert specs[topic].configs["cleanup.policy"] == "delete"
        assert "max.compaction.lag.ms" not in specs[topic].configs


def test_messages_stay_as_long_as_the_settings_say():
    """Dead letters longer than the others, and the newest of each principal for ever."""
    specs = wanted(Settings(retention_days=3.0, dead_retention_days=40.0))
    assert specs.pop(topics.PRINCIPALS).configs["cleanup.policy"] == "compact"
    kept = {topic: int(spec.configs["retention.ms"]) / DAY_MS for topic, spec in specs.items()}
    assert kept == {topic: 40.0 if topic == topics.DEAD else 3.0 for topic in topics.ALL if topic in specs}


@pytest.mark.parametrize(("replication", "in_sync"), [(1, "1"), (2, "1"), (3, "2"), (5, "4")])
def test_what_is_acknowledged_outlives_a_broker(replication, in_sync):
    """And with one replica there is nothing to wait for. The shape is the same for all."""
    specs = wanted(Settings(replication=replication, partitions=7, message_bytes=70_000))
    assert set(specs) == set(topics.ALL)
    for spec in specs.values():
        assert (spec.partitions, spec.replication) == (7, replication)
        assert spec.configs["min.insync.replicas"] == in_sync
        assert spec.configs["max.message.bytes"] == "70000"
        assert spec.configs["unclean.leader.election.enable"] == "false"


def test_what_is_as_wanted_differs_in_nothing():
    """Whatever else a topic has, and however a broker orders the policies."""
    want = wanted(Settings())
    more = {
        name: msgspec.structs.replace(spec, configs={**spec.configs, "flush.ms": "9"}) for name, spec in want.items()
    }
    swapped = {
        name: msgspec.structs.replace(
            spec, configs={**spec.configs, "cleanup.policy": ",".join(reversed(spec.configs["cleanup.policy"].split(",")))}
        )
        for name, spec in more.items()
    }  # fmt: skip
    assert mismatches(want, {**swapped, "somebody.elses": TopicSpec(partitions=1, replication=1)}) == ()


def test_every_difference_is_named():
    """A lost topic, another shape, a config of another value, and one that is not there."""
    want = {"a": TopicSpec(partitions=2, replication=3, configs={"x": "1", "y": "2"}), "b": TopicSpec(partitions=2, replication=3)}  # fmt: skip
    found = {"a": TopicSpec(partitions=4, replication=1, configs={"x": "9"})}
    assert mismatches(want, found) == tuple(
        TopicMismatch(topic=topic, what=what, wanted=wanted, found=found)
        for topic, what, wanted, found in (
            ("a", "partitions", "2", "4"),
            ("a", "replication", "3", "1"),
            ("a", "x", "1", "9"),
            ("a", "y", "2", ""),
            ("b", "topic", "there", "missing"),
        )
    )
