"""What a hook delivers, and what it comes to."""

from datetime import UTC, datetime, timedelta

import msgspec

from upwell.errors import Reason, Rejected
from upwell.records import MAX_VERSION, ChangeEvent, Record

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


class Delivery(Record, frozen=True, kw_only=True):
    """A request as it came. Names of headers are in lower case."""

    headers: dict[str, str]
    body: bytes


class Taken(Record, frozen=True, kw_only=True):
    """The events that a delivery means, and how many of its records mean nothing here."""

    events: tuple[ChangeEvent, ...] = ()
    ignored: int = 0


def micros(text: str) -> int:
    """An RFC 3339 time in microseconds since the epoch. Raises Rejected for one that is none, or has no zone."""
    try:
        at = msgspec.convert(text, datetime)
        us = (at - EPOCH) // timedelta(microseconds=1)
    except (msgspec.ValidationError, TypeError, OverflowError) as e:
        raise Rejected(Reason.INVALID_EVENT, "an event's time is not RFC 3339 with a zone") from e
    if not 0 <= us <= MAX_VERSION:
        raise Rejected(Reason.INVALID_EVENT, "an event's time lies outside what a version can hold")
    return us
