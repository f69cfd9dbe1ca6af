"""Edge's one indexed list: the filter that asks it equals the permission algebra."""

import random

import pytest

from lake_samples import key, query, random_acl, random_reader
from upwell.access import admits, payload_of
from upwell.lake.store import filters
from upwell.lake.store.edge_gate import gate_of, gated
from upwell.lake.store.filters import Either, Match, PointFilter


def holds(condition, gate):
    assert condition.field == "gate"
    return bool(set(condition.values) & set(gate))


def passes(asked, gate):
    return all(holds(c, gate) for c in asked.must) and not any(holds(c, gate) for c in asked.must_not)


def test_the_gate_admits_whom_the_permission_admits():
    """2,000 random pairs of ACL (0-3 levels) and reader."""
    rng = random.Random(3)
    for _ in range(2000):
        acl, who = random_acl(rng), random_reader(rng)
        asked = gated(filters.governed(query(who)))
        assert passes(asked, gate_of(key("a"), payload_of(acl))) == admits(acl, who)


def test_the_gate_holds_tenant_and_source():
    """Another tenant's or source's list does not pass."""
    gate = gate_of(key("a", tenant="one", source="wiki"), {"acl_n": 1, "allow_0": ["everyone"]})
    assert passes(gated(filters.governed(query(tenant="one"))), gate)
    assert not passes(gated(filters.governed(query(tenant="two"))), gate)
    assert passes(gated(filters.governed(query(tenant="one", sources=frozenset({"wiki", "x"})))), gate)
    assert not passes(gated(filters.governed(query(tenant="one", sources=frozenset({"x"})))), gate)


def test_a_principal_cannot_pass_for_another_field_s_value():
    """Names are data: one that looks like a mark is still a name of its own field."""
    gate = gate_of(key("a"), {"acl_n": 2, "allow_0": ["everyone"], "allow_1": ["user:ana"]})
    assert not passes(gated(filters.governed(query(["n|1", "1|user:ana", "everyone|", "|"]))), gate)


def test_missing_permissions_admit_nobody():
    """No fields, no marks."""
    assert not passes(gated(filters.governed(query(["user:ana"]))), gate_of(key("a"), {}))


def test_alternatives_that_the_gate_does_not_hold_are_refused():
    """Better an error than a filter that asks something else."""
    with pytest.raises(ValueError, match="born"):
        gated(PointFilter(must=(Either(matches=(Match(field="born", values=(1,)),)),)))
