"""Hearing how events end: the topic `applied`, read from its end on by whoever waits for something."""

from contextlib import suppress

from kafka import KafkaConsumer, TopicPartition
from kafka.errors import KafkaError

from upwell.errors import Rejected, Retryable
from upwell.messages import Ended
from upwell.ports import Blobs
from upwell.runtime.stream import topics
from upwell.runtime.stream.codec import decode
from upwell.runtime.stream.envelope import headers_of
from upwell.runtime.stream.vendor import mapped, servers

REQUEST_S = 10.0


class AppliedEnds:
    """Implements `waiting.Ends`. Whatever is produced after its making is heard; it belongs to no group.

    Raises Misconfigured for a setting `brokers` of the wrong form, Retryable when no broker answers.
    """

    def __init__(self, brokers: str | None, blobs: Blobs) -> None:
        found = servers(brokers)
        self._blobs = blobs
        try:
            self._consumer = KafkaConsumer(
                bootstrap_servers=found,
                client_id="upwell-commands",
                group_id=None,
                enable_auto_commit=False,
                auto_offset_reset="latest",
                bootstrap_timeout_ms=int(REQUEST_S * 1000),
                metrics_enabled=False,
            )
        except (KafkaError, OSError) as e:
            raise Retryable(f"no broker answers at {','.join(found)}: {type(e).__name__}") from e
        try:
            self._to_the_end()
        except BaseException:
            self.close()
            raise

    def poll(self, timeout_s: float) -> list[Ended]:
        try:
            batches = self._consumer.poll(timeout_ms=int(timeout_s * 1000))
        except KafkaError as e:
            raise mapped(e, topics.APPLIED) from e
        found = []
        for record in (record for batch in batches.values() for record in batch):
            if record.value is None:
                continue
            with suppress(Rejected):  # another version's: the ledger says how that one ended
                headers = headers_of(record.headers)
                message = decode(record.value, headers, record.topic, key=record.key, blobs=self._blobs)
                if isinstance(message, Ended):
                    found.append(message)
        return found

    def close(self) -> None:
        with suppress(KafkaError):
            self._consumer.close()

    def _to_the_end(self) -> None:
        """Asks for each position now: a seek alone would happen at the first poll, after what is waited for."""
        try:
            partitions = self._consumer.partitions_for_topic(topics.APPLIED)
            if not partitions:
                raise Retryable(f"there is no topic {topics.APPLIED}; upwell topics create makes it")
            assigned = [TopicPartition(topics.APPLIED, number) for number in sorted(partitions)]
            self._consumer.assign(assigned)
            for partition, offset in self._consumer.end_offsets(assigned).items():
                self._consumer.seek(partition, offset)
        except KafkaError as e:
            raise mapped(e, topics.APPLIED) from e
