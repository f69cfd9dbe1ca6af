"""Memberships that are in force as soon as they are told: the embedded lake's, straight to the registry's directory."""

from upwell.ports import Directory
from upwell.records import Membership


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
