"""What kafka-python raises, as Upwell's errors."""

from collections.abc import Callable
from typing import Any, TypeVar

from kafka import errors
from kafka.net.compat import KafkaNetClient

from upwell.errors import Misconfigured, Retryable, UpwellError

T = TypeVar("T")

TOO_LARGE = (errors.MessageSizeTooLargeError, errors.RecordListTooLargeError)
REFUSED = (errors.AuthorizationError, errors.SaslAuthenticationFailedError)
NO_TOPIC = (errors.UnknownTopicOrPartitionError, errors.UnknownTopicIdError)


def mapped(error: Exception, topic: str | None = None) -> UpwellError:
    """Misconfigured where only a person can help, Retryable for everything else; never quotes a message."""
    where = f" ({topic})" if topic else ""
    if isinstance(error, TOO_LARGE):
        return Misconfigured(f"the topic{where} takes less than setting message_bytes says; see upwell topics check")
    if isinstance(error, REFUSED):
        return Misconfigured(f"the brokers refuse this client{where}: {type(error).__name__}")
    if isinstance(error, NO_TOPIC):
        return Retryable(f"there is no such topic{where}; upwell topics create makes it")
    return Retryable(f"the brokers do not answer{where}: {type(error).__name__}")


def connected(kind: Callable[..., T], brokers: list[str], **configs: Any) -> T:
    """A producer, a consumer or an admin that has reached a broker. Raises Retryable when none answers.

    kafka-python leaves threads and sockets behind when a constructor fails; they are closed here.
    """
    begun: list[Any] = []

    def network(**config: Any) -> Any:
        begun.append(KafkaNetClient(**config))
        return begun[-1]

    try:
        return kind(bootstrap_servers=brokers, kafka_client=network, **configs)
    except (errors.KafkaError, OSError) as e:
        for client in begun:
            client.close()
        raise Retryable(f"no broker answers at {','.join(brokers)} (setting brokers): {type(e).__name__}") from e


def servers(brokers: str | None) -> list[str]:
    """`host:port,host:port` as a list. Raises Misconfigured when unset or not of that form."""
    if not brokers:
        raise Misconfigured("setting brokers: not set (UPWELL_BROKERS=host:port,host:port); the lake here is embedded")
    found = [server.strip() for server in brokers.split(",") if server.strip()]
    for server in found:
        host, _, port = server.rpartition(":")
        if not host or "/" in host or not port.isdigit() or not 0 < int(port) < 65536:
            raise Misconfigured("setting brokers: not of the form host:port,host:port")
    if not found:
        raise Misconfigured("setting brokers: names no broker")
    return found
