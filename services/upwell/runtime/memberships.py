"""Memberships told by an operator, and those that are in force as soon as they are told: the embedded lake's, straight
to the registry's directory.
"""

from upwell.access import KINDS
from upwell.clock import Clock
from upwell.errors import Retryable
from upwell.ports import Directory, MembershipSink
from upwell.records import Membership
from upwell.sources.memberships import Told, check_principal, membership_of

IN_FORCE_S = 30.0
"""How long an operator waits for what was told to be in force."""


class DirectMemberships:
    """Implements `ports.MembershipSink`."""

    def __init__(self, directory: Directory) -> None:
        self._directory = directory

    def put(self, member: Membership) -> None:
        self._directory.put(member)

    def version(self, tenant: str, principal: str) -> int:
        return self._directory.version(tenant, principal)

    def effective(self, member: Membership, timeout_s: float) -> bool:  # noqa: ARG002 nothing to wait for
        return self.version(member.tenant, member.principal) >= member.version


def tell(
    sink: MembershipSink, clock: Clock, *, tenant: str, principal: str, member_of: frozenset[str], gone: bool
) -> Membership:
    """Tell of a principal, above all that is known of it; in force when it returns.

    Raises Rejected `invalid_event` for what is no principal, Retryable when it is durable and not in force in time.
    """
    check_principal(principal, "the principal", KINDS)
    now = clock()
    member = membership_of(
        Told(member_of=tuple(sorted(member_of)), gone=gone),
        tenant=tenant,
        principal=principal,
        version=max(now, sink.version(tenant, principal) + 1),
        now=now,
    )
    sink.put(member)
    if not sink.effective(member, IN_FORCE_S):
        raise Retryable("it is in the log and not yet in force: does the control worker run? Nothing is lost")
    return member
