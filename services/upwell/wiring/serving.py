"""The read side put together: who is let in by the settings, over whichever lake answers."""

from collections.abc import Callable
from typing import TYPE_CHECKING

from upwell.clock import now_us
from upwell.config import Settings
from upwell.metrics import Metrics
from upwell.ports import Audit
from upwell.reading import ReadApi

if TYPE_CHECKING:
    from upwell.runtime.serve.desk import Desk


def desk(settings: Settings, *, lake: Callable[[], ReadApi], audit: Audit, metrics: Callable[[], Metrics]) -> "Desk":
    """What answers readers from the network. Raises Misconfigured for issuers or a key that cannot be."""
    from upwell.identity.own_key import LakeKey, signing_key_of
    from upwell.identity.rates import RateLimits
    from upwell.identity.tokens import Verifier
    from upwell.runtime.serve.desk import Desk
    from upwell.runtime.serve.guests import Guests

    # Of a distributed lake each process would make a key of its own, which proves nothing to the others; that is of use
    # only where nobody else's tokens are taken, and one process serves.
    elsewhere = settings.brokers is not None and settings.signing_key is None and settings.issuers
    own = None if elsewhere else LakeKey.at(signing_key_of(settings))
    tokens = Verifier(settings.issuers, own, settings.audience, now_us)
    guests = Guests(tokens, RateLimits(settings.rate_per_minute), audit, now_us)
    return Desk(lake, guests, metrics)
