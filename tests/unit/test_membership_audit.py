"""What is told of a principal is owed to the audit from the moment that it is in force, and once."""

from contextlib import closing

from msgspec.structs import replace

from upwell.lake.registry import SqlRegistry
from upwell.ports import Act
from upwell.records import Membership

ANA = Membership(tenant="acme", principal="user:ana", version=5, member_of=frozenset({"group:eng"}), received_at=7)


def test_each_change_of_a_membership_is_audited_and_nothing_that_came_too_late(tmp_path):
    with closing(SqlRegistry.at(tmp_path / "registry.sqlite")) as registry:
        registry.directory.put(ANA)
        registry.directory.put(ANA)
        registry.directory.put(replace(ANA, version=4))
        registry.directory.put(replace(ANA, version=6, gone=True, member_of=frozenset()))
        owed = registry.outbox.owed(10)
        assert len({one.origin for one in owed}) == 2
        assert [
            (one.entry.act, one.entry.tenant, one.entry.principals, one.entry.version, one.entry.reason) for one in owed
        ] == [
            (Act.MEMBERSHIP, "acme", ("user:ana",), 5, ""),
            (Act.MEMBERSHIP, "acme", ("user:ana",), 6, "gone"),
        ]
        assert {(one.entry.at, one.entry.document) for one in owed} == {(7, None)}
        registry.outbox.paid([one.id for one in owed])
        assert registry.outbox.owed(10) == []
