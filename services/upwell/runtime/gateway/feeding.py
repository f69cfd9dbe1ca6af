"""Who may say who is in which group: from a request's headers and body to a membership that the sink has taken.

Knows no web framework.
"""

import threading
import time
from collections.abc import Sequence

from upwell.access import KINDS
from upwell.clock import Clock
from upwell.config import KeySettings
from upwell.errors import Reason
from upwell.ports import MembershipSink
from upwell.records import Membership, Record
from upwell.runtime.gateway.keys import key_of
from upwell.sources.memberships import Numbering, Told, check_principal, membership_of
from upwell.sources.offers import NotYours

SLICE_S = 0.5
"""How long a closing gateway may have to wait for those who wait."""


class TakenMember(Record, frozen=True, kw_only=True, omit_defaults=False):
    """What was taken: durable. `effective`: this, or something newer of the principal, is in force; None where nobody
    waited for it."""

    principal: str
    version: int
    effective: bool | None = None


class Feeding:
    """Thread-safe. Raises Stranger, Rejected, NotYours, Overloaded and Retryable."""

    def __init__(self, sink: MembershipSink, *, keys: Sequence[KeySettings], clock: Clock) -> None:
        self._sink = sink
        self._keys = keys
        self._clock = clock
        self._numbering = Numbering()
        self._closing = threading.Event()

    def admit(self, authorization: str) -> str:
        """The tenant whose directory this Authorization header may feed. Raises Stranger, NotYours."""
        key = key_of(authorization, self._keys)
        if not key.directory:
            raise NotYours(Reason.INVALID_EVENT, "the key may feed no directory")
        return key.tenant

    def tell(self, tenant: str, principal: str, said: Told) -> Membership:
        """Take what is said of a principal; durable when it returns."""
        now, version = self._clock(), said.version
        if version is None:
            check_principal(principal, "the principal", KINDS)  # before anybody is asked for it
            version = self._numbering.next(self._sink.version(tenant, principal), now)
        member = membership_of(said, tenant=tenant, principal=principal, version=version, now=now)
        self._sink.put(member)
        return member

    def waited(self, member: Membership, timeout_s: float) -> TakenMember:
        """Whether it is in force within `timeout_s`, or by the time that the gateway closes."""
        deadline = time.monotonic() + timeout_s
        while True:
            left = deadline - time.monotonic()
            effective = self._sink.effective(member, max(0.0, min(left, SLICE_S)))
            if effective or left <= SLICE_S or self._closing.is_set():
                return TakenMember(principal=member.principal, version=member.version, effective=effective)

    def close(self) -> None:
        """Whoever waits is answered with what is known."""
        self._closing.set()


def taken(member: Membership) -> TakenMember:
    """The answer for a membership that was taken."""
    return TakenMember(principal=member.principal, version=member.version)
