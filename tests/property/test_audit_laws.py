"""However events race, repeat and crash: each end of each event is in the audit exactly once, erased ones too."""

import random
from contextlib import closing

import pytest
import sqlalchemy as sa
from hypothesis import given
from hypothesis import strategies as st
from strategies import ACLS, DOCS, Content, histories
from world import World, run_history

from audits import bad
from upwell.audit.drain import Drain
from upwell.audit.log import SqlAudit
from upwell.database import open_database
from upwell.errors import Retryable
from upwell.ports import Outbox
from upwell.records import ChangeEvent, Inline, Op, ParseStatus, stable_hash


class Forgetful:
    """An outbox whose process ends, every other time, after the audit has written and before it is told so."""

    def __init__(self, outbox: Outbox):
        self._outbox = outbox
        self._times = 0

    def owed(self, most):
        return self._outbox.owed(most)

    def paid(self, ids):
        self._times += 1
        if self._times % 2:
            raise Retryable("killed here")
        self._outbox.paid(ids)


def origins(where):
    """How often each act is in the audit."""
    with closing(open_database(where).connect()) as connection:
        rows = connection.execute(
            sa.text("SELECT origin, count(*) FROM audit WHERE origin IS NOT NULL GROUP BY origin")
        )
        return dict(rows.all())


def test_each_end_of_an_event_is_audited_once(registry, memory_store, tenants, tmp_path):
    where = tmp_path / "audit.sqlite"
    audit = SqlAudit.at(where)
    outbox = Forgetful(registry.outbox)
    drain = Drain(lambda: outbox, lambda: audit)

    @given(histories(), st.integers(0, 2**32))
    def law(events, seed):
        world = World(registry, memory_store, next(tenants))
        run_history(world, events, random.Random(seed), DOCS)
        with pytest.raises(Retryable):
            drain.once()
        drain.once()
        assert not registry.outbox.owed(1)
        known = origins(where)
        for event in map(world.ours, events):
            outcome = world.outcomes[event.event_id].outcome
            origin = stable_hash(event.key.canonical, event.event_id, event.op, outcome)
            assert known.get(origin) == 1, (event.op, outcome)

    law()
    audit.close()
    assert set(origins(where).values()) == {1}
    assert bad(where) == []


def change(op, version, **more):
    """One event of document `a`; the world gives it its tenant."""
    return ChangeEvent(
        event_id=f"{op}-{version}", tenant="", source="s", doc_id="a", op=op, version=version, received_at=1, **more
    )


def acts(registry, world):
    """What this world owes the audit, in short."""
    owed = [owed.entry for owed in registry.outbox.owed(10_000) if owed.entry.tenant == world.tenant]
    return [(str(entry.act), entry.version, entry.outcome) for entry in owed]


def test_a_permission_that_comes_with_content_is_audited_when_it_takes_effect(registry, memory_store, tenants):
    """A narrowing binds before the content has ended, and whether or not it ever is published."""
    world = World(registry, memory_store, next(tenants))
    first, second = (Inline(data=Content(ParseStatus.OK, (word,)).data) for word in "pq")
    world.deliver(change(Op.UPSERT, 1, content=first, acl=ACLS[0], acl_version=1))
    assert world.control(change(Op.UPSERT, 2, content=second, acl=ACLS[1], acl_version=7))
    assert acts(registry, world) == [("publish", 1, "applied"), ("permission", 7, "applied")]
    world.process(change(Op.UPSERT, 2, content=second, acl=ACLS[1], acl_version=7))
    world.deliver(change(Op.UPSERT, 3, content=first, acl=ACLS[1], acl_version=8))
    world.deliver(change(Op.ACL, 3, acl=ACLS[0], acl_version=9))
    world.deliver(change(Op.DELETE, 4))
    assert acts(registry, world)[2:] == [
        ("publish", 2, "applied"),
        ("publish", 3, "applied"),
        ("permission", 9, "applied"),
        ("delete", 4, "applied"),
    ]


def test_an_erasure_takes_no_record_away_that_is_still_owed(registry, memory_store, tenants):
    world = World(registry, memory_store, next(tenants))
    content = Content(ParseStatus.OK, ("p", "q"))
    world.deliver(change(Op.UPSERT, 1, content=Inline(data=content.data), acl=ACLS[0], acl_version=1))
    world.deliver(change(Op.ERASE, 2))
    assert [line.op for line in registry.history(world.key("a"))] == [str(Op.ERASE)]
    assert acts(registry, world) == [("publish", 1, "applied"), ("erase", 2, "applied")]
