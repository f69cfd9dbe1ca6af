"""A topic read from its end on, by whoever waits for something: it belongs to no group and acknowledges nothing."""

from contextlib import suppress

from kafka import KafkaConsumer, TopicPartition
from kafka.consumer.fetcher import ConsumerRecord
from kafka.errors import KafkaError

from upwell.errors import Retryable
from upwell.runtime.stream.vendor import connected, mapped, servers

REQUEST_S = 10.0


class Tail:
    """Whatever is produced to `topic` after its making is heard.

    Raises Misconfigured for a setting `brokers` of the wrong form, Retryable when no broker answers.
    """

    def __init__(self, brokers: str | None, topic: str, client_id: str) -> None:
        self._topic = topic
        self._consumer = connected(
            KafkaConsumer,
            servers(brokers),
            client_id=client_id,
            group_id=None,
            enable_auto_commit=False,
            auto_offset_reset="latest",
            bootstrap_timeout_ms=int(REQUEST_S * 1000),
            metrics_enabled=False,
        )
        try:
            self._to_the_end()
        except BaseException:
            self.close()
            raise

    def poll(self, timeout_s: float) -> list[ConsumerRecord]:
        """The records that came, as soon as there are any. Raises Retryable while the brokers are away."""
        try:
            batches = self._consumer.poll(timeout_ms=int(timeout_s * 1000))
        except KafkaError as e:
            raise mapped(e, self._topic) from e
        return [record for batch in batches.values() for record in batch]

    def close(self) -> None:
        with suppress(KafkaError):
            self._consumer.close()

    def _to_the_end(self) -> None:
        """Asks for each position now: a seek alone would happen at the first poll, after what is waited for."""
        try:
            partitions = self._consumer.partitions_for_topic(self._topic)
            if not partitions:
                raise Retryable(f"there is no topic {self._topic}; upwell topics create makes it")
            assigned = [TopicPartition(self._topic, number) for number in sorted(partitions)]
            self._consumer.assign(assigned)
            for partition, offset in self._consumer.end_offsets(assigned).items():
                self._consumer.seek(partition, offset)
        except KafkaError as e:
            raise mapped(e, self._topic) from e
