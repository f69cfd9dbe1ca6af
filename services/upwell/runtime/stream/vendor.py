"""What kafka-python raises, as Upwell's errors."""

from kafka import errors

from upwell.errors import Misconfigured, Retryable, UpwellError

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


def servers(brokers: str | None) -> list[str]:
    """`host:port,host:port` as a list. Raises Misconfigured when unset or not of that form."""
    if not brokers:
        raise Misconfigured("setting brokers: not set (UPWELL_BROKERS=host:port,host:port); the lake here is embedded")
    found = [server.strip() for server in brokers.split(",") if server.strip()]
    for server in found:
        host, _, port = server.rpartition(":")
        if not host or not port.isdigit() or not 0 < int(port) < 65536:
            raise Misconfigured("setting brokers: not of the form host:port,host:port")
    if not found:
        raise Misconfigured("setting brokers: names no broker")
    return found
