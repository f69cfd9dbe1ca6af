"""The breaker: open when too many of the last messages were dead, never on a handful, closed again by good ones."""

from hypothesis import given
from hypothesis import strategies as st

from upwell.runtime.stream.breaker import Breaker


def test_a_handful_of_dead_letters_opens_nothing():
    """Three of three say nothing about a worker."""
    breaker = Breaker(0.5, 200)
    for _ in range(3):
        breaker.note(dead=True)
    assert not breaker.open


def test_a_mass_of_dead_letters_opens_it():
    """All dead: open as soon as the minimum is known."""
    breaker = Breaker(0.5, 200, minimum=20)
    for n in range(20):
        assert not breaker.open, n
        breaker.note(dead=True)
    assert breaker.open
    assert breaker.counts == (20, 20)


def test_exactly_the_share_is_still_allowed():
    """The limit must be passed, not met."""
    breaker = Breaker(0.5, 10, minimum=10)
    for n in range(10):
        breaker.note(dead=n % 2 == 0)
    assert not breaker.open
    breaker.note(dead=False)  # drops a dead one
    breaker.note(dead=True)
    breaker.note(dead=True)
    assert breaker.counts == (5, 10)


@given(st.lists(st.booleans(), max_size=60), st.integers(1, 20), st.floats(0.01, 1.0))
def test_it_counts_the_last_messages(ends, messages, share):
    """Against a list: the count is of the last `messages` ends, whatever came before."""
    breaker = Breaker(share, messages, minimum=1)
    for dead in ends:
        breaker.note(dead=dead)
    last = ends[-messages:]
    assert breaker.counts == (sum(last), len(last))
    assert breaker.open == (len(last) > 0 and sum(last) > share * len(last))
