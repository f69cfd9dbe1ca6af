"""No tenant asks more than its share, and none takes another's."""

import threading
import time

import pytest

from upwell.errors import Overloaded
from upwell.identity.rates import MAX_COUNTERS, RateLimits

LONG_S = 100_000_000  # no test meets the end of such a window


def taken(limits: RateLimits, tenant: str, tries: int) -> int:
    """How many of so many tries were let through."""
    return sum(passes(limits, tenant) for _ in range(tries))


def passes(limits: RateLimits, tenant: str) -> bool:
    try:
        limits.take(tenant)
    except Overloaded:
        return False
    return True


def test_a_tenant_has_its_share_and_no_more_and_others_have_theirs():
    limits = RateLimits(5, window_s=LONG_S)
    assert taken(limits, "acme", 20) == 5
    assert taken(limits, "other", 20) == 5


@pytest.mark.parametrize("name", ["", "acme/2/100000000/second", "others", "LIMITER", "a" * 256, "/", "tenant"])
def test_no_name_makes_one_tenant_of_two(name):
    limits = RateLimits(2, window_s=LONG_S)
    assert taken(limits, "acme", 3) == 2
    assert taken(limits, name, 3) == 2


def test_who_waits_as_long_as_was_said_is_let_through():
    limits = RateLimits(3, window_s=1)
    for _ in range(3):
        while passes(limits, "acme"):
            pass
        with pytest.raises(Overloaded) as raised:
            limits.take("acme")
        assert 0 < raised.value.retry_after_s <= 1.1
        time.sleep(raised.value.retry_after_s)  # the promise under test
        limits.take("acme")


def test_the_line_for_the_client_names_no_tenant():
    limits = RateLimits(1, window_s=LONG_S)
    limits.take("acme")
    with pytest.raises(Overloaded) as raised:
        limits.take("acme")
    assert "acme" not in str(raised.value)


def test_memory_is_bounded_and_those_who_came_first_keep_their_share():
    limits = RateLimits(3, window_s=LONG_S)
    limits.take("acme")
    flood = sum(passes(limits, f"t{n}") for n in range(MAX_COUNTERS * 3))
    assert limits.counters() <= MAX_COUNTERS + 1
    assert flood == MAX_COUNTERS - 1 + 3  # the rest shares three
    assert taken(limits, "acme", 5) == 2


def test_counters_of_tenants_that_are_silent_are_given_back():
    limits = RateLimits(1, window_s=1)
    for n in range(100):
        limits.take(f"t{n}")
    deadline = time.monotonic() + 20
    while limits.counters() > 3 and time.monotonic() < deadline:
        time.sleep(0.1)
        passes(limits, "awake")
    assert limits.counters() <= 3  # those of who is awake


def test_a_crowd_of_threads_gets_exactly_the_share():
    limits = RateLimits(50, window_s=LONG_S)
    got: list[int] = []
    crowd = [threading.Thread(target=lambda: got.append(taken(limits, "acme", 40))) for _ in range(8)]
    for one in crowd:
        one.start()
    for one in crowd:
        one.join()
    assert sum(got) == 50
