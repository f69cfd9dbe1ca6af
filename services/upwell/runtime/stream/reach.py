"""Whether Kafka answers, asked on a connection of its own: Faust does not say when it has lost it."""

import asyncio
import time
from collections.abc import Awaitable, Callable, Collection
from typing import TypeVar

from aiokafka.client import AIOKafkaClient
from aiokafka.errors import KafkaError

from upwell import logs
from upwell.errors import Misconfigured, Retryable
from upwell.runtime.stream.vendor import servers

T = TypeVar("T")

ANSWER_S = 4.0
PAUSE_LIMIT_S = 5.0


class Reach:
    """Asks the brokers for their topics. `answered` is when they last did (seconds, monotonic), None for never."""

    def __init__(self, brokers: str | None) -> None:
        self._brokers = servers(brokers)
        self._client: AIOKafkaClient | None = None
        self.answered: float | None = None

    async def topics(self) -> frozenset[str]:
        """The topics there are. Raises Retryable when no broker answers in time."""
        try:
            async with asyncio.timeout(ANSWER_S):
                if self._client is None:
                    client = AIOKafkaClient(bootstrap_servers=self._brokers, request_timeout_ms=int(ANSWER_S * 1000))
                    await _bootstrap(client)
                    self._client = client
                metadata = await self._client.fetch_all_metadata()
        except (KafkaError, OSError, TimeoutError) as e:
            await self.close()
            raise Retryable(f"Kafka does not answer at {','.join(self._brokers)} ({type(e).__name__})") from e
        self.answered = time.monotonic()
        return frozenset(metadata.topics())

    async def close(self) -> None:
        client, self._client = self._client, None
        if client is not None:
            await client.close()


async def _bootstrap(client: AIOKafkaClient) -> None:
    try:
        await client.bootstrap()
    except BaseException:
        await client.close()
        raise


async def until_ready(reach: Reach, needed: Collection[str]) -> None:
    """Wait until the brokers answer, one line a try.

    Raises Misconfigured when they do and lack one of the topics that are `needed`.
    """
    found = await patiently(reach.topics)
    missing = sorted(set(needed) - found)
    if missing:
        raise Misconfigured(f"Kafka has no topic {missing[0]}: `upwell topics create` makes what is missing")


async def patiently(attempt: Callable[[], Awaitable[T]]) -> T:
    """Try until it is not Retryable any more, with growing pauses, one line each."""
    pause_s = 0.5
    while True:
        try:
            return await attempt()
        except Retryable as e:
            logs.warn("try_again", pause_s=pause_s, why=str(e))
        await asyncio.sleep(pause_s)
        pause_s = min(PAUSE_LIMIT_S, pause_s * 2)
