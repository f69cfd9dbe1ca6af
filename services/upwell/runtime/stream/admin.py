"""The topics on the brokers: what is there, and making what is missing. Nothing that is there is ever changed."""

import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, TypeVar

from kafka import KafkaAdminClient, TopicPartition
from kafka.admin import ConfigResource
from kafka.errors import KafkaError, TopicAlreadyExistsError

from upwell.answers import TopicMismatch
from upwell.config import Settings
from upwell.errors import Misconfigured, Retryable
from upwell.runtime.stream import topics
from upwell.runtime.stream.specs import TopicSpec, mismatches, wanted
from upwell.runtime.stream.vendor import connected, mapped, servers

T = TypeVar("T")

ANSWER_S = 10.0
PAUSE_S = 0.1


class Administration:
    """A connection to the brokers for everything but messages; made when it is first needed, safe for threads."""

    def __init__(self, brokers: str | None, *, answer_s: float = ANSWER_S) -> None:
        self._servers = servers(brokers)
        self._answer_s = answer_s
        self._lock = threading.Lock()
        self._client: Any = None

    @contextmanager
    def client(self) -> Iterator[Any]:
        """kafka-python's client. Inside, its errors become Retryable and Misconfigured; after one it is made anew."""
        with self._lock:
            if self._client is None:
                self._client = self._connect()
            client = self._client
        try:
            yield client
        except (KafkaError, OSError) as e:
            with self._lock:
                if self._client is client:
                    self._client = None
                    client.close()
            raise mapped(e) from e

    def ask(self, question: Callable[[Any], T]) -> T:
        """The answer to a question that changes nothing; asked again for a while when the brokers say "not yet" (a
        leader is being elected, a new broker makes its own topic of offsets)."""
        deadline = time.monotonic() + self._answer_s
        while True:
            with self.client() as client:
                try:
                    return question(client)
                except KafkaError as e:
                    if not e.retriable or time.monotonic() > deadline:
                        raise
            time.sleep(PAUSE_S)

    def close(self) -> None:
        with self._lock:
            client, self._client = self._client, None
        if client is not None:
            client.close()

    def _connect(self) -> Any:
        return connected(
            KafkaAdminClient,
            self._servers,
            client_id="upwell",
            bootstrap_timeout_ms=int(self._answer_s * 1000),
            request_timeout_ms=int(self._answer_s * 1000),
            reconnect_backoff_max_ms=1000,
        )


class TopicAdmin:
    """The lake's topics, by the settings. Raises Retryable while no broker answers, Misconfigured when they refuse."""

    def __init__(self, settings: Settings) -> None:
        self._administration = Administration(settings.brokers)
        self._wanted = wanted(settings)

    def found(self) -> dict[str, TopicSpec]:
        """Those of the lake's topics that are there, as they are."""
        return self._administration.ask(lambda client: found(client, self._wanted))

    def create(self) -> tuple[str, ...]:
        """Make what is missing, and wait until it can be used; returns the names."""
        with self._administration.client() as client:
            there = client.list_topics()
            missing = {name: spec for name, spec in self._wanted.items() if name not in there}
            if missing:
                try:
                    client.create_topics({name: _new(spec) for name, spec in missing.items()})
                except TopicAlreadyExistsError:  # another `create` at the same time
                    pass
                except KafkaError as e:
                    raise _refused(e) from e
                client.wait_for_topics(list(missing))
        return tuple(missing)

    def check(self) -> tuple[TopicMismatch, ...]:
        """Everything that is not as the settings have it."""
        return mismatches(self._wanted, self.found())

    def close(self) -> None:
        self._administration.close()


def found(client: Any, names: Iterable[str]) -> dict[str, TopicSpec]:
    """Those of `names` that are there."""
    there = set(client.list_topics())
    present = [name for name in names if name in there]
    if not present:
        return {}
    configs = client.describe_configs([ConfigResource("TOPIC", name) for name in present], config_filter="all")
    shapes = {topic["name"]: topic["partitions"] for topic in client.describe_topics(present)}
    return {
        name: TopicSpec(
            partitions=len(shapes[name]),
            replication=min((len(partition["replica_nodes"]) for partition in shapes[name]), default=0),
            configs={key: config["value"] or "" for key, config in configs["topic"].get(name, {}).items()},
        )
        for name in present
    }


def partitions(client: Any, names: Iterable[str] = topics.ALL) -> dict[str, list[TopicPartition]]:
    """The partitions of those of `names` that are there."""
    there = set(client.list_topics())
    present = [name for name in names if name in there]
    if not present:
        return {}
    return {
        topic["name"]: [TopicPartition(topic["name"], one["partition_index"]) for one in topic["partitions"]]
        for topic in client.describe_topics(present)
    }


def _new(spec: TopicSpec) -> Mapping[str, Any]:
    return {"num_partitions": spec.partitions, "replication_factor": spec.replication, "configs": spec.configs}


def _refused(error: KafkaError) -> Retryable | Misconfigured:
    """A person must change a setting where the brokers say that they never will."""
    if error.retriable:
        return Retryable(f"the brokers cannot make topics now: {type(error).__name__}")
    return Misconfigured(
        f"the brokers refuse to make the topics ({type(error).__name__}): see the settings replication, partitions "
        "and message_bytes, and what this client may do there"
    )
