"""How far the workers are behind, by the brokers: what lies beyond the offsets that each group has committed."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from kafka import TopicPartition
from kafka.admin import OffsetSpec

from upwell.answers import GroupState, TopicState
from upwell.runtime.stream import topics
from upwell.runtime.stream.admin import Administration, partitions
from upwell.runtime.stream.topics import Line, Role

Offsets = Mapping[TopicPartition, int]


class LagReader:
    """Thread-safe. Raises Retryable while no broker answers."""

    def __init__(self, brokers: str | None, *, answer_s: float = 5.0) -> None:
        self._administration = Administration(brokers, answer_s=answer_s)

    def groups(self) -> tuple[GroupState, ...]:
        """Each group with each topic that it takes, if the topic is there; in the order of the pipeline."""
        return self._administration.ask(_groups)

    def totals(self) -> dict[str, int]:
        """Messages that wait for each group, over its topics."""
        totals: dict[str, int] = {}
        for state in self.groups():
            totals[state.group] = totals.get(state.group, 0) + state.lag
        return totals

    def topics(self) -> tuple[TopicState, ...]:
        """The lake's topics that are there; compaction may have taken some of what their offsets span."""
        return self._administration.ask(_topics)

    def noted(self) -> Callable[[], bool]:
        """Takes the ends of what the ledger reads now; the answer says whether it has read up to them."""
        wanted = topics.taken_by(Role.LEDGER, Line.LIVE)
        ends = self._administration.ask(lambda client: _offsets(client, partitions(client, wanted))[1])
        group = topics.group_of(Role.LEDGER, Line.LIVE)
        return lambda: self._administration.ask(lambda client: _read_up_to(client, group, ends))

    def close(self) -> None:
        self._administration.close()


def _groups(client: Any) -> tuple[GroupState, ...]:
    here = partitions(client)
    begins, ends = _offsets(client, here)
    names = list(dict.fromkeys(group for group, _ in _takers()))
    committed = client.list_group_offsets(names) if here else {}
    return tuple(
        GroupState(group=group, topic=topic, lag=_lag(here[topic], begins, ends, committed.get(group, {})))
        for group, topic in _takers()
        if topic in here
    )


def _topics(client: Any) -> tuple[TopicState, ...]:
    here = partitions(client)
    begins, ends = _offsets(client, here)
    return tuple(
        TopicState(
            topic=topic,
            partitions=len(of_topic),
            begin=sum(begins[one] for one in of_topic),
            end=sum(ends[one] for one in of_topic),
        )
        for topic, of_topic in here.items()
    )


def _takers() -> Iterator[tuple[str, str]]:
    """Each group with each topic that it takes."""
    for role in Role:
        for line in topics.lines_of(role):
            for topic in topics.taken_by(role, line):
                yield topics.group_of(role, line), topic


def _offsets(client: Any, here: Mapping[str, Iterable[TopicPartition]]) -> tuple[Offsets, Offsets]:
    all_of_them = [one for of_topic in here.values() for one in of_topic]
    if not all_of_them:
        return {}, {}
    begins, ends = (
        client.list_partition_offsets(dict.fromkeys(all_of_them, spec))
        for spec in (OffsetSpec.EARLIEST, OffsetSpec.LATEST)
    )
    return (
        {one: found.offset for one, found in begins.items()},
        {one: found.offset for one, found in ends.items()},
    )


def _read_up_to(client: Any, group: str, ends: Offsets) -> bool:
    committed = client.list_group_offsets([group]).get(group, {})
    return all(one in committed and committed[one].offset >= end for one, end in ends.items() if end)


def _lag(of_topic: Iterable[TopicPartition], begins: Offsets, ends: Offsets, committed: Mapping[Any, Any]) -> int:
    """Without a commit a group begins at the beginning; what retention has taken waits for nobody."""
    return sum(
        max(0, ends[one] - max(begins[one], committed[one].offset if one in committed else begins[one]))
        for one in of_topic
    )
