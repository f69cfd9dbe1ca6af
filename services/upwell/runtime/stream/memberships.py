"""Memberships into the log: acknowledged by the brokers when they are taken, in force when control has read them."""

import time
from collections.abc import Sequence
from typing import Protocol

from upwell.errors import Reason, Rejected
from upwell.messages import Member
from upwell.ports import Directory
from upwell.records import Membership
from upwell.runtime.stream import topics
from upwell.runtime.stream.bounds import membership_flaw
from upwell.runtime.stream.contract import Outgoing

FIRST_LOOK_S, LAST_LOOK_S = 0.01, 0.25


class Sends(Protocol):
    """The log's producer."""

    def send(self, outgoings: Sequence[Outgoing]) -> None: ...


class StreamMemberships:
    """Implements `ports.MembershipSink`: told through `producer`, and in force when `directory` has it."""

    def __init__(self, producer: Sends, directory: Directory) -> None:
        self._producer = producer
        self._directory = directory

    def put(self, member: Membership) -> None:
        """Raises Rejected `invalid_event` for an unsound one."""
        wrong = membership_flaw(member)
        if wrong is not None:
            raise Rejected(Reason.INVALID_EVENT, f"an unsound membership: {wrong}")
        self._producer.send([Outgoing(topic=topics.PRINCIPALS, key=member.key, message=Member(membership=member))])

    def version(self, tenant: str, principal: str) -> int:
        return self._directory.version(tenant, principal)

    def effective(self, member: Membership, timeout_s: float) -> bool:
        deadline, pause_s = time.monotonic() + timeout_s, FIRST_LOOK_S
        while self.version(member.tenant, member.principal) < member.version:
            left = deadline - time.monotonic()
            if left <= 0:
                return False
            time.sleep(min(pause_s, left))
            pause_s = min(pause_s * 1.5, LAST_LOOK_S)
        return True
