"""Hooks: what other systems send when something has changed. Pure: from a delivery to the events that it means.

if genuine(delivery, "s3", secret, header):
    taken = read(delivery, "s3", terms, now)
"""

from upwell.sources.hooks import cloudevents, s3
from upwell.sources.hooks.delivery import Delivery, Taken
from upwell.sources.hooks.signature import genuine
from upwell.sources.offers import events_of
from upwell.sources.terms import Terms

__all__ = ["Delivery", "Taken", "genuine", "read"]


def read(delivery: Delivery, hook: str, terms: Terms, now: int) -> Taken:
    """What a genuine delivery means: every event of it, or an error.

    Raises Rejected `invalid_event` for what is not understood, `too_large` for too much of it, and NotYours.
    """
    match hook:
        case "s3":
            return s3.read(delivery, terms, now)
        case "cloudevents":
            return cloudevents.read(delivery, terms, now)
        case _:
            return Taken(events=tuple(events_of(delivery.body, terms, now, numbered=True)))
