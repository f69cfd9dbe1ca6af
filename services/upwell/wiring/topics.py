"""The log of a distributed lake, for who looks after it: topics, and how far the workers are behind."""

from upwell.config import Settings
from upwell.runtime.stream.admin import TopicAdmin
from upwell.runtime.stream.lag import LagReader


def topic_admin(settings: Settings) -> TopicAdmin:
    """Raises Misconfigured when `brokers` is not set or not of its form; connects when it is first asked."""
    return TopicAdmin(settings)


def lag_reader(settings: Settings) -> LagReader:
    """Raises Misconfigured when `brokers` is not set or not of its form; connects when it is first asked."""
    return LagReader(settings.brokers)
