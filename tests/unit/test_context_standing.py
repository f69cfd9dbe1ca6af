"""A context whose reader joins or leaves a group while it is made: it is all that they may see, as who they are then."""

import itertools

import pytest

from readings import PUBLIC, Library, who
from upwell.records import Acl, Membership

STAFF = Acl(levels=(frozenset({"group:staff"}),))
GUESTS = Acl(levels=(frozenset({"everyone"}),), deny=frozenset({"group:staff"}))
BUDGET = 2000


class Restless:
    """A registry before whose snapshot number `at` (None: each) somebody's groups change."""

    def __init__(self, registry, at, change):
        self._registry, self._at, self._change = registry, at, change
        self._taken = 0

    def snapshot(self, *given, **named):
        self._taken += 1
        if self._at in (None, self._taken):
            self._change()
        return self._registry.snapshot(*given, **named)

    def __getattr__(self, name):
        return getattr(self._registry, name)


@pytest.fixture
def lake(tmp_path):
    made = Library(tmp_path)
    made.publish("plain.md", "# Plain\n\nlarch for all\n", acl=PUBLIC)
    made.publish("staff.md", "# Staff\n\nlarch for staff\n", acl=STAFF)
    made.publish("guests.md", "# Guests\n\nlarch for guests\n", acl=GUESTS)
    yield made
    made.close()


def context(lake, at, first, *then):
    """Ana's context when her groups change from `first` to each of `then` in turn."""
    directory, versions = lake.registry.directory, itertools.count(1)
    groups = itertools.chain([first], itertools.cycle(then))

    def change():
        told = Membership(
            tenant="default", principal="user:ana", version=next(versions), member_of=frozenset(next(groups))
        )
        assert directory.put(told)

    change()
    lake.registry = Restless(lake.registry, at, change)
    answer = lake.reading_over(lake.store).context("larch", reader=who("user:ana"), budget=BUDGET)
    return {passage.doc_id for passage in answer.passages}, answer.whole


STAFF_SEES, GUESTS_SEE = {"plain.md", "staff.md"}, {"plain.md", "guests.md"}


@pytest.mark.parametrize("at", range(1, 7))
@pytest.mark.parametrize(("first", "then"), [((), ("group:staff",)), (("group:staff",), ())])
def test_who_joins_or_leaves_meanwhile_is_shown_all_that_they_may_see_at_the_end(lake, at, first, then):
    seen, whole = context(lake, at, first, then)
    is_staff = "group:staff" in lake.registry.standing(who("user:ana").asker).principals
    assert (seen, whole) == (STAFF_SEES if is_staff else GUESTS_SEE, True)


def test_memberships_that_never_rest_do_not_hold_a_context(lake):
    seen, _ = context(lake, None, (), ("group:staff",), ())
    assert seen <= STAFF_SEES or seen <= GUESTS_SEE
