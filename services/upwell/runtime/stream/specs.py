"""What the topics must look like on the brokers, from the settings, and how what is there differs. Pure."""

from collections.abc import Mapping

from upwell.answers import TopicMismatch
from upwell.config import Settings
from upwell.records import Record
from upwell.runtime.stream import topics

DAY_MS = 24 * 60 * 60 * 1000


class TopicSpec(Record, frozen=True, kw_only=True):
    """A topic's shape; `configs` are Kafka's own names and texts."""

    partitions: int
    replication: int
    configs: dict[str, str] = {}


def wanted(settings: Settings) -> dict[str, TopicSpec]:
    """Every topic of the lake, as the settings have it."""
    forgetting = {**_common(settings), **_forgetting(settings)}
    passing = {**_common(settings), **_kept(settings.retention_days), "cleanup.policy": "delete"}
    configs = {
        **{topic: {**forgetting, **_kept(settings.retention_days)} for topic in topics.LANED},
        topics.DEAD: {**forgetting, **_kept(settings.dead_retention_days)},
        topics.CONTROL: passing,
        topics.PRINCIPALS: {**_common(settings), **_newest(settings)},
        topics.APPLIED: passing,
    }
    return {
        topic: TopicSpec(
            partitions=settings.partitions, replication=settings.replication, configs=dict(sorted(of_topic.items()))
        )
        for topic, of_topic in configs.items()
    }


def mismatches(wanted: Mapping[str, TopicSpec], found: Mapping[str, TopicSpec]) -> tuple[TopicMismatch, ...]:
    """Everything that is not as wanted, in the order of the topics; configs that nobody asked for are no mismatch."""
    return tuple(
        TopicMismatch(topic=topic, what=what, wanted=want, found=have)
        for topic, spec in wanted.items()
        for what, want, have in _differences(spec, found.get(topic))
        if want != have
    )


def _differences(spec: TopicSpec, found: TopicSpec | None) -> list[tuple[str, str, str]]:
    if found is None:
        return [("topic", "there", "missing")]
    shape = [
        ("partitions", str(spec.partitions), str(found.partitions)),
        ("replication", str(spec.replication), str(found.replication)),
    ]
    configs = ((name, value, found.configs.get(name, "")) for name, value in spec.configs.items())
    return [*shape, *((name, value, _same_form(name, have)) for name, value, have in configs)]


def _same_form(name: str, value: str) -> str:
    """The policy is a set; brokers give it back in the order in which it was set."""
    return ",".join(sorted(value.split(","))) if name == "cleanup.policy" else value


def _common(settings: Settings) -> dict[str, str]:
    return {
        "max.message.bytes": str(settings.message_bytes),
        # With acks=all a message is acknowledged when it is on all replicas but one: it survives the loss of any
        # broker, and writing goes on while one is away.
        "min.insync.replicas": str(max(1, settings.replication - 1)),
        # A replica that missed messages never becomes the leader: they were acknowledged.
        "unclean.leader.election.enable": "false",
        # The brokers' clock decides on retention and compaction; a producer's wrong one would keep messages for ever,
        # or lose them at once.
        "message.timestamp.type": "LogAppendTime",
    }


def _kept(days: float) -> dict[str, str]:
    """A message that nobody has worked on for so long is lost: the longest outage that a lake survives."""
    return {"retention.ms": _ms(days)}


def _forgetting(settings: Settings) -> dict[str, str]:
    """Topics that carry words: a tombstone (an erasure) takes them out within `compaction_lag_days`.

    Compaction keeps the newest message of each document, so it may take an older one that nobody has worked on yet;
    hence nothing is compacted for half of that time: workers that are further behind than that may find a change of a
    document gone that a newer one has overtaken. The other half is the brokers' to do it: a tombstone is in a closed
    segment after a quarter, must be compacted after three quarters, and a quarter is left for the work. (A segment
    closes when a message comes after its time; in a partition where none comes, retention ends it.)
    """
    lag = settings.compaction_lag_days
    return {
        "cleanup.policy": "compact,delete",
        "min.compaction.lag.ms": _ms(lag / 2),
        "max.compaction.lag.ms": _ms(lag * 3 / 4),
        "segment.ms": _ms(lag / 4),
        # Tombstones name the document. No consumer here needs them for longer: they skip them.
        "delete.retention.ms": _ms(lag / 4),
    }


def _newest(settings: Settings) -> dict[str, str]:
    """The newest message of each principal is kept for ever, and what it replaces is gone within
    `compaction_lag_days`: who was in which group is nobody's business any more."""
    lag = settings.compaction_lag_days
    return {
        "cleanup.policy": "compact",
        "max.compaction.lag.ms": _ms(lag * 3 / 4),
        "segment.ms": _ms(lag / 4),
        "delete.retention.ms": _ms(lag / 4),
    }


def _ms(days: float) -> str:
    return str(max(1, round(days * DAY_MS)))
